"""DuckDB: the embedded engine, larger than memory."""
