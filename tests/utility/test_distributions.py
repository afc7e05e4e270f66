"""Distances of distributions, the price of recoding, and what learners see."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare import utility as u
from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.engine.moments import correlations
from sudare.methods import Mondrian, Noise, Swap
from sudare.utility.formulas import quantile_bins, total_variation


def dataset(roles=None, **columns):
    return Dataset.from_arrow(pa.table(columns), roles or Roles.of(quasi=list(columns)))


def value(original, release, metric):
    return sudare.utility(original, release, [metric]).rows[0]["value"]


def test_total_variation_is_half_the_sum_of_differences():
    first, second = dataset(q=["a", "a", "b", "c"]), dataset(q=["a", "b", "b", "d"])
    assert value(first, second, u.MarginalDistance()) == pytest.approx((1 / 4 + 1 / 4 + 1 / 4 + 1 / 4) / 2)


def test_pairs_see_what_single_columns_do_not():
    first, second = (
        dataset(q=["a", "a", "b", "b"], r=["x", "x", "y", "y"]),
        dataset(q=["a", "a", "b", "b"], r=["x", "y", "x", "y"]),
    )
    assert value(first, second, u.MarginalDistance()) == 0
    assert value(first, second, u.PairwiseDistance()) == pytest.approx(0.5)


def test_shifts_are_in_standard_deviations():
    x = np.arange(100.0)
    first, second = dataset(s=x), dataset(s=x + 2 * x.std())
    assert value(first, second, u.MeanShift()) == pytest.approx(2)
    assert value(first, second, u.QuantileShift()) == pytest.approx(2)
    assert value(dataset(s=[1, 1]), dataset(s=[1, 1]), u.MeanShift()) == 0
    assert value(dataset(s=[1, 1]), dataset(s=[2, 2]), u.MeanShift()) is None


def test_the_largest_change_of_a_correlation_is_named():
    x = np.arange(50.0)
    first, second = dataset(a=x, b=x, c=x % 7), dataset(a=x, b=-x, c=x % 7)
    found = sudare.utility(first, second, [u.CorrelationShift()]).rows[0]
    assert found["value"] == pytest.approx(2)
    assert found["detail"] == "between a and b"


def test_certainty_penalty_of_intervals_sets_stars_and_labels():
    original = dataset(age=[20, 30, 40, 60], job=["a", "b", "c", "d"], zip=["11", "12", "21", "22"])
    release = dataset(
        age=["[20-30]", "20-30", "40", "*"],  # without brackets in other tools' hierarchies
        job=["{a, b}", "{a, b}", "Other", "d"],
        zip=["1*", "1*", "2*", "**"],
    )
    by_column = [value(original, release, u.CertaintyPenalty(columns=(c,))) for c in ("age", "job", "zip")]
    assert by_column[0] == pytest.approx((0.25 + 0.25 + 0 + 1) / 4)
    assert by_column[1] == pytest.approx((1 / 3 + 1 / 3 + 1 + 0) / 4)
    assert by_column[2] == pytest.approx((1 / 3 + 1 / 3 + 1 / 3 + 1) / 4)


def test_certainty_penalty_agrees_with_what_a_method_reports(key):
    random = np.random.default_rng(0)
    ds = dataset(a=random.integers(0, 50, 300), b=random.choice(list("uvwxyz"), 300))
    release = sudare.anonymize(ds, Mondrian(k=5), key=key)
    assert value(ds, release, u.CertaintyPenalty()) == pytest.approx(release.steps[0]["details"]["ncp"])


def test_discernibility_is_the_mean_size_of_a_rows_class():
    original = dataset(q=["a"] * 6, r=["b"] * 6)
    release = dataset(q=["a", "a", "b", "*", "*", "c"], r=["x", "x", "x", "*", "*", "*"])
    assert value(original, release, u.Discernibility()) == pytest.approx((4 + 1 + 2 * 6 + 1) / 6)


def test_learners_see_noise(key):
    random = np.random.default_rng(1)
    a, b = random.normal(size=600), random.normal(size=600)
    ds = dataset(
        Roles.of(quasi=["a", "b"], sensitive=["s"]), a=a, b=b, s=a + b + 0.1 * random.normal(size=600)
    )
    near = sudare.anonymize(ds, Noise(sd=0.01), key=key)
    far = sudare.anonymize(ds, Swap(by=[]), key=key)
    assert value(ds, near, u.TrainOnRelease()) < 0.1
    assert value(ds, far, u.TrainOnRelease()) > 0.5
    moved = dataset(ds.roles, a=a + 3, b=b, s=a)
    assert value(ds, moved, u.Propensity()) > 20 * value(ds, near, u.Propensity())


def test_a_word_may_be_predicted_too():
    random = np.random.default_rng(1)
    q = random.integers(0, 4, 400)
    ds = dataset(Roles.of(quasi=["q"], sensitive=["s"]), q=q, s=np.where(q > 1, "high", "low"))
    found = sudare.utility(ds, ds, [u.TrainOnRelease()], truth=np.arange(400)).rows[0]
    assert found["value"] == pytest.approx(0, abs=0.01)
    assert "s: 1.000 from the original" in found["detail"]


def test_a_learner_is_not_asked_about_rows_it_may_have_seen():
    random = np.random.default_rng(1)
    ds = dataset(Roles.of(quasi=["q"], sensitive=["s"]), q=random.normal(size=99), s=random.normal(size=99))
    assert sudare.utility(ds, ds, [u.TrainOnRelease()]).rows[0]["value"] is None


def test_formulas_at_their_edges():
    assert total_variation(np.array([1, 0]), np.array([0, 1])) == 1
    assert quantile_bins(np.array([np.nan]), 4).tolist() == []
    assert quantile_bins(np.array([1.0] * 9 + [2.0]), 4).tolist() == []
    constant = np.column_stack([np.full(5, 1e9), np.arange(5.0)])
    assert correlations(constant)[0, 1] == 0
