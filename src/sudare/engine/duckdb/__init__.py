"""DuckDB: files and tables in memory, counted by its queries and by kernels over its batches; larger than memory."""
