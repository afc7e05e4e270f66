"""Published cells as numbers: what an attacker reads from an interval or a rounded value is its middle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sudare.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


def numbers(column: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    """A column as float64; NaN where a cell is missing or says nothing (suppressed, a set of words).

    >>> import pyarrow as pa
    >>> numbers(pa.chunked_array([["[20-29]", "0-4", "7", "*"]]), "age").tolist()
    [24.5, 2.0, 7.0, nan]
    """
    import pyarrow as pa

    kind = column.type
    if is_number(kind):
        values = column.cast(pa.float64(), safe=False).to_numpy()  # above 2^53 the nearest double
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(values.sum()):  # a gap, or something that is no number
                _refuse_nan(column, name)
    elif pa.types.is_temporal(kind):
        values = np.asarray(_microseconds(column).cast(pa.float64(), safe=False).to_numpy())
    else:
        values = _from_texts(column)
    return np.asarray(values, np.float64)


def as_numbers(column: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    """A numeric column as float64, NaN where a cell is missing; NaN or infinite cells are an error."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = column.cast(pa.float64(), safe=False)  # above 2^53 the nearest double
    if not pc.all(pc.is_finite(values), min_count=0).as_py():
        raise DataError(
            f"column '{name}' holds NaN or infinite values; make them missing or remove them first"
        )
    return np.array(values.to_numpy(), dtype=np.float64)


def is_number(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds numbers (truth values do not count)."""
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def is_ordered(kind: pa.DataType) -> bool:
    """Whether values of an Arrow type lie on a line."""
    import pyarrow as pa

    return is_number(kind) or bool(pa.types.is_temporal(kind))


def _microseconds(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dates, times and durations as whole numbers, the same for every unit and zone."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        unit = pa.time64("us") if pa.types.is_time(kind) else pa.duration("us")
    else:
        unit = pa.timestamp("us")
    return column.cast(unit, safe=False).cast(pa.int64())


def _refuse_nan(column: pa.ChunkedArray, name: str) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(column.type) and not pc.all(pc.is_finite(column), min_count=0).as_py():
        raise DataError(
            f"column '{name}' holds NaN or infinite values; make them missing or remove them first"
        )


def _from_texts(column: pa.ChunkedArray) -> NDArray[np.float64]:
    import pyarrow as pa

    from sudare.engine.codes import codes

    matrix, (values,) = codes(pa.table({"column": column}), ["column"])
    middles = np.array([_middle(text) for text in values.to_pylist()])
    return middles[matrix[:, 0]] if len(middles) else np.empty(0)


def _middle(value: object) -> float:
    """The number a published value stands for: the value, the middle of an interval, the mean of a set of
    numbers.
    """
    from sudare.data.values.recoded import Interval, ValueSet, meaning_of

    meaning = meaning_of(None if value is None else str(value), numeric=True)
    if isinstance(meaning, Interval) and isinstance(meaning.low, (int, float)):
        return (float(meaning.low) + float(meaning.high)) / 2  # type: ignore[arg-type]
    members = meaning.members if isinstance(meaning, ValueSet) else [None if value is None else str(value)]
    try:
        return float(np.mean([float(m) for m in members if m is not None] or [np.nan]))
    except ValueError:
        return float("nan")
