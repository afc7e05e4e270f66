"""A pilot: the real optimiser on a sample of users, and what it says about everybody."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import log2

import numpy as np

from sudare.cost.clusterings import even_sizes, expected_dummies_exact
from sudare.cost.itemsets import ItemSets
from sudare.cost.optimise import cluster

USERS = 400


@dataclass(frozen=True)
class Pilot:
    """Dummy records to expect of the optimiser, with an interval; equal bounds mean that everybody was in it."""

    dummies: float
    low: float
    high: float


def pilots(sets: ItemSets, users: int, wanted: list[tuple[int, float]]) -> list[Pilot | None]:
    """A pilot for every pair of a k and the expected cost of random clusters of all `users`.

    In the sample the optimiser needs a share of what random clusters need. The share falls slowly as users
    are added, for they find better partners: the share in the sample is the upper end, and its trend from
    half the sample to the whole, continued to everybody, the lower. A k that the sample is too small for
    (two clusters in each half) has no pilot. Of clusters that are larger than k the same share is expected.
    """
    with ThreadPoolExecutor(max_workers=2) as pool:
        return list(pool.map(lambda pair: _pilot(sets, users, *pair), wanted))


def _pilot(sets: ItemSets, users: int, k: int, expected: float) -> Pilot | None:
    if sets.users == users:
        cost = _share(sets, k) * expected
        return Pilot(cost, cost, cost)
    if sets.users < 4 * k:
        return None
    odd, even = np.arange(0, sets.users, 2), np.arange(1, sets.users, 2)
    whole, first, second = _share(sets, k), _share(sets.take(odd), k), _share(sets.take(even), k)
    trend = min(0.0, whole - (first + second) / 2) * log2(users / sets.users)
    noise = abs(first - second)
    low, high = max(0.0, whole + trend - noise), whole + noise
    return Pilot((whole + max(trend / 2, -whole / 2)) * expected, low * expected, high * expected)


def _share(sets: ItemSets, k: int) -> float:
    """What the optimiser needs of what random clusters need."""
    owners = sets.owners
    random = expected_dummies_exact(owners[owners > 0], even_sizes(sets.users, sets.users // k))
    return sets.dummies(cluster(sets, k, effort="trial")) / random if random > 0 else 0.0
