"""The counts that a plan needs. They are aggregates: the table stays where it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sudare.engine.counts import counts_of
from sudare.errors import DataError, UsageError

if TYPE_CHECKING:
    from sudare.cost.itemsets import ItemSets
    from sudare.data.dataset import Dataset

Longs = NDArray[np.int64]


@dataclass(frozen=True)
class Histories:
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


def count(ds: Dataset, value: str) -> Histories:
    """Counts by the engine that holds the table; only histograms come back."""
    user = user_column(ds)
    ds.require([value])
    (profile,) = counts_of(ds).profiles([(value,)])
    frequency, owners, times = (np.array(column, np.int64) for column in zip(*profile.pairs))
    by_record = replace(ds, roles=ds.roles.without([user]))
    sizes = counts_of(by_record).class_sizes([user])
    return Histories(
        records=profile.records,
        users=profile.users,
        values=profile.values,
        owners=np.sort(np.repeat(owners, times)),
        frequency=np.repeat(frequency, times),
        activity=np.repeat(sizes.persons, sizes.classes),
    )


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
    from sudare.cost.itemsets import ItemSets
    from sudare.engine.codes import codes

    user, counts, chosen = user_column(ds), counts_of(ds), None
    if ds.users > users:
        known = counts.domain([user])[user]
        chosen = known.take(np.sort(np.random.default_rng(seed).choice(len(known), users, replace=False)))
    coded, (people, values) = codes(counts.histories(value, chosen), ["user", "value"])
    return ItemSets.of(coded[:, 0], coded[:, 1], len(people), len(values))
