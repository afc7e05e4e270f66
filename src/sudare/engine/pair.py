"""An original and its release side by side: as blocks of equal values, as points, as numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.engine.sums import exact_sum

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
T = TypeVar("T")


class Blocks(NamedTuple):
    """The block of every original and every release row: rows with equal quasi-identifiers share one."""

    original: Ints
    release: Ints
    number: int


@dataclass(frozen=True, eq=False)
class Pair:
    """Original and release. Expensive parts are computed once and shared by everyone who looks at the
    pair.

    `order` is the order in which the release is shown: row i of every release array is row `order[i]` of
    the published file.
    """

    original: Dataset
    release: Dataset
    order: Ints | None = None
    _memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def roles(self) -> Roles:
        """The original's roles; where it has none, those that were published with the release."""
        return self.original.roles if self.original.roles.assigned else self.release.roles

    @property
    def originals(self) -> int:
        return self.original.rows

    @property
    def releases(self) -> int:
        return self.release.rows

    def tables(self, columns: Sequence[str]) -> tuple[pa.Table, pa.Table]:
        """The columns of the original and of the release, the release in the order shown; read once."""
        import pyarrow as pa

        self.original.require(columns)
        self.release.require(columns)
        known: dict[str, tuple[pa.ChunkedArray, pa.ChunkedArray]] = self._once("columns", dict)
        missing = [name for name in dict.fromkeys(columns) if name not in known]
        if missing:
            first, second = self.original.to_pyarrow(missing), self.release.to_pyarrow(missing)
            second = second if self.order is None else second.take(self.order)
            known |= {name: (first[name], second[name]) for name in missing}
        first, second = (pa.table({name: known[name][side] for name in columns}) for side in (0, 1))
        return first, second

    def numeric(self) -> tuple[str, ...]:
        """The columns to measure distances on: numeric sensitive ones, else numeric quasi-identifiers and
        others.
        """
        sensitive = self.numeric_columns(self.roles.sensitive)
        return sensitive or self.numeric_columns((*self.roles.quasi, *self.roles.other))

    def quasi(self, without: Sequence[str] = ()) -> tuple[str, ...]:
        """The quasi-identifiers that the release still has."""
        return tuple(c for c in self.roles.quasi if c not in without and c in self.release.columns)

    def points(self, columns: Sequence[str]) -> tuple[Floats, Floats]:
        """The columns as numbers, one row per record; a missing cell is at the original's mean."""
        return self._once(("points", tuple(columns)), lambda: self._points(tuple(columns)))

    def numbers(self, columns: Sequence[str]) -> tuple[Floats, Floats]:
        """The columns as numbers, one row per record; NaN where a cell is missing or says nothing."""
        return self._once(("numbers", tuple(columns)), lambda: self._numbers(tuple(columns)))

    def blocks(self, quasi: Sequence[str]) -> Blocks:
        """Rows with equal values in all of `quasi`; without columns everything is one block."""
        return self._once(("blocks", tuple(quasi)), lambda: self._blocks(tuple(quasi)))

    def _once(self, key: Any, compute: Callable[[], T]) -> T:
        if key not in self._memo:
            self._memo[key] = compute()
        found: T = self._memo[key]
        return found

    def numeric_columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Those of the columns that hold numbers in the original and that the release still has."""
        from sudare.engine.numbers import is_number

        schema = self.original.schema
        kept = [c for c in columns if c in self.release.columns and c not in self.set_columns]
        return tuple(c for c in kept if is_number(schema.field(c).type))

    @property
    def set_columns(self) -> frozenset[str]:
        """The columns that the release publishes as sets of values, which compare with no single value."""
        return self.release.set_columns

    def _numbers(self, columns: tuple[str, ...]) -> tuple[Floats, Floats]:
        from sudare.engine.numbers import numbers

        first, second = (
            _side_by_side([numbers(table[name], name) for name in columns]) for table in self.tables(columns)
        )
        return first, second

    def _points(self, columns: tuple[str, ...]) -> tuple[Floats, Floats]:
        original, release = self.numbers(columns)
        gaps = np.isnan(original.sum(axis=0)) | np.isnan(release.sum(axis=0))  # a sum with a gap is none
        if gaps.any():
            original, release = original.copy(), release.copy()
        for place in np.flatnonzero(gaps):
            known = original[~np.isnan(original[:, place]), place]
            middle = exact_sum(known) / len(known) if len(known) else 0.0
            original[:, place] = np.where(np.isnan(original[:, place]), middle, original[:, place])
            release[:, place] = np.where(np.isnan(release[:, place]), middle, release[:, place])
        return original, release

    def _blocks(self, quasi: tuple[str, ...]) -> Blocks:
        if not quasi:
            return Blocks(np.zeros(self.originals, np.int64), np.zeros(self.releases, np.int64), 1)
        from sudare.engine.codes import joint_codes
        from sudare.engine.kernels.groups import group_ids

        matrices, _ = joint_codes(self.tables(quasi), quasi)
        (original, release), count = group_ids(matrices)
        return Blocks(original, release, count)


def _side_by_side(columns: Sequence[Floats], rows: int = 8192) -> Floats:
    """Columns as one row-major matrix, filled in parts that stay in the processor's cache."""
    matrix = np.empty((len(columns[0]), len(columns)))
    for start in range(0, len(matrix), rows):
        for place, column in enumerate(columns):
            matrix[start : start + rows, place] = column[start : start + rows]
    return matrix
