"""The truth of a release (the linkage file): which original row every published row is about. Never published."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.files.writers import replacing
from sudare.errors import DataError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.data.dataset import Dataset

Ints = NDArray[np.int64]
DUMMY = -1  # of a published row that is about nobody
ROW = "sudare original row"  # the truth as a column beside the published ones, inside this process or its cluster
TRUTH_COLUMN = "original_row"  # in its file


def rows_of(linked: Dataset) -> Ints:
    """The original rows of a published table that has them beside it."""
    column = linked.to_pyarrow([ROW]).column(0)
    return np.asarray(column.to_numpy(), np.int64)


def write_truth(rows: Ints | Iterable[Ints], path: str | os.PathLike[str]) -> None:
    """The truth as a file that only its owner may read: one row number per published row, empty for a dummy.

    The rows come in one array or in several, one after another.
    """
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    schema = pa.schema([(TRUTH_COLUMN, pa.int64())])
    writer = pyarrow.csv.CSVWriter if str(path).endswith(".csv") else pyarrow.parquet.ParquetWriter
    with replacing(path, mode=0o600) as part, writer(part, schema) as file:
        for some in (rows,) if isinstance(rows, np.ndarray) else rows:
            file.write_table(pa.table([pa.array(some, mask=some < 0)], schema=schema))


def read_truth(path: str | os.PathLike[str]) -> list[int | None]:
    """The truth from its file, or from the folder that Spark wrote."""
    import pyarrow.parquet

    if not (Path(path).is_file() or Path(path).is_dir()):
        raise DataError(f"{path}: no such file; check the path")
    try:
        read = _read_lines if str(path).endswith(".csv") else pyarrow.parquet.read_table
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
