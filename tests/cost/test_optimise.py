"""The optimiser: always a valid clustering, the best one where it can be enumerated, the same for a seed."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pytest

from sudare.cost.itemsets import ItemSets
from sudare.cost.optimise import EFFORTS, Effort, _many, by_size, cluster, differences
from sudare.engine.kernels.bitsets import pack
from sudare.engine.kernels.dummies import anneal, descend
from sudare.engine.kernels.dummies_matching import perfect_matching
from sudare.errors import UsageError


def cheapest_pairs(cost):
    n = len(cost)

    @cache
    def rest(taken):
        if taken == (1 << n) - 1:
            return 0
        i = next(i for i in range(n) if not taken >> i & 1)
        free = (j for j in range(i + 1, n) if not taken >> j & 1)
        return min(int(cost[i, j]) + rest(taken | 1 << i | 1 << j) for j in free)

    return rest(0)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("highest", [3, 10, 1000])
def test_the_matching_is_the_cheapest_of_all(seed, highest):
    draw = np.random.default_rng(seed)
    for n in (2, 4, 6, 8, 10, 12):
        cost = draw.integers(0, highest, (n, n))
        cost = cost + cost.T
        partner = perfect_matching(cost)
        assert (partner[partner] == np.arange(n)).all()
        assert (partner != np.arange(n)).all()
        assert cost[np.arange(n), partner].sum() // 2 == cheapest_pairs(cost)


def test_a_matching_with_nested_blossoms_is_whole():
    draw = np.random.default_rng(5)
    points = draw.integers(0, 40, (150, 2))
    cost = np.abs(points[:, None] - points[None]).sum(axis=2)
    partner = perfect_matching(cost)
    assert (partner[partner] == np.arange(150)).all()
    swapped = best = int(cost[np.arange(150), partner].sum() // 2)
    for u, v in combinations(range(150), 2):
        a, b = partner[u], partner[v]
        if v != a:
            swapped = min(swapped, best - cost[u, a] - cost[v, b] + cost[u, v] + cost[a, b])
    assert swapped == best


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [2, 3, 4])
def test_small_tables_are_solved(seed, k, some_sets, best_of_all):
    sets = some_sets(8, 9, seed)
    found = sets.dummies(cluster(sets, k, effort="low", seed=seed))
    best = best_of_all(sets, k)
    assert best <= found <= 1.1 * best + 2


@pytest.mark.parametrize(("users", "k"), [(1, 1), (5, 1), (5, 5), (9, 5), (11, 2), (31, 4), (64, 7), (90, 3)])
@pytest.mark.parametrize("keep", ["set", "multiset"])
def test_every_cluster_has_at_least_k(users, k, keep):
    draw = np.random.default_rng(users)
    records = draw.integers(0, users, 6 * users), draw.integers(0, 40, 6 * users)
    sets = ItemSets.of(*records, users, 40, keep)
    labels = cluster(sets, k, effort="trial", seed=1)
    sizes = np.bincount(labels)
    assert len(labels) == users
    assert sizes.min() >= k
    assert sets.dummies(labels) <= sets.dummies(by_size(sets, k))


def test_the_same_seed_gives_the_same_clusters_and_another_may_not(some_sets):
    sets = some_sets(120, 80, 3)
    first, again = (cluster(sets, 3, effort="trial", seed=7) for _ in range(2))
    assert (first == again).all()
    assert (first != cluster(sets, 3, effort="trial", seed=8)).any()


def test_more_effort_is_not_worse(some_sets):
    sets = some_sets(150, 200, 4)
    trial, low = (sets.dummies(cluster(sets, 4, effort=effort, seed=1)) for effort in ("trial", "low"))
    assert low <= 1.005 * trial


@pytest.mark.parametrize("users", [200, 203])
def test_the_way_for_many_users_is_valid_and_better_than_by_size(users, some_sets):
    sets = some_sets(users, 150, 9)
    labels = _many(sets, 5, Effort(100, 50_000, 1, 50, 0, 0), 40_000, seed=1)
    assert np.bincount(labels).min() >= 5
    assert sets.dummies(labels) < sets.dummies(by_size(sets, 5))


@pytest.mark.parametrize("k", [2, 3, 5])
def test_annealing_counts_its_cost_rightly(k, some_sets):
    sets = some_sets(37, 130, k)
    bits, alone = pack(sets.indptr, sets.items, sets.values), np.zeros(sets.users, np.int64)
    cost, labels = anneal(bits, alone, by_size(sets, k), k=k, moves=30_000, hot=8.0, cold=0.5, span=0, seed=2)
    assert cost - sets.pairs == sets.dummies(labels)


def test_local_search_leaves_no_swap_that_helps(some_sets):
    sets = some_sets(24, 60, 2)
    bits, alone = pack(sets.indptr, sets.items, sets.values), np.zeros(sets.users, np.int64)
    labels = descend(bits, alone, by_size(sets, 4), k=4, sweeps=50)
    best = sets.dummies(labels)
    for u, v in combinations(range(24), 2):
        other = labels.copy()
        other[u], other[v] = labels[v], labels[u]
        assert sets.dummies(other) >= best


def test_items_of_one_owner_need_no_bits(some_sets):
    sets = some_sets(50, 300, 6, density=0.02)
    shared, alone = sets.shared()
    assert (shared.owners > 1).all()
    assert (shared.sizes + alone == sets.sizes).all()


def test_differences_are_symmetric_differences(some_sets):
    sets = some_sets(12, 20, 1)
    members = [set(sets.items[sets.indptr[u] : sets.indptr[u + 1]].tolist()) for u in range(12)]
    assert differences(sets).tolist() == [[len(a ^ b) for b in members] for a in members]


def test_k_beyond_the_users_is_refused_before_any_work(some_sets):
    with pytest.raises(UsageError, match="larger than the number of users"):
        cluster(some_sets(5, 5, 1), 6)


def test_an_unknown_effort_names_those_there_are(some_sets):
    with pytest.raises(UsageError, match=", ".join(EFFORTS)):
        cluster(some_sets(5, 5, 1), 2, effort="heroic")
