"""The truth of a release (the linkage file): which original row every published row is about. Never published."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from sudare.data.files.unit import PRIVATE, replacing
from sudare.errors import DataError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.data.dataset import Dataset

Ints = NDArray[np.int64]
DUMMY = -1  # of a published row that is about nobody
ROW = "sudare original row"  # the truth as a column beside the published ones, inside this process or its cluster
TRUTH_COLUMN = "original_row"  # in its file
RELEASE = (
    "release"  # the digest of the release: a note of a Parquet file, the first cell of a column of a CSV file
)


def rows_of(linked: Dataset) -> Ints:
    """The original rows of a published table that has them beside it."""
    column = linked.to_pyarrow([ROW]).column(0)
    return np.asarray(column.to_numpy(), np.int64)


def write_truth(rows: Ints, path: str | os.PathLike[str], release: str | None = None) -> None:
    """The truth as a file that only its owner may read: one row number per published row, empty for a dummy.

    `release` is the digest of the published table that it belongs to.
    """
    with replacing(path, mode=PRIVATE) as file:
        put_truth([rows], file, release, as_text=_is_text(path))


def put_truth(rows: Iterable[Ints], file: BinaryIO, release: str | None, *, as_text: bool) -> None:
    """The truth into an open file; the rows come in arrays, one after another."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    schema = pa.schema([(TRUTH_COLUMN, pa.int64())])
    if as_text and release is not None:
        schema = schema.append(pa.field(RELEASE, pa.string()))
    elif release is not None:
        schema = schema.with_metadata({RELEASE: release})
    with (pyarrow.csv.CSVWriter if as_text else pyarrow.parquet.ParquetWriter)(file, schema) as writer:
        for number, some in enumerate(rows):
            columns = [pa.array(some, mask=some < 0)]
            if RELEASE in schema.names:
                first = [release] if number == 0 and len(some) else []
                columns.append(pa.array(first + [None] * (len(some) - len(first)), pa.string()))
            writer.write_table(pa.table(columns, schema=schema))


def read_release_digest(path: str | os.PathLike[str]) -> str | None:
    """The digest of the release that a truth file belongs to; None if it does not say."""
    import pyarrow.parquet

    if not Path(path).is_file():
        return None
    if _is_text(path):
        with open(path, "rb") as file:
            head = [file.readline(200).decode("ascii", "replace").strip().split(",") for _ in range(2)]
        named = [name.strip('"') for name in head[0]] == [TRUTH_COLUMN, RELEASE] and len(head[1]) == 2
        return head[1][1].strip('"') or None if named else None
    try:
        notes = pyarrow.parquet.read_schema(path).metadata or {}
    except (OSError, pyarrow.ArrowInvalid):
        return None  # whoever reads the rows says what is wrong
    return notes[RELEASE.encode()].decode("ascii", "replace") if RELEASE.encode() in notes else None


def _is_text(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path).endswith(".csv")


def read_truth(path: str | os.PathLike[str]) -> list[int | None]:
    """The truth from its file, or from the folder that Spark wrote."""
    import pyarrow.parquet

    if not (Path(path).is_file() or Path(path).is_dir()):
        raise DataError(f"{path}: no such file; check the path")
    try:
        read = _read_lines if _is_text(path) else pyarrow.parquet.read_table
        column = read(path).column(TRUTH_COLUMN)
    except (OSError, KeyError, pyarrow.ArrowInvalid):
        raise DataError(f"{path}: not a truth file; it is written by `sudare anonymize --truth`") from None
    return list(column.to_pylist())


def _read_lines(path: str | os.PathLike[str]) -> pa.Table:
    """A table of one column as text: an empty line is a dummy's."""
    import pyarrow.csv

    return pyarrow.csv.read_csv(path, parse_options=pyarrow.csv.ParseOptions(ignore_empty_lines=False))


def checked_truth(truth: Iterable[int | None], releases: int) -> Ints:
    """The original row of every published one, -1 for a dummy; None and NaN are dummies, 3.0 is 3."""
    rows = truth if isinstance(truth, np.ndarray) and truth.dtype.kind == "i" else _row_numbers(truth)
    if len(rows) != releases:
        raise UsageError(
            f"truth has {len(rows):,} entries, the release {releases:,} rows; give one entry per row"
        )
    return rows.astype(np.int64)


def _row_numbers(truth: Iterable[Any]) -> Ints:
    """Row numbers as lists, Arrow, pandas or polars hand them over: a gap or NaN is a dummy, 3.0 is 3."""
    import pyarrow as pa

    listed = truth if hasattr(truth, "__len__") else list(truth)
    try:
        rows = (
            listed if isinstance(listed, (pa.Array, pa.ChunkedArray)) else pa.array(listed, from_pandas=True)
        )
        if not (
            pa.types.is_integer(rows.type) or pa.types.is_floating(rows.type) or pa.types.is_null(rows.type)
        ):
            raise TypeError
        return np.asarray(rows.cast(pa.int64()).fill_null(-1), np.int64)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(
            "truth: give row numbers of the original (0 is the first), None for a dummy"
        ) from None
