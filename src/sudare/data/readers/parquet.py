"""Parquet files: one view over all of them, whose columns must be the same in every file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb

from sudare.data.connection import connect, create_view, file_literal
from sudare.data.roles import check_names
from sudare.errors import DataError

SHAPE = "name, num_children, type, converted_type, logical_type, scale"
Shape = dict[str, tuple[Any, ...]]


def open_parquet(paths: Sequence[Path]) -> str:
    """A view over Parquet files with the same columns, in whatever order each file has them."""
    files = ", ".join(map(file_literal, paths))
    source = f"read_parquet([{files}], hive_types_autocast=false)"
    try:
        _check_shapes(paths, files)
        view = create_view(source)
        rows = connect().sql(f"SELECT count(*) FROM {view}").fetchall()[0][0]
    except duckdb.Error:
        which = str(paths[0]) if len(paths) == 1 else f"{paths[0]} or one of the {len(paths) - 1} others"
        raise DataError(f"{which}: not a readable Parquet file; write it again") from None
    if not rows:
        raise DataError(f"{paths[0]}: the table has no row; give one with at least one row")
    return view


def _check_shapes(paths: Sequence[Path], files: str) -> None:
    """DuckDB takes names and types from the first file and casts what the others hold: 1.5 would become 2."""
    rows = connect().sql(f"SELECT file_name, {SHAPE} FROM parquet_schema([{files}])").fetchall()
    first: Shape = {}
    for file, entries in groupby(rows, key=lambda row: row[0]):
        shape = _shape(file, [row[1:] for row in entries])
        first = first or shape
        if shape.keys() != first.keys():
            raise DataError(f"{file}: its columns differ from those of {paths[0]}; open them one by one")
        for name, kind in shape.items():
            if kind != first[name]:
                raise DataError(
                    f"{file}: column '{name}' has another type than in {paths[0]}; write both with the same type"
                )


def _shape(file: str, entries: list[tuple[Any, ...]]) -> Shape:
    """Per column its type, with those of its parts; the first entry is the table itself."""
    columns = []
    place = 1
    while place < len(entries):
        end = _end(entries, place)
        columns.append((entries[place][0], tuple(part[1:] for part in entries[place:end])))
        place = end
    check_names(file, [name for name, _ in columns])
    return dict(columns)


def _end(entries: list[tuple[Any, ...]], place: int) -> int:
    """Where the entry after a column and its parts begins."""
    end = place + 1
    for _ in range(entries[place][1] or 0):
        end = _end(entries, end)
    return end
