"""Counts: what a measure may ask of a table, wherever it lives. Only counts come back, never rows unasked."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sudare.data.dataset import Dataset
from sudare.data.values.sets import is_sets
from sudare.engine.folder import Folder, folder_of
from sudare.engine.profile import Profile
from sudare.errors import DataError, UsageError
from sudare.progress import stage

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.engine.classes import Cells, Sizes
    from sudare.engine.coded import Coded, Cross

STRATEGIES = ("auto", "plain", "kernel")
LARGE = 2_000_000  # rows from which on a table is read no more often than a measure needs

Subset = tuple[str, ...]
Owners = tuple[
    int, int, int, int
]  # of a value: records, users, sum of squared records, records of the largest owner


def counts_of(ds: Dataset) -> Counts:
    """The counts of a table: by DuckDB for files and tables in memory, by Spark, by ibis for any database."""
    return _counting(folder_of(ds))(ds)


class SetCounts(NamedTuple):
    """Published sets per combination of some columns: how many there are, and how many of them contain which value.

    `groups` has the columns, `sudare_records` and `sudare_wrong` (how many are no sets of as many values as said);
    `members` has the columns, `sudare_member` and `sudare_records`.
    """

    groups: pa.Table
    members: pa.Table


class Counts(Protocol):
    """The questions. `missing`: whether a missing value is a value of its own ("value") or its record is left out."""

    ds: Dataset

    def __init__(self, ds: Dataset) -> None:
        self.ds = ds

    @property
    def values_leave(self) -> bool:
        """Whether a measure may fetch everybody's values (`coded_values`): from a database only counts come."""
        return True

    def profiles(
        self,
        subsets: Sequence[Subset],
        *,
        missing: str = "value",
        every_attacker: bool = False,
        strategy: str = "auto",
        memory: int | None = None,
    ) -> list[Profile]:
        """The profile of every set of attributes, in the given order.

        `plain` asks the engine one query per set; `kernel` reads the rows once, ordered by user, for all of them.
        Both give the same integers. `auto` takes the kernel where it is faster.
        """
        self.check()
        if self._takes_kernel(subsets, missing, strategy):
            return self.kernel_profiles(subsets, every_attacker=every_attacker, memory=memory)
        found = []
        for index, subset in enumerate(subsets):
            stage("risk of attributes", index, len(subsets))
            found.append(self.profile(subset, missing=missing, every_attacker=every_attacker))
        return found

    @abstractmethod
    def profile(self, attributes: Sequence[str], *, missing: str, every_attacker: bool) -> Profile:
        """How many values of the attributes have how many records and users, by one query."""

    def kernel_pays(self, subsets: Sequence[Subset]) -> bool | None:
        """Whether the kernel is faster than a query per set; None where there is no kernel."""
        return None

    def kernel_profiles(
        self, subsets: Sequence[Subset], *, every_attacker: bool, memory: int | None
    ) -> list[Profile]:
        """The profiles by one pass over the rows, where there is a kernel; else by queries."""
        return [self.profile(s, missing="value", every_attacker=every_attacker) for s in subsets]

    @abstractmethod
    def value_rows(self, attributes: Sequence[str], *, missing: str = "value") -> list[tuple[Any, ...]]:
        """Per value: the value(s), records, users, sum of the users' squared records, records of the largest owner."""

    @abstractmethod
    def count_values(self, attributes: Sequence[str], *, missing: str = "value") -> tuple[int, int, int]:
        """|D_X|, records, users, without looking at who owns what."""

    @abstractmethod
    def count_records(self, attributes: Sequence[str], *, missing: str = "value") -> int:
        """m, which is known of a table without reading it unless records with missing values are left out."""

    @abstractmethod
    def exposed(self, attributes: Sequence[str], most: int, *, missing: str = "value") -> float:
        """The share of users who own a value with at most so many owners."""

    @abstractmethod
    def without_user(self) -> int:
        """How many records have no user."""

    @abstractmethod
    def domain(self, attributes: Sequence[str], *, missing: str = "value") -> pa.Table:
        """D_X in a fixed order, so that a keyed draw does not depend on the engine."""

    @abstractmethod
    def owners(self, chosen: pa.Table) -> list[Owners]:
        """Of each of the chosen values who owns it, reading no other value's records."""

    def histories(self, value: str, users: pa.Array | None = None) -> pa.Table:
        """The different values of these users, of all by default: the columns `user` and `value`."""
        table = self.ds.table
        pairs = table.select(user=table[str(self.ds.roles.user)], value=table[value]).distinct()
        return (pairs if users is None else pairs.filter(pairs.user.isin(users.to_pylist()))).to_pyarrow()

    @abstractmethod
    def cross(self, first: str, second: str, *, missing: str = "value") -> Cross:
        """The risk of two values known from different records of the same person."""

    @abstractmethod
    def lucky(self, attribute: str, *, missing: str = "value") -> float:
        """Sum over users and their values of their records with other values over the owners of the value."""

    @abstractmethod
    def coded_values(
        self, columns: Sequence[str], *, missing: str = "value"
    ) -> tuple[Coded, dict[str, list[Any]]]:
        """Everybody's values here, as codes of rows ordered by user, and per column the values by code."""

    def owned_values(
        self, columns: Sequence[str], *, missing: str = "value"
    ) -> tuple[Coded, dict[str, list[Any]]]:
        """The same of everybody's different values: how often somebody has them may be lost."""
        return self.coded_values(columns, missing=missing)

    @abstractmethod
    def class_sizes(self, quasi: Sequence[str]) -> Sizes:
        """The classes by size; with a user column a class is as large as the number of its users."""

    @abstractmethod
    def class_table(
        self, quasi: Sequence[str], *, weight: str | None = None, persons: bool = False
    ) -> pa.Table:
        """One row per class: its columns, `sudare_records` and, if asked, `sudare_persons` and `sudare_weight`."""

    @abstractmethod
    def class_cells(self, quasi: Sequence[str], sensitive: str) -> Cells:
        """The sensitive values of every class, by one GROUP BY; members of published sets count one by one."""

    @abstractmethod
    def has_unknown(self, columns: Sequence[str]) -> bool:
        """Whether some cell of the columns is missing or suppressed."""

    @abstractmethod
    def total(self, column: str) -> float:
        """The sum of a column."""

    def set_counts(self, by: Sequence[str], column: str, l: int) -> SetCounts | None:
        """The sets of l values in a column, counted where they are; None where reading them is as cheap."""
        return None

    def sets(self, columns: Sequence[str], what: str) -> pa.Table:
        """The columns of a release, sets and all, for `what` cannot do with counts."""
        memory = self.ds.memory
        return memory.table.select(columns) if memory is not None else self.ds.to_pyarrow(columns)

    def check_values(self, columns: Sequence[str]) -> None:
        """Warn of columns without a value (S-EMPTY) and of values that differ only in form (S-ALIKE), if cheap."""
        return

    def check(self) -> None:
        """Records there must be, and every one of them must belong to somebody."""
        without = 0 if self.ds.roles.user is None else self.without_user()
        if self.ds.rows == 0:
            raise DataError(f"{self.ds.name}: no records; give a table with at least one")
        if without:
            raise DataError(
                f"{self.ds.name}: {without:,} records have no user in column '{self.ds.roles.user}'; remove them or "
                "give them one"
            )

    def _takes_kernel(self, subsets: Sequence[Subset], missing: str, strategy: str) -> bool:
        if strategy not in STRATEGIES:
            raise UsageError(f"strategy: '{strategy}' is unknown; use one of {', '.join(STRATEGIES)}")
        pays = self.kernel_pays(subsets) if missing == "value" and subsets else None
        if strategy == "kernel" and pays is None:
            raise UsageError(
                "strategy='kernel' needs a file, a table in memory or Spark, and missing='value'; use strategy='auto'"
            )
        return strategy == "kernel" or (strategy == "auto" and bool(pays))


@cache
def _counting(folder: Folder) -> type[Counts]:
    if folder == "duckdb":
        from sudare.engine.duckdb.counts import DuckDBCounts

        return DuckDBCounts
    if folder == "spark":
        from sudare.engine.spark.counts import SparkCounts

        return SparkCounts
    from sudare.engine.ibis.counts import IbisCounts

    return IbisCounts


def in_order(domain: pa.Table) -> pa.Table:
    """The values in a fixed order, so that a keyed draw does not depend on the engine."""
    names = domain.column_names
    if not any(is_sets(kind) for kind in domain.schema.types):
        return domain.sort_by([(name, "ascending") for name in names])
    import numpy as np

    from sudare.engine.codes import codes

    return domain.take(
        np.lexsort(codes(domain, names)[0].T[::-1])
    )  # Arrow does not sort lists; their texts it does


def is_simple(kind: pa.DataType) -> bool:
    """Whether a value of this type survives as a parameter of a query: no fraction, no time of day, no list."""
    from pyarrow import types

    text = types.is_string(kind) or types.is_large_string(kind)
    return bool(text or types.is_integer(kind) or types.is_date32(kind))
