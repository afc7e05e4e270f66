"""Any other database, through ibis: only aggregates leave it."""
