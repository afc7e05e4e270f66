"""Limits that a table or a release has to keep, and the check of them."""
