"""Small item sets, and the best clustering by trying all."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sudare.cost.itemsets import ItemSets


@pytest.fixture(name="some_sets", scope="session")
def some_sets_fixture():
    return some_sets


@pytest.fixture(name="best_of_all", scope="session")
def best_of_all_fixture():
    return best_of_all


def some_sets(users, values, seed, density=0.3):
    draw = np.random.default_rng(seed)
    owned = draw.random((users, values)) < density * draw.random((1, values)) + 0.02
    owned[np.arange(users), draw.integers(0, values, users)] = True
    return ItemSets.of(*np.nonzero(owned), users, values)


def partitions(users, k):
    if not users:
        yield []
        return
    first, rest = users[0], users[1:]
    for size in range(k, len(users) + 1):
        for others in combinations(rest, size - 1):
            left = [u for u in rest if u not in others]
            if not left or len(left) >= k:
                for more in partitions(left, k):
                    yield [[first, *others], *more]


def best_of_all(sets, k):
    costs = []
    for groups in partitions(list(range(sets.users)), k):
        labels = np.empty(sets.users, np.int64)
        for number, group in enumerate(groups):
            labels[group] = number
        costs.append(sets.dummies(labels))
    return min(costs)
