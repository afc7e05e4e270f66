"""The posterior audit: what 1/l does not promise."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.charts import svg
from sudare.data import Dataset, Roles
from sudare.engine.kernels.randomized import draw_sets
from sudare.engine.rows import Draft
from sudare.errors import UsageError
from sudare.estimate.charts import estimate_chart
from sudare.estimate.plan import plan_l
from sudare.estimate.posterior import best_guess, closeness_l, common_values, disclosed_after, posterior
from sudare.keys import Key
from sudare.methods.plugins.anatomy import Anatomy
from sudare.methods.plugins.randomized import RandomizedAddition

KEY = Key.demo(1)


def people(rows: int = 4000) -> Dataset:
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], rows)
    disease = np.where(
        sex == "F", rng.choice(list("abcd"), rows, p=[0.7, 0.1, 0.1, 0.1]), rng.choice(list("bcd"), rows)
    )
    table = pa.table({"sex": sex, "zip": np.arange(rows) // 2, "disease": disease})
    return Dataset.from_arrow(table, Roles.of(quasi=["sex", "zip"], sensitive="disease"))


def publish(dataset: Dataset, method: object) -> Dataset:
    draft = method.apply(Draft.of(dataset, KEY), KEY)  # type: ignore[attr-defined]
    data = Dataset.from_arrow(draft.table, draft.roles)
    return dataclasses.replace(data, published={"schema": draft.schema})


@pytest.fixture(scope="module")
def audited():
    dataset = people()
    release = publish(dataset, RandomizedAddition(l=2))
    return posterior(release, dataset, given="sex", truth=range(dataset.rows))


def test_an_attacker_who_knows_nothing_gets_the_claimed_share(audited):
    row = audited.rows[0]
    assert row["attacker"] == "nothing"
    assert row["claimed"] == row["expected"] == row["success"] == 0.5


def test_knowledge_of_the_distribution_beats_the_claim(audited):
    nothing, overall, given = (row["success"] for row in audited.rows[:3])
    assert nothing < overall < given
    assert audited.rows[2]["attacker"] == "given sex"


def test_the_expected_success_is_near_the_measured_one(audited):
    for row in audited.rows[:3]:
        assert row["expected"] == pytest.approx(row["success"], abs=0.02)


def test_without_the_original_success_is_unknown():
    result = posterior(publish(people(300), RandomizedAddition(l=2)))
    assert all(row["success"] is None for row in result.rows)


def test_ties_of_the_best_guess_share_the_success():
    sets = np.array([[0, 1, 2]])
    sure, right = best_guess(sets, np.array([[0.4, 0.4, 0.2]]), np.array([0]), np.array([1]))
    assert sure == pytest.approx([0.4])
    assert right == pytest.approx([0.5])


@pytest.mark.parametrize(("size", "l", "releases"), [(50, 10, 3), (50, 10, 5), (6, 2, 2)])
def test_fresh_draws_disclose_as_predicted(size, l, releases):
    rng, rows = np.random.default_rng(2), 20_000
    truth = rng.integers(0, size, rows)
    alone = np.ones((rows, size), bool)
    for _ in range(releases):
        words = rng.integers(0, 2**64, (rows, 2), dtype=np.uint64)
        member = np.zeros((rows, size), bool)
        np.put_along_axis(member, draw_sets(truth, words, size, l).astype(np.int64), True, axis=1)
        alone &= member
    assert (alone.sum(axis=1) == 1).mean() == pytest.approx(disclosed_after(size, l, releases), abs=0.012)


def test_a_homogeneous_group_gives_its_value_away():
    table = pa.table({"zip": [i // 40 for i in range(400)], "s": [f"v{i // 40}" for i in range(400)]})
    dataset = Dataset.from_arrow(table, Roles.of(quasi="zip", sensitive="s"))
    result = posterior(publish(dataset, RandomizedAddition(l=5)), dataset, truth=range(400))
    row = result.rows[-1]
    assert row["attacker"].startswith("equal quasi-identifiers")
    assert row["success"] == 1


def test_common_values_of_a_class_hold_the_truth_of_a_homogeneous_one():
    sets = np.array([[0, 1, 2], [0, 2, 3], [1, 2, 3]])
    assert common_values(sets, np.zeros(3, np.int64), 4).tolist() == [[False, False, True, False]]


def test_closeness_needs_the_rarest_values_to_hold_enough():
    shares = np.array([0.5, 0.2, 0.2, 0.1])
    for t in (0.1, 0.5, 0.75, 0.95):
        l = closeness_l(shares, t)
        assert np.sort(shares)[:l].sum() >= 1 - t - 1e-9
        assert l == 1 or np.sort(shares)[: l - 1].sum() < 1 - t


def test_other_forms_and_a_wrong_truth_are_refused():
    dataset = people(300)
    with pytest.raises(UsageError, match="published by anatomy"):
        posterior(publish(dataset, Anatomy(l=2)))
    with pytest.raises(UsageError, match="truth"):
        posterior(publish(dataset, RandomizedAddition(l=2)), dataset, truth=[0, 1])


def test_the_plan_says_the_error_bars_a_recipient_will_see():
    dataset = people()
    plan = plan_l(dataset, by="sex", l=range(2, 6))
    assert [row["l"] for row in plan.rows] == [2, 3, 2, 3]
    assert "l = 4, 5 left out" in plan.notes[0]
    result = sudare.estimate(publish(dataset, RandomizedAddition(l=2)), by="sex")
    widest = max(row["stderr"] for row in result.rows if row["sex"] == "F")
    assert widest == pytest.approx(plan.rows[0]["stderr"], rel=0.1)
    assert result.expected_mse == pytest.approx(
        np.mean([r["expected_mse"] for r in plan.rows if r["l"] == 2])
    )
    with pytest.raises(UsageError, match="from 2 to 3"):
        plan_l(dataset, l=[7])
    with pytest.raises(UsageError, match="appears twice"):
        plan_l(dataset, by=["zip", "zip:10"])


def test_charts_render(audited):
    dataset = people()
    release = publish(dataset, RandomizedAddition(l=2))
    result = sudare.estimate(release, by="sex")
    truth = [{"sex": "F", "value": "a", "share": 0.7}]
    for chart in (
        audited.chart(),
        result.chart(),
        sudare.estimate(release).chart(),
        estimate_chart(result, truth),
        plan_l(dataset, by="sex").chart(),
    ):
        assert "<svg" in svg(chart)
