"""What an attacker has in hand: the original and the release, as blocks of equal quasi-identifiers and as points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
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
    count: int


class Users(NamedTuple):
    """The user number of every row, and how many users there are; numbers follow the sorted order of the names."""

    of_original: Ints
    of_release: Ints
    originals: int
    releases: int


@dataclass(frozen=True, eq=False)
class View:
    """Original and release as the attacker sees them; the truth is not here.

    `order` is the order in which the release is shown: row i of every release array is row `order[i]` of the published
    file. Expensive parts are computed once and shared by all attacks.
    """

    original: Dataset
    release: Dataset
    order: Ints | None = None
    _memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def roles(self) -> Roles:
        return self.original.roles

    @property
    def originals(self) -> int:
        return self.original.rows

    @property
    def releases(self) -> int:
        return self.release.rows

    @property
    def published(self) -> Ints:
        """The place of every shown release row in the published file."""
        return np.arange(self.releases, dtype=np.int64) if self.order is None else self.order

    def tables(self, columns: Sequence[str]) -> tuple[pa.Table, pa.Table]:
        """The columns of the original and of the release, the release in the order shown."""
        key = ("tables", tuple(columns))
        return self._once(key, lambda: (self.original.to_pyarrow(columns), self._shown(columns)))

    def numeric(self) -> tuple[str, ...]:
        """The columns to measure distances on: numeric sensitive ones, else numeric quasi-identifiers and others."""
        sensitive = self._numeric_of(self.roles.sensitive)
        return sensitive or self._numeric_of((*self.roles.quasi, *self.roles.other))

    def quasi(self, without: Sequence[str] = ()) -> tuple[str, ...]:
        """The quasi-identifiers that an attacker knows exactly."""
        return tuple(c for c in self.roles.quasi if c not in without and c in self.release.columns)

    def points(self, columns: Sequence[str]) -> tuple[Floats, Floats]:
        """The columns as numbers, one row per record."""
        return self._once(("points", tuple(columns)), lambda: self._points(tuple(columns)))

    def blocks(self, quasi: Sequence[str]) -> Blocks:
        """Rows with equal values in all of `quasi`; without columns everything is one block."""
        return self._once(("blocks", tuple(quasi)), lambda: self._blocks(tuple(quasi)))

    def users(self) -> Users:
        """The users of the rows of both tables."""
        if self.roles.user is None:
            raise UsageError("this attack compares users; name the user column (user=)")
        return self._once("users", self._users)

    def _once(self, key: Any, compute: Callable[[], T]) -> T:
        if key not in self._memo:
            self._memo[key] = compute()
        found: T = self._memo[key]
        return found

    def _shown(self, columns: Sequence[str]) -> pa.Table:
        table = self.release.to_pyarrow(columns)
        return table if self.order is None else table.take(self.order)

    def _numeric_of(self, columns: Sequence[str]) -> tuple[str, ...]:
        from sudare.engine.numbers import is_number

        schema = self.original.schema
        return tuple(c for c in columns if is_number(schema.field(c).type) and c in self.release.columns)

    def _points(self, columns: tuple[str, ...]) -> tuple[Floats, Floats]:
        from sudare.engine.numbers import numbers

        self.original.require(columns)
        self.release.require(columns)
        original = np.empty((self.originals, len(columns)))
        release = np.empty((self.releases, len(columns)))
        tables = self.tables(columns)
        for place, name in enumerate(columns):
            first = numbers(tables[0][name], name)
            middle = float(np.nanmean(first)) if np.isfinite(first).any() else 0.0
            second = numbers(tables[1][name], name)
            original[:, place] = np.where(np.isnan(first), middle, first)
            release[:, place] = np.where(np.isnan(second), middle, second)
        return original, release

    def _blocks(self, quasi: tuple[str, ...]) -> Blocks:
        if not quasi:
            return Blocks(np.zeros(self.originals, np.int64), np.zeros(self.releases, np.int64), 1)
        from sudare.engine.codes import joint_codes
        from sudare.engine.kernels.groups import group_ids

        self.original.require(quasi)
        self.release.require(quasi)
        matrices, _ = joint_codes(self.tables(quasi), quasi)
        (original, release), count = group_ids(matrices)
        return Blocks(original, release, count)

    def _users(self) -> Users:
        from sudare.engine.codes import codes

        column = [str(self.roles.user)]
        (first, names), (second, others) = (codes(table, column) for table in self.tables(column))
        return Users(
            first[:, 0].astype(np.int64), second[:, 0].astype(np.int64), len(names[0]), len(others[0])
        )

