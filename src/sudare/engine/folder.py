"""Which folder of engine/ answers for a table: asked here and nowhere else."""

from __future__ import annotations

from typing import Literal

from sudare.data.dataset import Dataset

Folder = Literal["duckdb", "ibis", "spark"]


def folder_of(*tables: Dataset) -> Folder:
    """DuckDB for files and tables in memory, Spark where all tables are on it, ibis for any other database."""
    if all(table.engine == "pyspark" for table in tables):
        return "spark"
    return "duckdb" if all(table.view is not None for table in tables) else "ibis"
