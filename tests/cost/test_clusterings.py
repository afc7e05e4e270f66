"""The exact cost of a clustering and its expectation over random ones, against enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.cost import dummies, expected_dummies_exact
from sudare.cost.clusterings import even_sizes
from sudare.cost.itemsets import ItemSets
from sudare.errors import UsageError

EXAMPLE = {"Alice": ["Apple"], "Bob": ["Apple", "Book"], "Carol": ["Book"]}
sets_of_users = st.lists(st.lists(st.integers(0, 6), max_size=8), min_size=1, max_size=7)


def with_dummies(sets, groups, keep):
    """Add what each member lacks, one dummy at a time, and count."""
    added = 0
    for group in groups:
        values = {v for u in group for v in sets[u]}
        for value in values:
            most = max(sets[u].count(value) for u in group)
            for u in group:
                has = sets[u].count(value)
                added += (most - has) if keep == "multiset" else (has == 0)
    return added


def test_the_papers_example_needs_two_dummies():
    assert dummies(EXAMPLE, [["Alice", "Bob", "Carol"]]) == 2
    assert dummies(EXAMPLE, [["Alice"], ["Bob"], ["Carol"]]) == 0


@given(sets_of_users, st.data())
def test_the_formula_counts_what_adding_one_by_one_counts(sets, data):
    labels = data.draw(st.lists(st.integers(0, 2), min_size=len(sets), max_size=len(sets)))
    groups = [[u for u, x in enumerate(labels) if x == label] for label in sorted(set(labels))]
    for keep in ("set", "multiset"):
        counted = with_dummies(sets, groups, keep)
        assert dummies(sets, groups, keep=keep) == dummies(sets, labels, keep=keep) == counted
        users = np.repeat(np.arange(len(sets)), [len(s) for s in sets])
        values = np.array([v for s in sets for v in s], dtype=np.int64)
        arrays = ItemSets.of(users, values, len(sets), 7, keep)
        assert arrays.dummies(np.unique(labels, return_inverse=True)[1]) == counted


@settings(max_examples=40)
@given(sets_of_users.filter(lambda sets: len(sets) >= 2), st.integers(1, 4))
def test_the_expectation_is_the_mean_over_all_clusters_of_that_size(sets, size):
    size = min(size, len(sets))
    users = range(len(sets))
    unions = [len({v for u in group for v in sets[u]}) for group in combinations(users, size)]
    owners = [sum(value in s for s in sets) for value in range(7)]
    # a lone cluster of `size` among clusters of one: linearity lets it be checked alone
    expected = expected_dummies_exact(owners, [size] + [1] * (len(sets) - size))
    ones = sum(len(set(s)) for s in sets) / len(sets)
    assert expected == pytest.approx(size * np.mean(unions) - size * ones, abs=1e-9)


@settings(max_examples=60)
@given(st.integers(1, 400), st.data())
def test_the_expectation_is_that_of_exact_binomials(n, data):
    owners = data.draw(st.lists(st.integers(0, n), min_size=1, max_size=5))
    sizes = even_sizes(n, data.draw(st.integers(1, n)))
    missed = [[Fraction(comb(n - d, s), comb(n, s)) for d in owners] for s in sizes.tolist()]
    exact = sum(s * (1 - chance) for s, row in zip(sizes.tolist(), missed) for chance in row) - sum(owners)
    assert expected_dummies_exact(owners, sizes) == pytest.approx(float(exact), rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("owners", [1, 3, 1000])
def test_a_hundred_million_users_lose_no_digits(owners):
    n = 100_000_000
    exact = n * (1 - Fraction(comb(n - owners, 5), comb(n, 5))) - owners
    assert expected_dummies_exact([owners], np.full(n // 5, 5)) == pytest.approx(float(exact), rel=1e-6)


def test_sizes_and_owners_must_fit():
    with pytest.raises(UsageError, match="owners"):
        expected_dummies_exact([5], [2, 2])
    with pytest.raises(UsageError, match="sizes"):
        expected_dummies_exact([1], [2, 0])


def test_a_million_users_are_no_trouble():
    owners = np.repeat([1, 1000, 500_000], [1000, 100, 3])
    cost = expected_dummies_exact(owners, even_sizes(1_000_000, 200_000))
    assert 5 * 1000 - 1000 < cost < 5 * owners.sum()


@pytest.mark.parametrize(
    "clusters",
    [
        ["x", "x", "y"],
        np.array(["x", "x", "y"]),
        np.array([4, 4, 0]),
        {"Carol": "y", "Bob": "x", "Alice": "x"},
        {"x": ["Alice", "Bob"], "y": ["Carol"]},
        [("Alice", "Bob"), ("Carol",)],
        [{"Alice", "Bob"}, {"Carol"}],
    ],
)
def test_clusters_may_be_labels_or_members(clusters):
    assert dummies(EXAMPLE, clusters) == 1


def test_as_many_labels_as_users():
    with pytest.raises(UsageError, match="one label per user"):
        dummies(EXAMPLE, ["x", "y"])


@pytest.mark.parametrize(
    "clusters", [[["Alice"]], [["Alice", "Bob"], ["Bob", "Carol"]], [["Alice", "Bob", "Dan"]]]
)
def test_every_user_is_in_exactly_one_cluster(clusters):
    with pytest.raises(UsageError, match="exactly one"):
        dummies(EXAMPLE, clusters)


def test_a_user_without_records_receives_the_whole_union():
    assert dummies([[], [1, 2, 3]], [[0, 1]]) == 3
