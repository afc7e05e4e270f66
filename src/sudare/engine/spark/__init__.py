"""Spark: a cluster's workers do the work; aggregates come back."""
