"""Sums without rounding: the same whole from any parts, equal to fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.engine import exact
from sudare.engine.exact import Moments

SIZES = (
    st.floats(1e-100, 1e200)
    | st.floats(-1e200, -1e-100)
    | st.just(0.0)
    | st.integers(-(2**53), 2**53).map(float)
)


@given(st.lists(SIZES, max_size=40), st.integers(0, 40))
def test_parts_add_up_to_the_exact_sum_and_sum_of_squares(values, cut):
    array = np.array(values, np.float64)
    found = Moments.of(array[:cut]) + Moments.of(array[cut:])
    assert found.number == len(values)
    assert found.total == sum(map(Fraction, values), Fraction(0))
    assert found.squares == sum((Fraction(v) ** 2 for v in values), Fraction(0))


@given(st.lists(st.floats(-1e150, 1e150), min_size=1, max_size=40), st.randoms())
def test_the_spread_is_the_rounded_true_one_in_any_order(values, random):
    mean = sum(map(Fraction, values)) / len(values)
    variance = sum((Fraction(v) - mean) ** 2 for v in values) / len(values)
    shuffled = random.sample(values, len(values))
    found = Moments.of(np.array(values)).spread
    assert found == Moments.of(np.array(shuffled)).spread
    if variance > Fraction(10) ** -200:
        assert abs(Fraction(found) ** 2 / variance - 1) < Fraction(1, 10**14)


def test_a_large_mean_leaves_no_rounding_in_the_spread():
    assert Moments.of(np.array([1e9, 1e9 + 1, 1e9 + 2] * 1000)).spread == pytest.approx(
        math.sqrt(2 / 3), rel=1e-15
    )


def test_missing_cells_do_not_count_and_many_rows_are_cut_into_parts(monkeypatch):
    monkeypatch.setattr(exact, "ROWS", 3)
    assert Moments.of(np.array([1.0, np.nan, 2.0, 3.0, 4.0, np.nan, 5.0])) == Moments(
        5, Fraction(15), Fraction(55)
    )
    assert Moments.of(np.array([np.nan])).spread == 0.0
