"""What a caller knows of a table before it is read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Expected:
    """Columns that stay text whatever they hold, names of columns, codes that mean a cell is missing, and whether the
    folders of Parquet files are columns (`zip=10115/part.parquet`).
    """

    text: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    partitions: bool = False
