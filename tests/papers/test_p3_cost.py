"""P3: every number its text and figures print, from the formulas alone."""

from __future__ import annotations

import numpy as np
import pytest

import sudare
from sudare.cost import (
    best_clusters,
    best_k,
    dummies,
    expected_distinct,
    expected_dummies,
    normaliser,
    pr_distinct,
    score,
)


def test_figure_3_has_its_maximum_at_40_of_50_records():
    chances = pr_distinct(np.arange(0, 51), 50, 100)
    assert np.argmax(chances) == 40
    assert round(float(chances[40]), 3) == 0.168
    assert float(chances[40]) == pytest.approx(0.16754, abs=5e-6)  # the alternating sum says .16833


def test_figure_4_has_its_maximum_at_28_records():
    chances = pr_distinct(25, np.arange(0, 200), 100)
    assert np.argmax(chances) == 28
    assert round(float(chances[28]), 3) == 0.250


def test_figure_5_at_100_records():
    assert round(float(expected_distinct(100, 100)), 2) == 63.40


def test_figure_6_at_400_users():
    assert int(expected_dummies(400, 10_000, 100, c=20)) == 30_850


def test_figure_7_has_its_maximum_at_63037_records():
    m = np.arange(50_000, 80_000)
    cost = expected_dummies(400, m, 1_000, c=20)
    assert m[np.argmax(cost)] == 63_037
    assert round(float(cost.max())) == 324_570


def test_figure_8_falls_as_clusters_are_added():
    assert (np.diff(expected_dummies(400, 10_000, 300, c=np.arange(1, 401))) < 0).all()


def test_figure_9_rises_with_k():
    assert (np.diff(expected_dummies(400, 38_000, 2_700, k=np.arange(1, 201))) > 0).all()


def test_figure_10_is_smallest_at_69_clusters():
    assert best_clusters(400, 38_000, 2_700) == 69
    assert round(1 / normaliser(400, 38_000, 2_700)) == 1_042_653
    assert 400 // 69 == 5


def test_the_whole_k_searched_directly_is_6():
    assert best_k(400, 38_000, 2_700) == 6
    assert round(float(score(400, 38_000, 2_700, 400 // 6)), 4) == 0.3281
    assert round(float(score(400, 38_000, 2_700, 400 // 5)), 4) == 0.3313


@pytest.mark.parametrize(("k", "printed"), [(2, 36_188), (3, 71_158), (4, 104_950), (8, 229_122)])
def test_table_2_first_estimate(k, printed):
    assert int(expected_dummies(400, 38_087, 2_781, k=k)) == printed


def test_example_4():
    assert dummies([["Apple"], ["Apple", "Book"], ["Book"]], [[0, 1, 2]]) == 2


def test_example_3_published(key):
    import pyarrow as pa

    bought = {"user": ["Alice", "Bob", "Bob", "Carol"], "goods": ["Apple", "Apple", "Book", "Book"]}
    ds = sudare.open(pa.table(bought), user="user")
    release = sudare.anonymize(ds, sudare.methods.DummyRecords(value="goods", k=3), key=key)
    rows = {(row["user"], row["goods"]) for row in release.data.to_pyarrow().to_pylist()}
    assert len(rows) == release.data.rows == 6
    assert release.truth.count(None) == 2
