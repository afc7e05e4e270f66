"""Any database that ibis speaks to, counted by expressions: aggregates come back."""
