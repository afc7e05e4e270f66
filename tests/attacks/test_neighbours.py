"""Nearest neighbours: exact, ties included, in blocks of every size."""

from __future__ import annotations

import numpy as np
import pytest

from sudare.engine.kernels.groups import group_ids, sort_into_groups
from sudare.engine.kernels.neighbours import SMALL, nearest_rows


def listed(runs, query):
    chosen = runs.set_of[query]
    if chosen < 0:
        return []
    parts = [
        runs.members[runs.starts[r] : runs.stops[r]]
        for r in range(runs.offsets[chosen], runs.offsets[chosen + 1])
    ]
    assert all((np.diff(part) > 0).all() for part in parts)
    assert (
        np.diff([runs.starts[r] for r in range(runs.offsets[chosen], runs.offsets[chosen + 1])]) > 0
    ).all()
    return sorted(np.concatenate(parts).tolist())


def slow(points, block_of, query, block, weights):
    rows = np.flatnonzero(block_of == block)
    if block < 0 or not len(rows):
        return []
    distance = np.zeros(len(rows))
    for d in range(points.shape[1]):
        distance += ((query[d] - points[rows, d]) * weights[d]) ** 2
    return rows[distance == distance.min()].tolist()


@pytest.mark.parametrize("values", [2, 4, 1000])
@pytest.mark.parametrize("dims", [1, 2, 5])
@pytest.mark.parametrize(("rows", "blocks"), [(1, 1), (60, 4), (900, 2), (3 * SMALL, 1)])
def test_nearest_rows_are_those_of_the_full_search(values, dims, rows, blocks):
    random = np.random.default_rng(rows + dims)
    points = random.integers(-values, values, (rows, dims)).astype(float)
    queries = random.integers(-values, values, (80, dims)) + random.choice([0.0, 0.5], (80, dims))
    block_of, asked = random.integers(0, blocks, rows), random.integers(-1, blocks, 80)
    weights = random.choice([1.0, 0.5, 2.0], dims)
    runs = nearest_rows(points, block_of, queries, asked, blocks, weights)
    for query in range(80):
        assert listed(runs, query) == slow(points, block_of, queries[query], asked[query], weights)


def test_minus_zero_is_zero_and_equal_rows_are_one_run():
    points = np.array([[0.0], [-0.0], [5.0], [0.0]] * 10)
    one = np.zeros(40, np.int64)
    runs = nearest_rows(points, one, np.array([[0.0]]), one[:1], 1, np.ones(1))
    assert listed(runs, 0) == [i for i in range(40) if i % 4 != 2]
    assert len(runs.starts) == 1


def test_near_duplicates_are_told_apart():
    points = np.array([[1e9, 1.0], [1e9, 1.0 + 1e-7], [1e9 + 1e-6, 1.0]])
    one = np.zeros(3, np.int64)
    runs = nearest_rows(points, one, points, one, 1, np.ones(2))
    assert [listed(runs, i) for i in range(3)] == [[0], [1], [2]]


def test_a_thousand_equal_rows_cost_no_pairs():
    points = np.repeat(np.array([[0.0], [1.0]]), 20_000, axis=0)
    one = np.zeros(40_000, np.int64)
    runs = nearest_rows(points, one, points, one, 1, np.ones(1))
    assert len(runs.starts) == 40_000
    assert (runs.stops - runs.starts == 20_000).all()


def test_many_queries_run_in_threads_with_the_same_answer():
    random = np.random.default_rng(3)
    points = random.normal(size=(2000, 3))
    queries = np.repeat(points[:500], 90, axis=0) + 1e-4
    one = np.zeros(2000, np.int64)
    runs = nearest_rows(points, one, queries, np.zeros(len(queries), np.int64), 1, np.ones(3))
    assert (runs.members[runs.starts] == np.repeat(np.arange(500), 90)).all()


def test_groups_are_numbered_by_first_row_even_when_codes_overflow():
    random = np.random.default_rng(1)
    wide = random.integers(0, 2**30, (50, 6)).astype(np.int32)
    (first, second), number = group_ids([wide, wide[::-1].copy()])
    assert number == 50
    assert first.tolist() == list(range(50))
    assert second.tolist() == list(range(49, -1, -1))


def test_sorting_into_groups_keeps_row_order_and_leaves_out_what_has_none():
    order, begins = sort_into_groups(np.array([1, -1, 0, 1]), 3)
    assert order.tolist() == [2, 0, 3]
    assert begins.tolist() == [0, 1, 3, 3]
