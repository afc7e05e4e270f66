"""The plan: right counts on every engine, honest estimates, a pilot that says what the method will need."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.charts import svg
from sudare.cli.main import run
from sudare.cost import charts, expected_dummies, expected_dummies_exact
from sudare.cost.clusterings import even_sizes
from sudare.cost.counts import count, sample
from sudare.cost.itemsets import ItemSets
from sudare.cost.optimise import cluster
from sudare.cost.pilot import _share, pilots
from sudare.errors import UsageError

COLUMNS = ["k", "clusters", "expected", "paper_e", "paper_e2", "paper_e3", "pilot", "reid", "score"]


@pytest.fixture(scope="module")
def histories():
    return sudare.open("example:histories:120", user="user")


@pytest.fixture(scope="module")
def planned(histories):
    return sudare.plan(histories, "goods", k=range(2, 9))


def test_counts_are_those_of_the_rows(histories):
    rows = histories.to_pyarrow(["user", "goods"]).to_pylist()
    owners: dict[str, set] = {}
    for row in rows:
        owners.setdefault(row["goods"], set()).add(row["user"])
    counts = count(histories, "goods")
    assert counts.records == len(rows)
    assert counts.users == 120
    assert counts.owners.tolist() == sorted(len(users) for users in owners.values())
    assert counts.frequency.sum() == counts.activity.sum() == len(rows)
    assert counts.everything == sum(120 - len(users) for users in owners.values())


def test_the_columns_are_the_contract(planned):
    assert list(planned.to_frame().columns)[: len(COLUMNS)] == COLUMNS
    assert [row["clusters"] for row in planned.rows] == [120 // k for k in range(2, 9)]


def test_estimates_are_those_of_the_formulas(histories, planned):
    counts, row = count(histories, "goods"), planned.rows[2]
    n, m, l = counts.users, counts.records, counts.values
    assert row["expected"] == pytest.approx(expected_dummies_exact(counts.owners, even_sizes(n, n // 4)))
    assert row["paper_e"] == pytest.approx(float(expected_dummies(n, m, l, k=4)))
    p = counts.frequency / m
    assert row["paper_e3"] == pytest.approx(float(expected_dummies(n, m, l, k=4, p=p, b=counts.activity)))


def test_the_pilot_of_everybody_is_what_the_method_needs(planned, histories, key):
    release = sudare.anonymize(
        histories, sudare.methods.DummyRecords(value="goods", k=4, effort="low"), key=key
    )
    realised = release.steps[0]["details"]["dummies"]
    row = planned.rows[2]
    assert realised <= row["pilot"] * 1.01
    assert row["pilot"] < row["expected"]


def test_a_pilot_on_a_sample_says_what_everybody_needs():
    table = sudare.examples.builtin.histories(1200, records_per_user=15, goods=400)
    ds = sudare.open(table, user="user")
    row = sudare.plan(ds, "goods", k=4).rows[0]
    sets = sample(ds, "goods", 10_000)
    needed = sets.dummies(cluster(sets, 4, effort="low"))
    assert 0.9 * row["pilot_low"] <= needed <= 1.1 * row["pilot_high"]
    assert row["pilot"] == pytest.approx(needed, rel=0.12)


def test_the_interval_of_a_pilot_by_hand(histories):
    """From the sample's share down to its trend, both wider by what the halves differ in; too few have no pilot."""
    sets = sample(histories, "goods", 40)
    parts = (sets, sets.take(np.arange(0, 40, 2)), sets.take(np.arange(1, 40, 2)))
    whole, first, second = (_share(part, 2) for part in parts)
    trend = min(0.0, whole - (first + second) / 2) * 3  # eight times as many: three doublings
    assert trend < 0
    (found,) = pilots(sets, 320, [(2, 1000.0)])
    assert found is not None
    assert (found.dummies, found.low, found.high) == pytest.approx(
        (
            1000 * (whole + max(trend / 2, -whole / 2)),
            1000 * max(0.0, whole + trend - abs(first - second)),
            1000 * (whole + abs(first - second)),
        )
    )
    assert pilots(sets, 320, [(11, 1000.0)]) == [None]
    assert pilots(sets, 320, [(10, 1000.0)]) != [None]


def test_the_best_row_has_the_smallest_score_and_a_reason(planned):
    assert planned.best["score"] == min(row["score"] for row in planned.rows)
    assert f"k={planned.best['k']}" in planned.reason
    assert planned.notes[0] == planned.reason


