"""An original and its release side by side: as blocks of equal values, as points, as numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.engine.sums import exact_sum
from sudare.errors import UsageError

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


def published_and_truth(
    original: Dataset, release: Any, truth: Iterable[int | None] | None, what: str
) -> tuple[Dataset, Ints | None]:
    """The published table of a Release or of a Dataset, and the original row of each of its rows if it is
    known.
    """
    published = release if isinstance(release, Dataset) else getattr(release, "data", None)
    if not isinstance(original, Dataset) or not isinstance(published, Dataset):
        raise UsageError(f"{what}: give a Dataset and a Release, or two Datasets and truth=")
    if published is release and not published.published:  # nobody told us what was done to it
        _same_columns(original, published)
    given = truth if truth is not None else (release.rows if published is not release else None)
    return published, None if given is None else checked_truth(given, published.rows, original.rows)


def _same_columns(original: Dataset, release: Dataset) -> None:
    lacks = [c for c in original.columns if c not in release.columns and c not in original.roles.identifier]
    extra = [c for c in release.columns if c not in original.columns]
    if lacks or extra:
        words = ([f"lacks {', '.join(lacks)}"] if lacks else []) + (
            [f"adds {', '.join(extra)}"] if extra else []
        )
        raise UsageError(f"original and release have different columns: the release {' and '.join(words)}")


def checked_truth(truth: Iterable[int | None], releases: int, originals: int) -> Ints:
    """The original row of every published one, -1 for a dummy; None and NaN are dummies, 3.0 is 3."""
    rows = truth if isinstance(truth, np.ndarray) and truth.dtype.kind == "i" else _row_numbers(truth)
    if len(rows) != releases:
        raise UsageError(
            f"truth has {len(rows):,} entries, the release {releases:,} rows; give one entry per row"
        )
    if ((rows < -1) | (rows >= originals)).any():
        raise UsageError(
            f"truth names rows that the original does not have; it has {originals:,} (0 is the first)"
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
