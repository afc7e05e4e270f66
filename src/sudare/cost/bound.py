"""A lower bound on the dummy records that any clustering needs: how far from the best a result may be."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sudare.cost.itemsets import ItemSets
from sudare.cost.optimise import EffortName, differences
from sudare.progress import stage

Floats = NDArray[np.float64]
MATCHED_USERS = 2_000
PAIR_USERS = 5_000  # beyond, a matrix of all pairs is too much
ROUNDS = {"trial": (1, 40), "low": (6, 40), "default": (25, 60), "high": (80, 150)}


def lower_bound(sets: ItemSets, k: int, *, target: int, effort: EffortName = "default") -> int:
    """No clustering with at least k users per cluster has fewer dummies than this.

    The best of three bounds; the one over pairs is by far the strongest, and is left out for many users. Too few
    users for two clusters make one, whose cost is known.
    """
    if k <= 1:
        return 0
    if sets.users < 2 * k:
        return sets.dummies(np.zeros(sets.users, np.int64))
    stage("lower bound")
    bounds = [size_bound(sets, k), rarity_bound(sets, k)]
    if k == 2 and sets.users <= MATCHED_USERS:
        bounds.append(partner_bound(sets))
    elif sets.users <= PAIR_USERS:
        bounds.append(pair_bound(sets, k, target, effort))
    return max(bounds)


def size_bound(sets: ItemSets, k: int) -> int:
    """A cluster is at least as wide as its widest member: the best clusters of nested sets of these sizes.

    Nested sets are best clustered in the order of their sizes, k to 2k-1 at a time.

    >>> size_bound(ItemSets.of(np.array([0, 1, 1, 1]), np.array([0, 0, 1, 2]), 2, 3), 2)
    2
    """
    sizes = np.sort(sets.sizes)
    n = len(sizes)
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


def partner_bound(sets: ItemSets) -> int:
    """At k=2 everybody needs a partner: half the cheapest way to give one to each, partners unshared."""
    from scipy.optimize import linear_sum_assignment

    apart = differences(sets)
    np.fill_diagonal(apart, apart.sum() + 1)
    chosen = linear_sum_assignment(apart)
    return -(-int(apart[chosen].sum()) // 2)


def pair_bound(sets: ItemSets, k: int, target: int, effort: EffortName = "default") -> int:
    """Dawson and Sankoff's inequality turns the cost of a cluster into costs of its pairs; then everybody
    takes the cheapest k-1 partners, under prices.

    An item that t of k members own costs k - t dummies, which is at least a t - b t(t-1)/2 with a = 2k/(r+1) - 1 and
    b = 2k/(r(r+1)), for every whole r from 1 to k-1; each item has its own r, or a mixture. So a cluster costs at
    least the sum over its pairs of (A_u + A_v)/(k-1) - B_uv, A_u the sum of a over u's items, B_uv that of b over
    the common ones. Averaging over the k-subsets of a larger cluster extends this to all sizes. Prices per user
    (Lagrange multipliers of "everybody has k-1 partners") and the mixtures are raised by subgradient steps;
    every step is a valid bound, and the largest is kept.
    """
    from sudare.engine.kernels.dummies_bound import add_shared, cheapest_partners

    n = sets.users
    rounds, steps = ROUNDS[effort]
    rounds = max(1, min(rounds, int(rounds * (1_500 / n) ** 2)))
    a, b = _coefficients(np.ones(sets.values), k)
    price, best, ease = np.zeros(n), 0.0, 1.0
    partners, popular = np.empty((n, k - 1), np.int64), np.empty(n, np.int64)
    for number in range(rounds):
        apart = _pair_costs(sets, k, a, b)
        shared = np.zeros(sets.values)
        for step in range(steps):
            cost = cheapest_partners(apart, price, partners, popular)
            now = (k - 1) * float(price.sum()) + cost / 2
            ease = ease if now > best else ease * 0.995
            best = max(best, now)
            slope = (k - 1 - popular) / 2
            price += ease * (target - now) / max(1.0, float(slope @ slope)) * slope
            if step >= steps // 2:
                add_shared(sets.indptr, sets.items, partners, shared, 0.5 / (steps - steps // 2))
        wanted = _coefficients(_best_r(sets.owners, shared, k), k)
        weight = 2.0 / (number + 2)
        a, b = a + weight * (wanted[0] - a), b + weight * (wanted[1] - b)
    return max(0, math.ceil(best * (1 - 1e-9) - 1e-6))


def _coefficients(r: Floats, k: int) -> tuple[Floats, Floats]:
    return 2 * k / (r + 1) - 1, 2 * k / (r * (r + 1))


def _best_r(owners: NDArray[np.int64], shared: Floats, k: int) -> Floats:
    """The r that makes a * owners - b * shared largest, given how many chosen pairs share an item."""
    return np.asarray(np.clip(1 + np.floor(2 * shared / np.maximum(1, owners)), 1, k - 1))


def _pair_costs(sets: ItemSets, k: int, a: Floats, b: Floats) -> Floats:
    from scipy.sparse import csr_array

    shape = (sets.users, sets.values)
    owned = csr_array((np.ones(sets.pairs), sets.items, sets.indptr), shape)
    weighted = csr_array((b[sets.items], sets.items, sets.indptr), shape)
    alone = (owned @ a) / (k - 1)
    return np.asarray(alone[:, None] + alone[None, :] - (weighted @ owned.T).toarray())
