"""Sums are exact: the same in any order, and what fractions say."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sudare.engine.sums import cell_sums, column_sums, exact_sum, products

# squares of numbers below 1e-60 are no floats
numbers = st.floats(-1e6, 1e6).map(lambda x: x if abs(x) > 1e-60 else 0.0)
tables = arrays(np.float64, st.tuples(st.integers(1, 40), st.integers(1, 3)), elements=numbers)


@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_digit(points: np.ndarray, rng: Random) -> None:
    order = list(range(len(points)))
    rng.shuffle(order)
    turned = points[order]
    assert column_sums(points).tolist() == column_sums(turned).tolist()
    assert products(points).tolist() == products(turned).tolist()
    cell = np.arange(len(points)) % 3
    here, there = cell_sums(cell, points[:, 0], 3), cell_sums(cell[order], turned[:, 0], 3)
    assert here.tolist() == there.tolist()


@given(tables)
def test_sums_are_what_fractions_say(points: np.ndarray) -> None:
    columns = [[Fraction(float(x)) for x in column] for column in points.T]
    scale = float(np.abs(points).max()) or 1.0
    for found, column in zip(column_sums(points), columns):
        assert abs(Fraction(float(found)) - sum(column)) <= Fraction(scale) * len(column) / 2**52
    for i, line in enumerate(products(points)):
        for j, found in enumerate(line):
            exact = sum(x * y for x, y in zip(columns[i], columns[j]))
            assert abs(Fraction(float(found)) - exact) <= Fraction(scale) ** 2 * len(points) / 2**52


def test_rows_beyond_one_block_count() -> None:
    rng = np.random.default_rng(4)
    points = rng.lognormal(3, 2, (30_000, 3))
    order = rng.permutation(len(points))
    assert column_sums(points).tolist() == column_sums(points[order]).tolist()
    assert products(points).tolist() == products(points[order]).tolist()
    assert np.allclose(column_sums(points), points.sum(axis=0), rtol=1e-13)
    assert np.allclose(products(points), points.T @ points, rtol=1e-12)


def test_small_numbers_beside_huge_ones_are_kept() -> None:
    """A cell of thousandths does not lose them to a cell of 10^30 elsewhere."""
    values = np.array([1e30, 0.001, 0.002])
    assert np.isclose(cell_sums(np.array([0, 1, 1]), values, 2)[1], 0.003, rtol=1e-15)
    assert exact_sum(np.array([])) == 0.0
