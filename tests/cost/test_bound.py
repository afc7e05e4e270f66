"""The lower bound is never above the best clustering, and not far below it."""

from __future__ import annotations

import numpy as np
import pytest

from sudare.cost.bound import lower_bound, pair_bound, partner_bound, rarity_bound, size_bound
from sudare.cost.optimise import cluster


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("k", [2, 3, 4])
def test_no_bound_passes_the_best_clustering(seed, k, some_sets, best_of_all):
    sets = some_sets(8, 7 + seed, seed, density=0.1 + 0.07 * seed)
    best = best_of_all(sets, k)
    assert size_bound(sets, k) <= best
    assert rarity_bound(sets, k) <= best
    assert pair_bound(sets, k, best, "low") <= best
    assert pair_bound(sets, k, 2 * best + 5, "low") <= best
    assert lower_bound(sets, k, target=best) <= best
    if k == 2:
        assert partner_bound(sets) <= best


def test_pairs_are_nearly_proved_optimal(some_sets):
    sets = some_sets(120, 150, 1)
    found = sets.dummies(cluster(sets, 2))
    assert 0.99 * found <= lower_bound(sets, 2, target=found) <= found


def test_the_bound_over_pairs_is_the_strongest_on_many_shared_values(some_sets):
    sets = some_sets(90, 120, 2)
    found = sets.dummies(cluster(sets, 3, effort="low"))
    assert 0.6 * found < pair_bound(sets, 3, found, "low") <= found


def test_equal_sets_need_nothing(some_sets):
    sets = some_sets(1, 20, 3).take(np.zeros(12, np.int64))
    assert lower_bound(sets, 3, target=0) == 0
    assert lower_bound(sets, 1, target=0) == 0


def test_too_few_users_for_two_clusters_cost_what_one_costs(some_sets):
    sets = some_sets(5, 30, 4)
    assert lower_bound(sets, 3, target=0) == sets.dummies(np.zeros(5, np.int64)) > 0
