"""An original and its release side by side: as blocks of equal values, as points, as sums.

Everybody who compares the two asks a `Pair`, and the pair answers where the rows are: in this process here, on the
workers in `engine/spark/pair.py`. `pair_of` chooses once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeVar

import numpy as np

from sudare.data.dataset import Dataset
from sudare.data.published import Published
from sudare.data.roles import Roles
from sudare.engine import moments
from sudare.engine.answers import Blocks, Change, Crossed, Users
from sudare.engine.folder import folder_of
from sudare.engine.sample import drawn_rows
from sudare.engine.side import Floats, Ints, Side
from sudare.engine.sums import exact_sum
from sudare.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa


class Visited(NamedTuple):
    """What a visitor of some rows of both tables found: sums, and the release rows it could do nothing with."""

    sums: tuple[float, ...]
    lost: Ints


class Drawn(NamedTuple):
    """Release rows here beside all originals, whom they are about, and how many rows they were drawn from."""

    pair: Pair
    truth: Ints
    drawn_from: int


class Met(NamedTuple):
    """The sums of every visit, and the rows that are left."""

    sums: list[tuple[float, ...]]
    lost: Drawn | None


# a visitor is given some rows of both tables and, per release row, the original row here that it is about: DUMMY if it
# is about nobody, ELSEWHERE if that row is not among these
Visitor = Callable[["Pair", Ints], Visited]
ELSEWHERE = -2
UNKNOWN = -3  # of a release without a truth
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Pair:
    """Original and release. Expensive parts are computed once and shared by everyone who looks at the pair.

    `known` tells which release row is about which original row; an attacker's pair has none.
    """

    original: Side
    release: Side
    known: Published | None = None

    here: ClassVar[bool] = True  # whether the rows are, or may come, in this process

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

    @property
    def has_truth(self) -> bool:
        """Whether anybody knows which row is about which; asking costs nothing."""
        return self.known is not None and self.known.has_truth

    @property
    def truth(self) -> Ints | None:
        """The original row of every release row (-1 = a dummy), None if nobody knows. It comes to this process."""
        rows = None if self.known is None else self.known.rows_among(self.originals)
        return rows if rows is None or self.release.shown is None else rows[self.release.positions]

    def without_truth(self) -> Pair:
        """What an attacker has in hand."""
        return replace(self, known=None)

    def only(self, rows: Ints) -> Pair:
        """The same with some of the release's rows, in this order."""
        return Pair(self.original, self.release.only(rows), self.known)

    def fetched(self) -> Pair:
        """The same with the rows in this process."""
        return self

    def check_truth(self) -> None:
        """Refuse a truth that names rows which the original does not have."""
        if self.has_truth:
            self.known.rows_among(self.originals)  # type: ignore[union-attr]

    def tables(self, columns: Sequence[str]) -> tuple[pa.Table, pa.Table]:
        """The columns of the original and of the release."""
        return self.original.to_pyarrow(columns), self.release.to_pyarrow(columns)

    def numeric(self) -> tuple[str, ...]:
        """The columns to measure distances on: numeric sensitive ones, else numeric quasi-identifiers and
        others.
        """
        sensitive = self.numeric_columns(self.roles.sensitive)
        return sensitive or self.numeric_columns((*self.roles.quasi, *self.roles.other))

    def numeric_columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Those of the columns that hold numbers in the original and that the release still has."""
        kept = [c for c in columns if c in self.release.columns and c not in self.set_columns]
        return self.original.number_columns(kept)

    def quasi(self, without: Sequence[str] = ()) -> tuple[str, ...]:
        """The quasi-identifiers that the release still has."""
        return tuple(c for c in self.roles.quasi if c not in without and c in self.release.columns)

    @property
    def set_columns(self) -> frozenset[str]:
        """The columns that the release publishes as sets of values, which compare with no single value."""
        return self.release.set_columns

    def numbers(self, columns: Sequence[str]) -> tuple[Floats, Floats]:
        """The columns as numbers, one row per record; NaN where a cell is missing or says nothing."""
        return self.original.numbers(columns), self.release.numbers(columns)

    def points(self, columns: Sequence[str]) -> tuple[Floats, Floats]:
        """The columns as numbers, one row per record; a missing cell is at the original's mean."""
        return self.original.filled(columns, self.original), self.release.filled(columns, self.original)

    def blocks(self, quasi: Sequence[str]) -> Blocks:
        """Rows with equal values in all of `quasi`; without columns everything is one block."""
        return self.once(("blocks", tuple(quasi)), lambda: self._blocks(tuple(quasi)))

    def users(self) -> Users:
        """The users of the rows of both tables."""
        if self.roles.user is None:
            raise UsageError("this attack compares users; name the user column (user=)")
        return self.once("users", self._users)

    def means(self, columns: Sequence[str]) -> tuple[Floats, Floats]:
        """The mean of every column in both tables, over the numbers that are there."""
        first, second = map(moments.column_means, self.numbers(columns))
        return first, second

    def spreads(self, columns: Sequence[str]) -> Floats:
        """The standard deviation of every column of the original."""
        return moments.spread(self.original.numbers(columns))

    def correlations(self, columns: Sequence[str]) -> tuple[Floats, Floats]:
        """Pearson's correlation of every pair of columns in both tables; a missing cell is at the original's mean."""
        first, second = map(moments.correlations, self.points(columns))
        return first, second

    def sizes(self, quasi: Sequence[str]) -> Ints:
        """The sizes of the release's classes of equal values."""
        sizes = np.bincount(self.blocks(quasi).release)
        return sizes[sizes > 0]

    def crossed(self, quasi: Sequence[str], columns: Sequence[str] = ()) -> Crossed:
        """The cross-tabulation of `quasi` in both tables."""
        of_original, of_release, number = self.blocks(quasi)
        values = self.numbers(columns) if columns else (np.empty((0, 0)),) * 2
        means = [
            np.array([moments.cell_means(cells, column, number) for column in points.T])
            for cells, points in zip((of_original, of_release), values)
        ]
        first, second = (np.bincount(cells, minlength=number) for cells in (of_original, of_release))
        return Crossed(first, second, *means)

    def change(self, columns: Sequence[str], scale: Floats) -> Change | None:
        """How far every cell is from the original's, over the column's scale; None without the truth."""
        if (truth := self.truth) is None:
            return None
        original, release = self.numbers(columns)
        real = truth >= 0
        apart = np.abs(original[truth[real]] - release[real]) / scale
        known = apart[~np.isnan(apart)]
        return Change(int(real.sum()), exact_sum(known), known.size)

    def met(self, equal: Sequence[str], compared: Sequence[str], visit: Visitor, most: int) -> Met:
        """Bring rows with equal values in `equal` together and visit them; `compared` are the columns read beside.

        Of the rows that a visit could do nothing with at most `most` come back, drawn by a fixed rule.
        """
        truth = self.truth
        assert truth is not None
        sums, lost = visit(self.without_truth(), truth)
        rest = Drawn(self.without_truth().only(lost), truth[lost], len(lost)) if len(lost) else None
        return Met([sums], rest)

    def drawn(self, most: int) -> Drawn:
        """At most so many release rows, beside all originals; drawn by a fixed rule, each as likely as any other."""
        return self.once(("drawn", most), lambda: self._drawn(most))

    def _drawn(self, most: int) -> Drawn:
        truth = self.truth
        known = np.full(self.releases, UNKNOWN) if truth is None else truth
        if self.releases <= most:
            return Drawn(self.without_truth(), known, self.releases)
        rows = drawn_rows(self.releases, most)
        return Drawn(self.without_truth().only(rows), known[rows], self.releases)

    def once(self, key: object, compute: Callable[[], T]) -> T:
        """What was computed before, or now."""
        return self.release.once(("pair", key), compute)

    def _blocks(self, quasi: tuple[str, ...]) -> Blocks:
        if not quasi:
            return Blocks(np.zeros(self.originals, np.int64), np.zeros(self.releases, np.int64), 1)
        from sudare.engine.codes import joint_codes
        from sudare.engine.kernels.groups import group_ids

        matrices, _ = joint_codes(self.tables(quasi), quasi)
        (original, release), count = group_ids(matrices)
        return Blocks(original, release, count)

    def _users(self) -> Users:
        from sudare.engine.codes import codes

        column = [str(self.roles.user)]
        (first, names), (second, others) = (codes(table, column) for table in self.tables(column))
        of_original, of_release = first[:, 0].astype(np.int64), second[:, 0].astype(np.int64)
        return Users(of_original, of_release, len(names[0]), len(others[0]))


def pair_of(original: Dataset, published: Published) -> Pair:
    """The pair of an original and what was published of it, where their rows are."""
    sides = Side(original), Side(published.data)
    if folder_of(original, published.data) == "spark":
        from sudare.engine.spark.pair import SparkPair

        return SparkPair(*sides, published)
    return Pair(*sides, published)
