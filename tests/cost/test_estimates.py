"""The paper's estimates: their shapes, their limits, and what they leave out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.cost import best_clusters, best_k, expected_distinct, expected_dummies, score
from sudare.errors import UsageError

counts = st.tuples(st.integers(2, 500), st.integers(1, 50_000), st.integers(2, 5_000))


@given(counts)
def test_one_user_per_cluster_costs_nothing(numbers):
    n, m, l = numbers
    assert expected_dummies(n, m, l, c=n) == pytest.approx(0, abs=1e-9)
    assert expected_dummies(n, m, l, k=1) == pytest.approx(0, abs=1e-9)


@given(counts)
def test_cost_falls_as_clusters_are_added(numbers):
    n, m, l = numbers
    cost = expected_dummies(n, m, l, c=np.arange(1, n + 1))
    assert (np.diff(cost) <= 1e-6 * n * l).all()


@given(counts, st.integers(1, 20))
def test_k_is_n_over_c_without_rounding(numbers, k):
    n, m, l = numbers
    assert expected_dummies(n, m, l, k=k) == pytest.approx(float(expected_dummies(n, m, l, c=n / k)))


@given(counts, st.integers(1, 20))
def test_equal_shares_and_equal_users_are_the_first_estimate(numbers, k):
    n, m, l = numbers
    first = float(expected_dummies(n, m, l, k=k))
    even = np.full(l, 1 / l)
    assert expected_dummies(n, m, l, k=k, p=even) == pytest.approx(first, rel=1e-6, abs=1e-6)
    assert expected_dummies(n, m, l, k=k, p=even, b=np.full(n, m / n)) == pytest.approx(
        first, rel=1e-6, abs=1e-6
    )
    assert expected_dummies(n, m, l, k=k, b=np.full(n, m / n)) == pytest.approx(first, rel=1e-6, abs=1e-6)


def test_the_cost_is_what_clusters_have_more_than_users():
    n, m, l, c = 40, 900, 70, 8
    own = n * float(expected_distinct(m / n, l))
    assert expected_dummies(n, m, l, c=c) == pytest.approx(n * float(expected_distinct(m / c, l)) - own)


def test_many_numbers_at_once():
    cost = expected_dummies(400, [[10_000], [20_000]], 100, c=[20, 40, 80])
    assert cost.shape == (2, 3)
    assert cost[1, 2] == expected_dummies(400, 20_000, 100, c=80)


def test_very_many_values_lose_no_digits():
    # nearly all values differ: each user lacks what the other 19 of the cluster have
    assert expected_dummies(400, 40_000, 1e15, k=20) == pytest.approx(400 * 100 * 19, rel=1e-6)


def test_a_single_value_needs_no_dummy():
    assert expected_dummies(400, 10_000, 1, k=5) == 0


def test_best_clusters_and_best_k_are_the_smallest_score():
    n, m, l = 60, 2_000, 150
    every = score(n, m, l, np.arange(1, n + 1))
    assert best_clusters(n, m, l) == int(np.argmin(every)) + 1
    assert score(n, m, l, n // best_k(n, m, l)) <= min(score(n, m, l, n // k) for k in range(1, n + 1))


def test_no_cost_has_no_sign():
    assert not np.signbit(expected_dummies(400, 38_087, 2_781, c=[400, 400])).any()


def test_users_without_records_and_a_single_value_own_what_they_have():
    assert expected_dummies(4, 10, 1, k=2, p=[1.0], b=[0, 5, 5, 0]) == 2
    assert expected_dummies(4, 0, 1, k=2, p=[1.0]) == 0


def test_the_records_of_users_meet_many_numbers_of_values():
    users = np.arange(40)
    cost = expected_dummies(40, users.sum(), [50, 700], k=4, b=users)
    assert cost.tolist() == [float(expected_dummies(40, users.sum(), l, k=4, b=users)) for l in (50, 700)]


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"c": 3, "k": 2},
        {"c": 0},
        {"k": 0},
        {"k": 2, "p": [0.5, 0.2]},
        {"k": 2, "p": [0.5, 0.5]},
        {"k": 2, "b": [50, 50]},
        {"k": 2, "l": 0},
        {"k": 2, "m": -1},
        {"k": 2, "n": 0},
    ],
)
def test_wrong_calls_are_refused(wrong):
    with pytest.raises(UsageError):
        expected_dummies(**{"n": 10, "m": 100, "l": 20, **wrong})


@pytest.mark.parametrize(
    "call",
    [
        lambda: expected_dummies("many", 50, 7, c=2),
        lambda: expected_dummies(10, -1, 7, c=2),
        lambda: expected_dummies(10, 50, 0, c=2),
        lambda: expected_dummies(10, 50, [1, 2], c=[1, 2, 3]),
        lambda: best_clusters(2.5, 50, 7),
        lambda: best_clusters(2**70, 50, 7),
        lambda: best_k(0, 50, 7),
    ],
)
def test_what_is_no_count_is_refused(call):
    with pytest.raises(UsageError):
        call()
