"""The slices a recipient asks for: columns of a release, numeric ones optionally in bins (`age:10`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.values.recoded import SUPPRESSED, interval
from sudare.errors import DataError, UsageError, nearest

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Slice:
    """One wish of the recipient: a column, and the width of its bins if it is to be binned."""

    column: str
    width: float | None = None

    @classmethod
    def parse(cls, text: str, columns: Sequence[str]) -> Slice:
        """
        >>> Slice.parse("age:10", ["sex", "age"])
        Slice(column='age', width=10.0)
        """
        name, colon, width = text.rpartition(":")
        if text in columns:
            return cls(text)
        if not colon or name not in columns:
            raise UsageError(f"unknown column '{name or text}'; {nearest(name or text, columns)}")
        try:
            found = float(width)
        except ValueError:
            found = 0.0
        if not (0 < found < float("inf")):
            raise UsageError(f"'{text}': the width of a bin is a number above 0, as in {name}:10")
        return cls(name, found)


def slices_of(by: str | Sequence[str], columns: Sequence[str], estimated: str) -> list[Slice]:
    """The slices that were asked for of a table, each column once and never the estimated one."""
    slices = [Slice.parse(text, columns) for text in ([by] if isinstance(by, str) else by)]
    asked = [s.column for s in slices]
    if estimated in asked:
        raise UsageError(f"'{estimated}' is the column to estimate; group by other columns")
    if len(set(asked)) < len(asked):
        raise UsageError("a column appears twice in by; name each once")
    return slices


def shown_names(slices: Sequence[Slice], taken: Sequence[str]) -> tuple[str, ...]:
    """The names of the group columns in a result that has columns of its own.

    >>> shown_names([Slice("sex"), Slice("count")], ["value", "count"])
    ('sex', 'by count')
    """
    return tuple(f"by {s.column}" if s.column in taken else s.column for s in slices)


@dataclass(frozen=True)
class Groups:
    """The group of every row (-1: none of them), the label of every group, and its size.

    `cells[i]` says how many distinct published values of each column fall into group i.
    """

    of_row: Ints
    labels: tuple[tuple[Any, ...], ...]
    records: Ints
    cells: Ints

    def weighing(self, records: Any) -> Groups:
        """The same groups of rows that stand for so many records each."""
        weights = np.asarray(records, np.float64)
        return replace(self, records=np.bincount(self.of_row, weights, len(self.labels)).astype(np.int64))


def group(table: pa.Table, slices: Sequence[Slice], without: NDArray[np.bool_] | None = None) -> Groups:
    """The groups that occur in a table, sorted by label; rows marked in `without` belong to none."""
    per_column = [_column(table[s.column], s) for s in slices]
    if len(per_column) == 1 and without is None:
        return _single(*per_column[0])
    joint, width = np.zeros(table.num_rows, np.int64), 1
    for codes, labels, _ in per_column:
        joint, width = joint * len(labels) + codes, width * len(labels)
    chosen = joint if without is None else joint[~without]
    present, counts = _present(chosen, width)
    of_row = _positions(joint, present, width)
    if without is not None:
        of_row[without] = -1
    places = [len(labels) for _, labels, _ in per_column]
    digits = np.unravel_index(present, places) if places else ()
    names = tuple(zip(*([labels[d] for d in digit] for (_, labels, _), digit in zip(per_column, digits))))
    cells = [held[digit] for (_, _, held), digit in zip(per_column, digits)]
    return Groups(
        of_row,
        names if places else ((),) * len(present),
        counts,
        np.stack(cells, axis=1) if cells else np.ones((len(present), 0), np.int64),
    )


def _single(codes: Ints, labels: list[Any], cells: Ints) -> Groups:
    """Every label of a single column occurs, so its codes are the groups."""
    records = np.bincount(codes, minlength=len(labels)).astype(np.int64)
    return Groups(codes, tuple((label,) for label in labels), records, cells[:, None])


def _column(column: pa.ChunkedArray, wanted: Slice) -> tuple[Ints, list[Any], Ints]:
    """Codes, labels in order, and how many distinct values each label stands for."""
    import pyarrow as pa

    from sudare.engine.codes import codes

    found = _small_numbers(column)
    if found is None:
        matrix, (values,) = codes(pa.table({"x": column}), ["x"])
        of_row = matrix[:, 0].astype(np.int64)
    else:
        of_row, values = found
    if wanted.width is None:
        return of_row, values.to_pylist(), np.ones(len(values), np.int64)
    lows, labels = _bins(values, wanted)
    order = sorted(labels)
    code_of = {low: code for code, low in enumerate(order)}
    bin_of = np.array([len(order) if low is None else code_of[low] for low in lows], np.int64)
    names = [labels[low] for low in order] + ([None] if None in lows else [])
    return bin_of[of_row], names, np.bincount(bin_of, minlength=len(names))


def _small_numbers(column: pa.ChunkedArray) -> tuple[Ints, pa.Array] | None:
    """Codes and values of whole numbers within a narrow range, which need no hashing; None for others."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_signed_integer(column.type) or column.null_count or not len(column):
        return None
    low, high = pc.min_max(column).as_py().values()
    if high - low > 100_000:
        return None
    shifted = np.concatenate(
        [np.asarray(chunk).astype(np.int64, copy=False) - low for chunk in column.chunks]
    )
    present = np.flatnonzero(np.bincount(shifted))
    if len(present) == high - low + 1:
        return shifted, pa.array(present + low, column.type)
    place = np.zeros(high - low + 1, np.int64)
    place[present] = np.arange(len(present))
    return place[shifted], pa.array(present + low, column.type)


