"""The occupancy model against enumeration and exact arithmetic."""

from __future__ import annotations

from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.cost import expected_distinct, pr_distinct, variance_distinct
from sudare.cost.distinct import _normal_mass, _poisson_mass
from sudare.errors import UsageError

getcontext().prec = 60


def enumerated(x: int, l: int) -> dict[int, Fraction]:
    found: dict[int, Fraction] = {}
    for records in product(range(l), repeat=x):
        y = len(set(records))
        found[y] = found.get(y, Fraction()) + Fraction(1, l**x)
    return found


def recurrence(x: int, l: int) -> list[Fraction]:
    now = [Fraction(1)] + [Fraction()] * x
    for step in range(1, x + 1):
        for y in range(step, 0, -1):
            now[y] = (1 - Fraction(y - 1, l)) * now[y - 1] + Fraction(y, l) * now[y]
        now[0] = Fraction()
    return now


def exact_variance(x: int, l: int) -> float:
    big = Decimal(l)
    return float(
        big * (big - 1) * (1 - 2 / big) ** x + big * (1 - 1 / big) ** x - big**2 * (1 - 1 / big) ** (2 * x)
    )


@pytest.mark.parametrize(("x", "l"), [(1, 1), (3, 1), (4, 2), (4, 3), (5, 4), (6, 3)])
def test_the_probabilities_are_those_of_all_tables(x, l):
    for y, share in enumerated(x, l).items():
        assert pr_distinct(y, x, l) == pytest.approx(float(share), rel=1e-14)


def test_example_2_sums_its_paths():
    assert pr_distinct(2, 4, 10) == pytest.approx(7 * (1 - 1 / 10) / 10**2, rel=1e-14)


@given(st.integers(0, 60), st.integers(1, 80))
def test_probability_mean_and_variance_belong_together(x, l):
    y = np.arange(0, x + 1)
    chances = pr_distinct(y, x, l)
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    assert chances @ y == pytest.approx(float(expected_distinct(x, l)), rel=1e-10)
    assert chances @ y**2 - (chances @ y) ** 2 == pytest.approx(float(variance_distinct(x, l)), abs=1e-8)


@given(st.integers(1, 40), st.integers(1, 40))
def test_the_recurrence_is_that_of_exact_fractions(x, l):
    exact = [float(share) for share in recurrence(x, l)]
    assert pr_distinct(np.arange(x + 1), x, l) == pytest.approx(exact, rel=1e-12, abs=1e-300)


def test_the_chance_of_y_values_is_no_distribution_over_x():
    l, y = 10, 4
    assert pr_distinct(y, np.arange(1, 400), l).sum() == pytest.approx(l / (l - y), rel=1e-9)


@pytest.mark.parametrize("l", [1e12, 1e15, 1e17])
def test_ten_records_of_very_many_values_are_ten_values(l):
    assert expected_distinct(10, l) == pytest.approx(10, rel=1e-10)


@pytest.mark.parametrize(
    ("x", "l"),
    [
        (2, 2),
        (3, 2),
        (10, 10**12),
        (10**6, 10**12),
        (10**6, 10**6),
        (49, 100),
        (50, 100),
        (1500, 1000),
        (10**5, 10**9),
    ],
)
def test_the_variance_keeps_its_digits(x, l):
    assert variance_distinct(x, l) == pytest.approx(exact_variance(x, l), rel=1e-12)


def test_one_value_is_a_case_of_its_own():
    assert expected_distinct([0, 1, 5], 1).tolist() == [0, 1, 1]
    assert variance_distinct([0, 1, 5], 1).tolist() == [0, 0, 0]


def test_a_million_records_of_very_many_values_collide_like_poisson():
    chances = pr_distinct(10**6 - np.arange(3), 10**6, 1e12)
    assert chances == pytest.approx(np.exp(-0.5) * np.array([1, 0.5, 0.125]), rel=1e-5)


def test_a_million_records_of_a_million_values_follow_the_normal_law():
    mean, variance = float(expected_distinct(10**6, 10**6)), float(variance_distinct(10**6, 10**6))
    peak = pr_distinct(round(mean), 10**6, 10**6)
    assert peak == pytest.approx(1 / np.sqrt(2 * np.pi * variance), rel=1e-3)


def test_the_normal_law_is_close_to_the_recurrence_where_both_run():
    y = np.arange(2000, 2400)
    exact = pr_distinct(y, 4000, 3000)
    near = _normal_mass(
        y.astype(float), float(expected_distinct(4000, 3000)), float(variance_distinct(4000, 3000)) ** 0.5
    )
    assert np.abs(exact - near).max() < 0.005 * exact.max()


def test_a_band_around_the_mean_is_as_good_as_the_whole():
    y = np.arange(0, 5001)
    assert pr_distinct(y, 20_000, 5000).sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("y", "x", "l", "chance"), [(1, 10**9, 1, 1), (2, 10**9, 2, 1), (1, 10**9, 2, 0)])
def test_very_many_records_of_few_values_show_them_all(y, x, l, chance):
    assert pr_distinct(y, x, l) == chance


def test_far_out_rare_events_are_poisson():
    missed = 1e6 * np.exp(2e7 * np.log1p(-1e-6))
    assert pr_distinct(10**6, 2 * 10**7, 10**6) == pytest.approx(np.exp(-missed), rel=1e-6)
    assert pr_distinct(2 * 10**7, 2 * 10**7, 1e15) == pytest.approx(np.exp(-0.2), rel=1e-6)


def test_poissons_law_is_close_to_the_recurrence_where_both_run():
    for y, x, l in ((np.arange(3900, 4001), 4000, 1e6), (np.arange(280, 301), 1600, 300)):
        assert np.abs(pr_distinct(y, x, l) - _poisson_mass(y.astype(float), x, l)).max() < 0.01


@pytest.mark.parametrize(("x", "l"), [(-1, 3), (2, 0), (float("nan"), 3)])
def test_impossible_numbers_are_refused(x, l):
    with pytest.raises(UsageError):
        expected_distinct(x, l)


def test_half_a_record_is_refused():
    with pytest.raises(UsageError, match="whole"):
        pr_distinct(1, 1.5, 3)
