"""Parquet files: one view over all of them, whose columns must be the same in every file."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb

from sudare.data.connection import connect, create_view, file_literal
from sudare.data.dataset import Dataset
from sudare.data.roles import Roles, check_names
from sudare.errors import DataError, warn

SHAPE = "name, num_children, type, converted_type, logical_type, scale, precision"
DIGITS = 38  # of DuckDB's longest decimals
Shape = dict[str, tuple[Any, ...]]


def open_parquet(paths: Sequence[Path], name: str, *, partitions: bool = False) -> Dataset:
    """Parquet files with the same columns, in whatever order each file has them, as one dataset.

    A column is what the files hold: what the folders above them are called (`age=30`) is data only if that is asked
    for with `partitions`.
    """
    files = ", ".join(map(file_literal, paths))
    try:
        shape = _check_shapes(paths, files)
        folders = check_folders(paths, shape, partitions)
        if any(part[-1] is not None and part[-1] > DIGITS for parts in shape.values() for part in parts):
            return _in_memory(paths, name, bool(folders))
        hive = f"hive_partitioning={bool(folders)}, hive_types_autocast=false"
        view = create_view(f"read_parquet([{files}], {hive})")
        rows = connect().sql(f"SELECT count(*) FROM {view}").fetchall()[0][0]
    except duckdb.Error:
        which = str(paths[0]) if len(paths) == 1 else f"{paths[0]} or one of the {len(paths) - 1} others"
        raise DataError(f"{which}: not a readable Parquet file; write it again") from None
    if not rows:
        raise DataError(f"{paths[0]}: the table has no row; give one with at least one row")
    return Dataset(roles=Roles(), name=name, view=view, parquet=tuple(map(str, paths)))


def check_folders(paths: Sequence[Path], columns: Collection[str], partitions: bool) -> list[str]:
    """The columns that folders above the files are named by, if they are asked for; else none, and it is said."""
    named = {part.partition("=")[0] for path in paths for part in path.parts[:-1] if "=" in part}
    both = sorted(named.intersection(columns))
    if partitions and both:
        raise DataError(
            f"{paths[0]}: column '{both[0]}' is in the files and in the names of their folders; leave out partitions"
        )
    if not partitions and (lost := sorted(named.difference(columns))):
        warn(
            "S-PARTITION",
            f"{paths[0].name}: lies in folders called {', '.join(f'{column}=...' for column in lost)}, which are not "
            "read as columns; ask for them with --partitions (partitions=True in Python)",
        )
    return sorted(named) if partitions else []


def _in_memory(paths: Sequence[Path], name: str, partitions: bool) -> Dataset:
    """Decimals that DuckDB would round, read by Arrow: they stay exact as text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from sudare.data.readers.arrow import usable

    if partitions:
        raise DataError(
            f"{paths[0]}: decimals of more than {DIGITS} digits in folders that are columns; write them as text"
        )
    try:
        tables = [pq.ParquetFile(path).read() for path in paths]
        whole = pa.concat_tables([table.select(tables[0].column_names) for table in tables])
    except (pa.ArrowException, OSError):
        raise DataError(f"{paths[0]}: not a readable Parquet file; write it again") from None
    return Dataset.from_arrow(usable(whole, name), name=name)


def _check_shapes(paths: Sequence[Path], files: str) -> Shape:
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
    return first


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
