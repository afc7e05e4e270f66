"""The counts that a plan needs. They are aggregates: the table stays where it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.errors import DataError, UsageError

if TYPE_CHECKING:
    from sudare.cost.itemsets import ItemSets
    from sudare.data.dataset import Dataset

Longs = NDArray[np.int64]


@dataclass(frozen=True)
class Counts:
    """Of a table and a value column: how many records, users, values, (user, value) pairs, and their spread."""

    records: int
    users: int
    values: int
    owners: Longs  # users of each value
    frequency: Longs  # records of each value
    activity: Longs  # records of each user

    @property
    def pairs(self) -> int:
        return int(self.owners.sum())

    @property
    def everything(self) -> int:
        """dm of one cluster of everybody: nothing costs more."""
        return self.users * self.values - self.pairs


def count(ds: Dataset, value: str) -> Counts:
    """Counts by the engine that holds the table; only histograms come back."""
    user = user_column(ds)
    ds.require([value])
    pairs = _pairs(ds, user, value)
    of_value = pairs.group_by("value").aggregate(d=pairs.records.count(), r=pairs.records.sum())
    of_user = pairs.group_by("user").aggregate(b=pairs.records.sum())
    owners, frequency = _histogram(of_value, "d"), _histogram(of_value, "r")
    activity = _histogram(of_user, "b")
    return Counts(int(activity.sum()), len(activity), len(owners), owners, frequency, activity)


def user_column(ds: Dataset) -> str:
    """The user column; a table without one has no histories to make equal."""
    if ds.roles.user is None:
        raise UsageError(
            f"{ds.name}: a plan needs to know the person of every record; name the column with user="
        )
    if ds.rows == 0:
        raise DataError(f"{ds.name}: no records")
    return ds.roles.user


def sample(ds: Dataset, value: str, users: int, seed: int = 1) -> ItemSets:
    """The item sets of so many users, drawn without a key; only their distinct values are fetched."""
    import pyarrow.compute as pc

    from sudare.cost.itemsets import ItemSets
    from sudare.engine.codes import codes

    user = user_column(ds)
    table = ds.table.select(user=ds.table[user], value=ds.table[value]).distinct()
    if ds.users > users:
        known = ds.table.select(user=ds.table[user]).distinct().to_pyarrow()["user"]
        known = known.take(pc.sort_indices(known))
        drawn = np.sort(np.random.default_rng(seed).choice(len(known), users, replace=False))
        table = table.filter(table.user.isin(known.take(drawn).to_pylist()))
    coded, (people, values) = codes(table.to_pyarrow(), ["user", "value"])
    return ItemSets.of(coded[:, 0], coded[:, 1], len(people), len(values))


def _pairs(ds: Dataset, user: str, value: str) -> Any:
    table = ds.table.select(user=ds.table[user], value=ds.table[value])
    return table.group_by(["user", "value"]).aggregate(records=table.count())


def _histogram(table: Any, column: str) -> Longs:
    """The numbers of a column, sorted, fetched as a histogram."""
    found = table.group_by(column).aggregate(times=table.count()).order_by(column).to_pyarrow()
    numbers, times = (np.asarray(found[name]).astype(np.int64) for name in (column, "times"))
    return np.repeat(numbers, times)
