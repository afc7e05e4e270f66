"""Item sets: which values each user has, as one sorted run of item numbers per user."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Longs = NDArray[np.int64]


@dataclass(frozen=True, repr=False, eq=False)
class ItemSets:
    """The items of user u are `items[indptr[u]:indptr[u+1]]`, sorted; items are numbered 0..values-1.

    `value_of` is the value that an item stands for.
    """

    indptr: Longs
    items: NDArray[np.int32]
    value_of: Longs

    @classmethod
    def of(
        cls, users: NDArray[np.integer], values: NDArray[np.integer], n: int, l: int, keep: str = "set"
    ) -> ItemSets:
        """From one (user number, value number) per record.

        With keep="multiset" the second, third, ... record of a value is an item of its own: then the union of
        sets is the largest count of each value, and histories that are equal as multisets are equal as sets.

        >>> sets = ItemSets.of(np.array([0, 0, 1]), np.array([7, 7, 7]), 2, 8, keep="multiset")
        >>> sets.sizes.tolist(), sets.values
        ([2, 1], 2)
        """
        pairs = users.astype(np.int64) * l + values.astype(np.int64)
        if keep == "set":
            pairs = distinct(pairs)
            return cls(_starts(pairs // l, n), (pairs % l).astype(np.int32), np.arange(l))
        pairs.sort()
        fresh = np.ones(len(pairs), np.bool_)
        fresh[1:] = pairs[1:] != pairs[:-1]
        first = np.maximum.accumulate(np.where(fresh, np.arange(len(pairs)), 0))
        occurrence = np.arange(len(pairs)) - first
        known, items = np.unique(occurrence * l + pairs % l, return_inverse=True)
        return cls(_starts(pairs // l, n), items[np.lexsort((items, pairs // l))].astype(np.int32), known % l)

    @property
    def users(self) -> int:
        return len(self.indptr) - 1

    @property
    def values(self) -> int:
        return len(self.value_of)

    @property
    def pairs(self) -> int:
        """How many (user, item) pairs there are."""
        return int(self.indptr[-1])

    @cached_property
    def sizes(self) -> Longs:
        return np.diff(self.indptr)

    @cached_property
    def owners(self) -> Longs:
        """How many users own each item."""
        return np.bincount(self.items, minlength=self.values)

    @cached_property
    def user_of_pair(self) -> Longs:
        return np.repeat(np.arange(self.users), self.sizes)

    def take(self, users: Longs) -> ItemSets:
        """Only these users, in this order."""
        sizes = self.sizes[users]
        indptr = np.concatenate(([0], np.cumsum(sizes)))
        source = np.repeat(self.indptr[users] - indptr[:-1], sizes) + np.arange(indptr[-1])
        return ItemSets(indptr, self.items[source], self.value_of)

    def shared(self) -> tuple[ItemSets, Longs]:
        """Without the items that one user alone owns, and how many of those each user has."""
        keep = self.owners > 1
        number = np.cumsum(keep) - 1
        kept = keep[self.items]
        alone = np.bincount(self.user_of_pair[~kept], minlength=self.users)
        items = number[self.items[kept]].astype(np.int32)
        return ItemSets(_starts(self.user_of_pair[kept], self.users), items, self.value_of[keep]), alone

    def dummies(self, labels: Longs) -> int:
        """dm of a clustering given as one label per user (P3, Prop. 1)."""
        sizes = np.bincount(labels)
        covered = distinct(labels[self.user_of_pair] * self.values + self.items) // max(1, self.values)
        return int(sizes[covered].sum()) - self.pairs


def distinct(numbers: Longs) -> Longs:
    """Sorted, each once; by sorting, which for millions of numbers is far faster than by hashing."""
    ranked = np.sort(numbers)
    fresh = np.ones(len(ranked), np.bool_)
    fresh[1:] = ranked[1:] != ranked[:-1]
    return np.asarray(ranked[fresh])


def _starts(users: Longs, n: int) -> Longs:
    return np.concatenate(([0], np.cumsum(np.bincount(users, minlength=n)))).astype(np.int64)
