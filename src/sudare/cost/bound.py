"""A lower bound on the dummy records that any clustering needs: how far from the best a result may be."""

from __future__ import annotations

import numpy as np

from sudare.cost.itemsets import ItemSets


def lower_bound(sets: ItemSets, k: int, *, effort: str = "default") -> int:
    return max(size_bound(sets, k), rarity_bound(sets, k))


def size_bound(sets: ItemSets, k: int) -> int:
    """A cluster is at least as wide as its widest member: the best clusters of nested sets of these sizes.

    Nested sets are best clustered in the order of their sizes, k to 2k-1 at a time.

    >>> size_bound(ItemSets.of(np.array([0, 1, 1, 1]), np.array([0, 0, 1, 2]), 2, 3), 2)
    2
    """
    sizes = np.sort(sets.sizes)
    n = len(sizes)
    if k > n:
        return 0
    best = np.full(n + 1, np.iinfo(np.int64).max // 2, np.int64)
    best[0] = 0
    for end in range(k, n + 1):
        lengths = np.arange(k, min(2 * k - 1, end) + 1)
        best[end] = (best[end - lengths] + lengths * sizes[end - 1]).min()
    return int(best[n]) - sets.pairs


def rarity_bound(sets: ItemSets, k: int) -> int:
    """An item with fewer than k owners is published by at least k users: k - owners dummies, or more.

    >>> rarity_bound(ItemSets.of(np.array([0, 1]), np.array([0, 1]), 2, 2), 2)
    2
    """
    owners = sets.owners[sets.owners > 0]
    return int(np.maximum(k - owners, 0).sum())