def _bins(values: pa.Array, wanted: Slice) -> tuple[list[float | None], dict[float, str]]:
    """The lower end of every value's bin (None for a missing or starred value) and the bins' labels."""
    width = wanted.width or 1.0
    lows: list[float | None] = []
    labels = {}
    numbers = [_number(value, wanted.column) for value in values.to_pylist()]
    whole = width.is_integer() and all(n is None or n.is_integer() for n in numbers)
    for number in numbers:
        low = None if number is None else _bin(number, width) * width
        lows.append(low)
        if low is not None:
            labels[low] = interval(int(low), int(low + width - 1)) if whole else f"[{low:g}, {low + width:g})"
    return lows, labels


def _bin(number: float, width: float) -> float:
    """The number of the bin; 0.3 begins the fourth bin of width 0.1, though 0.3 / 0.1 is a little below 3."""
    place = number / width
    nearest_whole = round(place)
    return nearest_whole if abs(place - nearest_whole) < 1e-9 * max(1.0, abs(place)) else np.floor(place)


def _number(value: Any, column: str) -> float | None:
    if value is None or value == SUPPRESSED or value != value:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise UsageError(f"'{column}' is not a column of numbers; ask for it without a bin width") from None
    if not np.isfinite(number):
        raise DataError(f"'{column}' has an infinite value; bins need finite numbers")
    return number


def _present(joint: Ints, width: int) -> tuple[Ints, Ints]:
    """The joint codes that occur, ascending, and how often."""
    if width <= 4 * len(joint) + 100_000:
        counts = np.bincount(joint, minlength=width)
        present = np.flatnonzero(counts)
        return present, counts[present].astype(np.int64)
    present, counts = np.unique(joint, return_counts=True)
    return present, counts.astype(np.int64)


def _positions(joint: Ints, present: Ints, width: int) -> Ints:
    """The place of every row's joint code among the present ones; -1 if it is not there."""
    if width <= 4 * len(joint) + 100_000:
        place = np.full(max(width, 1), -1, np.int64)
        place[present] = np.arange(len(present))
        return place[joint]
    place = np.searchsorted(present, joint)
    place[place == len(present)] = 0
    return np.where(present[place] == joint, place, -1)
