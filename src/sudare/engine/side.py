"""One side of a pair: a table whose columns are read once, when somebody asks, as Arrow or as numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.engine.numbers import is_number, numbers
from sudare.engine.sums import exact_sum
from sudare.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Held:
    """Some rows of a table, in this process; what is said of the table is said of them."""

    table: pa.Table
    roles: Roles
    set_columns: frozenset[str] = frozenset()
    published: Mapping[str, Any] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.table.column_names)

    @property
    def schema(self) -> pa.Schema:
        return self.table.schema

    @property
    def rows(self) -> int:
        return int(self.table.num_rows)

    def to_pyarrow(self, columns: Sequence[str] | None = None) -> pa.Table:
        return self.table.select(list(self.columns if columns is None else columns))

    def require(self, columns: Sequence[str]) -> tuple[str, ...]:
        for column in columns:
            if column not in self.columns:
                raise UsageError(
                    f"column '{column}' was not sent along; name it among the columns that are read"
                )
        return tuple(columns)


@dataclass(frozen=True, eq=False)
class Side:
    """A table as one side of a pair. Expensive parts are computed once.

    `shown` are the rows that are shown, in this order; all of them without. `middles` are the means of the whole table
    where this is a part of it.
    """

    source: Dataset | Held | Side
    shown: Ints | None = None
    middles: Mapping[str, float] = field(default_factory=dict)
    _memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.source.columns

    @property
    def schema(self) -> pa.Schema:
        return self.source.schema

    @property
    def rows(self) -> int:
        return self.source.rows if self.shown is None else len(self.shown)

    @property
    def roles(self) -> Roles:
        return self.source.roles

    @property
    def set_columns(self) -> frozenset[str]:
        """The columns whose cells are sets of values, which compare with no single value."""
        return self.source.set_columns

    @property
    def published(self) -> Mapping[str, Any]:
        """What a release says of itself."""
        return self.source.published

    @property
    def dataset(self) -> Dataset:
        """The whole table, for whoever hands it on."""
        assert isinstance(self.source, Dataset)
        return self.source

    def require(self, columns: Sequence[str]) -> tuple[str, ...]:
        return self.source.require(columns)

    def to_pyarrow(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The columns, rows in the order shown; each column is read once."""
        import pyarrow as pa

        chosen = self.require(self.columns if columns is None else columns)
        known: dict[str, pa.ChunkedArray] = self.once("columns", dict)
        missing = [name for name in dict.fromkeys(chosen) if name not in known]
        if missing:
            read = self.source.to_pyarrow(missing)
            read = read if self.shown is None else read.take(self.shown)
            known |= {name: read[name] for name in missing}
        return pa.table({name: known[name] for name in chosen})

    def numbers(self, columns: Sequence[str]) -> Floats:
        """The columns as numbers, one row per record; NaN where a cell is missing or says nothing."""
        return self.once(("numbers", tuple(columns)), lambda: self._numbers(columns))

    def filled(self, columns: Sequence[str], like: Side) -> Floats:
        """The same; a missing cell is at the mean of the other side."""
        return self.once(("filled", tuple(columns)), lambda: self._filled(columns, like))

    def middle(self, name: str) -> float:
        """The mean of a column, 0 where it has no number."""
        if name in self.middles:
            return self.middles[name]
        values = self.numbers([name])[:, 0]
        known = values[~np.isnan(values)]
        return exact_sum(known) / len(known) if len(known) else 0.0

    def number_columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Those of the columns that hold numbers here."""
        return tuple(c for c in columns if is_number(self.schema.field(c).type))

    @property
    def positions(self) -> Ints:
        """Where every row shown stands in the table."""
        before = self.source.positions if isinstance(self.source, Side) else np.arange(self.source.rows)
        return before if self.shown is None else before[self.shown]

    def only(self, rows: Ints) -> Side:
        """Some of the rows, in this order."""
        return Side(self, rows, self.middles)

    def once(self, key: Any, compute: Callable[[], T]) -> T:
        """What was computed before, or now."""
        if key not in self._memo:
            self._memo[key] = compute()
        found: T = self._memo[key]
        return found

    def _numbers(self, columns: Sequence[str]) -> Floats:
        table = self.to_pyarrow(columns)
        return _side_by_side([numbers(table[name], name) for name in columns])

    def _filled(self, columns: Sequence[str], like: Side) -> Floats:
        values = self.numbers(columns)
        gaps = np.isnan(values.sum(axis=0))  # a sum with a gap is none
        if not gaps.any():
            return values
        values = values.copy()
        for column, name, gap in zip(values.T, columns, gaps):
            if gap:
                column[np.isnan(column)] = like.middle(name)
        return values


def _side_by_side(columns: Sequence[Floats], rows: int = 8192) -> Floats:
    """Columns as one row-major matrix, filled in parts that stay in the processor's cache."""
    matrix = np.empty((len(columns[0]), len(columns)))
    for start in range(0, len(matrix), rows):
        for index, column in enumerate(columns):
            matrix[start : start + rows, index] = column[start : start + rows]
    return matrix
