"""Cluster users so that every cluster has at least k and few dummy records make its members' sets equal.

Three ways, chosen by size: for pairs the minimum-weight perfect matching on |A xor B|, which is optimal over
pairs; annealing and local search; for many users a greedy pass in the order of set sizes, then annealing at a
low temperature between neighbours. The budget is counted in moves, not in seconds: the same seed gives the
same clusters on every machine.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sudare.cost.itemsets import ItemSets, distinct
from sudare.errors import UsageError
from sudare.parameters import checked
from sudare.progress import stage

Longs = NDArray[np.int64]
EffortName = Literal["trial", "low", "default", "high"]
GOLDEN = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class Effort:
    """How much work a clustering is worth."""

    moves: int  # per user
    most_moves: int
    restarts: int
    window: int
    matching: int  # most users for an exact matching
    sweep: int  # most users for a sweep over all pairs


EFFORTS: dict[EffortName, Effort] = {
    "trial": Effort(1_500, 4_000_000, 1, 300, 0, 500),
    "low": Effort(4_000, 4_000_000, 1, 300, 600, 2_000),
    "default": Effort(60_000, 40_000_000, 2, 1_500, 1_000, 6_000),
    "high": Effort(500_000, 400_000_000, 4, 6_000, 2_000, 20_000),
}
ENOUGH_MOVES = 500  # per user: below, annealing from a high temperature does worse than greedy
MOST_BITS = 1 << 34  # two gigabytes of bitsets


@checked
def cluster(sets: ItemSets, k: int, *, effort: EffortName = "default", seed: int = 0) -> Longs:
    """A cluster label per user; every cluster has at least k users.

    >>> sets = ItemSets.of(np.array([0, 1, 1, 2, 2, 3]), np.array([0, 5, 6, 5, 6, 0]), 4, 8)
    >>> labels = cluster(sets, 2)
    >>> bool(labels[0] == labels[3] and labels[1] == labels[2]), sets.dummies(labels)
    (True, 0)
    """
    budget = EFFORTS[effort]
    check_k(k, sets.users)
    stage(f"clustering {sets.users:,} users, k={k}, effort {effort}")
    if k == 1:
        return np.arange(sets.users, dtype=np.int64)
    if sets.users < 2 * k:
        return np.zeros(sets.users, dtype=np.int64)
    if k == 2 and sets.users <= budget.matching:
        return _pairs(sets)
    moves = min(budget.moves * sets.users, budget.most_moves)
    if moves < ENOUGH_MOVES * sets.users:
        return _many(sets, k, budget, moves, seed)
    return _annealed(sets, k, budget, moves, seed)


def check_k(k: int, users: int) -> None:
    if k < 1:
        raise UsageError("k is at least 1")
    if k > users:
        raise UsageError(f"k={k} is larger than the number of users ({users}); choose a smaller k")


def by_size(sets: ItemSets, k: int) -> Longs:
    """Users in the order of their set sizes, k at a time; the rest joins the last cluster."""
    labels = np.empty(sets.users, np.int64)
    order = np.argsort(sets.sizes, kind="stable")
    labels[order] = np.minimum(np.arange(sets.users) // k, sets.users // k - 1)
    return labels


def _pairs(sets: ItemSets) -> Longs:
    """The cheapest pairs; when the number of users is odd one of them joins the pair that suits it best."""
    from sudare.engine.kernels.dummies import descend
    from sudare.engine.kernels.dummies_matching import perfect_matching

    apart = differences(sets)
    n = sets.users
    if n % 2:
        np.fill_diagonal(apart, apart.max() + 1)
        nearest = apart.min(axis=1)
        apart = np.pad(apart, ((0, 1), (0, 1)))
        apart[n, :n] = apart[:n, n] = nearest
    partner = perfect_matching(apart)[:n]
    first = np.minimum(np.arange(n), partner)
    if n % 2:
        single = int(np.flatnonzero(partner == n)[0])
        first[single] = first[int(np.argmin(np.where(np.arange(n) == single, np.inf, apart[single, :n])))]
    labels = np.searchsorted(distinct(first), first).astype(np.int64)
    return labels if n % 2 == 0 else descend(*_bits(sets), labels, k=2, sweeps=3)


def differences(sets: ItemSets) -> Longs:
    """|A xor B| for every two users."""
    common = intersections(sets)
    return np.asarray(sets.sizes[:, None] + sets.sizes[None, :] - 2 * common)


def intersections(sets: ItemSets) -> Longs:
    """|A and B| for every two users."""
    from scipy.sparse import csr_array

    matrix = csr_array((np.ones(sets.pairs, np.int32), sets.items, sets.indptr), (sets.users, sets.values))
    return np.asarray((matrix @ matrix.T).toarray(), dtype=np.int64)


def _annealed(sets: ItemSets, k: int, budget: Effort, moves: int, seed: int) -> Longs:
    """The best of several runs of annealing, each followed by local search."""
    from sudare.engine.kernels.dummies import anneal, descend, typical_change

    bits, alone = _bits(sets)
    start = by_size(sets, k)
    hot = 0.4 * typical_change(bits, alone, start, k=k, span=0, seed=seed)

    def run(number: int) -> tuple[int, int, Longs]:
        own = (seed + number * GOLDEN) % 2**64
        _, labels = anneal(bits, alone, start, k=k, moves=moves, hot=hot, cold=hot / 20, span=0, seed=own)
        if sets.users <= budget.sweep:
            labels = descend(bits, alone, labels, k=k, sweeps=4)
        return sets.dummies(labels), number, labels

    with ThreadPoolExecutor(max_workers=2) as pool:
        return min(pool.map(run, range(budget.restarts)), key=lambda found: found[:2])[2]


def _many(sets: ItemSets, k: int, budget: Effort, moves: int, seed: int) -> Longs:
    """Greedy over users sorted by set size, then annealing at a low temperature between neighbours."""
    from sudare.engine.kernels.dummies import anneal, typical_change
    from sudare.engine.kernels.dummies_greedy import greedy

    order = np.argsort(sets.sizes, kind="stable").astype(np.int64)
    window = int(np.clip(200_000_000 // sets.users, 100, budget.window))
    labels: Longs = greedy(sets.indptr, sets.items, order, sets.values, k, max(window, 2 * k))
    if sets.users * sets.values > MOST_BITS:
        return labels
    together = np.argsort(labels, kind="stable").astype(np.int64)
    bits, alone = _bits(sets.take(together))
    start, span = labels[together], min(5_000, sets.users - 1)
    cold = 0.02 * typical_change(bits, alone, start, k=k, span=span, seed=seed)
    moved = anneal(
        bits, alone, start, k=k, moves=moves // 4, hot=2 * cold, cold=cold / 2, span=span, seed=seed
    )[1]
    labels[together] = moved
    return labels


def _bits(sets: ItemSets) -> tuple[NDArray[np.uint64], Longs]:
    from sudare.engine.kernels.bitsets import pack

    shared, alone = sets.shared()
    return pack(shared.indptr, shared.items, shared.values), alone.astype(np.int64)