def test_planning_by_clusters(histories):
    by_clusters = sudare.plan(histories, "goods", clusters=[40, 60], pilot=False)
    assert [(row["k"], row["clusters"]) for row in by_clusters.rows] == [(3, 40), (2, 60)]
    assert by_clusters.rows[0]["pilot"] is None


def test_the_pilot_of_larger_clusters_costs_more_than_that_of_k(histories):
    rows = sudare.plan(histories, "goods", clusters=[40, 31]).rows
    assert [row["k"] for row in rows] == [3, 3]
    assert rows[1]["pilot"] / rows[1]["expected"] == pytest.approx(
        rows[0]["pilot"] / rows[0]["expected"], rel=1e-3
    )


def test_numpy_numbers_are_whole_numbers(histories):
    wanted = np.arange(2, 4)
    rows = sudare.plan(histories, "goods", k=wanted, pilot=False).rows
    assert rows == sudare.plan(histories, "goods", k=[2, 3], pilot=False).rows
    assert sudare.plan(histories, "goods", k=wanted[0], pilot=False).rows == rows[:1]


def test_rows_in_another_order_give_the_same_plan(histories, planned):
    table = histories.to_pyarrow()
    mixed = sudare.open(table.take(np.random.default_rng(0).permutation(table.num_rows)), user="user")
    assert sudare.plan(mixed, "goods", k=range(2, 9)).rows == planned.rows


def test_a_missing_value_is_a_value_of_its_own():
    table = pa.table({"user": ["a", "a", "b", "c"], "goods": ["x", None, None, "x"]})
    assert count(sudare.open(table, user="user"), "goods").owners.tolist() == [2, 2]


def test_k_1_costs_nothing(histories):
    row = sudare.plan(histories, "goods", k=1).rows[0]
    assert row["expected"] == pytest.approx(0, abs=1e-6)
    assert row["pilot"] == 0
    assert row["reid"] == 1


def test_the_default_k_stops_at_the_number_of_users():
    small = sudare.open("example:purchases", user="user")
    assert [row["k"] for row in sudare.plan(small, "goods").rows] == [2, 3]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"k": 500}, "larger than the number of users"),
        ({"k": 0}, "at least 1"),
        ({"k": []}, "whole numbers"),
        ({"clusters": 0}, "clusters"),
        ({"value": "godos"}, "did you mean 'goods'"),
    ],
)
def test_wrong_calls_are_refused(histories, wrong, words):
    with pytest.raises(UsageError, match=words):
        sudare.plan(histories, **{"value": "goods", "pilot": False, **wrong})


def test_a_table_without_users_cannot_be_planned():
    with pytest.raises(UsageError, match="user="):
        sudare.plan(sudare.open("example:patients"), "disease")


def test_the_command_prints_the_same(planned, capsys):
    assert run("plan example:histories:120 --user user --value goods -k 2..8 --format json".split()) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == planned.to_dict()["rows"]


def test_the_command_plans_randomized_addition_too(capsys):
    assert run("plan example:patients --value disease --l 2..3 --format json".split()) == 0
    assert {row["l"] for row in json.loads(capsys.readouterr().out)["rows"]} == {2, 3}


@pytest.mark.parametrize("options", ["--value goods -k 2 --l 2", "--value goods -k 2 --clusters 3", "-k 2"])
def test_options_that_do_not_belong_together(options, capsys):
    assert run(["plan", "example:purchases", "--user", "user", *options.split()]) == 2
    assert capsys.readouterr().err.startswith("error: plan")


def test_every_chart_can_be_drawn(planned):
    drawn = [
        planned.chart(),
        charts.cost_against_k(planned, {4: 3000}),
        charts.distinct_values(),
        charts.records_needed(),
        charts.expected_values(),
        charts.cost_against_users(),
        charts.cost_against_records(),
        charts.cost_against_clusters(),
        charts.paper_cost_against_k(),
        charts.comprehensive_evaluation(),
    ]
    assert all("title" in chart.to_dict() for chart in drawn)  # the schema is checked on the way
    assert "<svg" in svg(planned.chart())


def test_the_expected_cost_is_the_mean_of_random_clusters(histories):
    sets: ItemSets = sample(histories, "goods", 10_000)
    draw, labels = np.random.default_rng(0), np.arange(120) // 4
    costs = [sets.dummies(draw.permutation(labels)) for _ in range(60)]
    assert expected_dummies_exact(sets.owners, [4] * 30) == pytest.approx(np.mean(costs), rel=0.01)
