"""An attack finds the same people wherever the tables live."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare import attacks, methods
from sudare.errors import UsageError

pytestmark = pytest.mark.spark
ROLES = {"quasi": ["sex", "age"], "sensitive": ["income", "rent"]}


@pytest.fixture(scope="module")
def people() -> pa.Table:
    draw, rows = np.random.default_rng(5), 2000
    income = np.round(draw.lognormal(5, 0.5, rows), 1)
    return pa.table(
        {
            "sex": draw.choice(["f", "m"], rows),
            "age": pa.array(draw.integers(20, 60, rows), mask=draw.random(rows) < 0.03),
            "income": pa.array(income, mask=draw.random(rows) < 0.03),
            "rent": np.round(income / 3 + draw.normal(0, 5, rows)),
        }
    )


@pytest.fixture(scope="module")
def releases(on_spark, on_duckdb, people, key):
    recipe = [
        methods.Noise(sd=0.05),
        methods.Generalize(column="age", level=1, hierarchy={"intervals": [5, 10]}),
    ]
    recipe = [recipe[0], methods.Round(column="age", to=2), methods.DeleteRecords(share=0.1)]
    found = []
    for place in (on_spark, on_duckdb):
        ds = place(people, **ROLES)
        found.append((ds, sudare.anonymize(ds, recipe, key=key)))
    return found


@pytest.mark.parametrize("ties", ["expected", "first", "fail"])
def test_rates_are_equal(releases, same, ties):
    battery = [attacks.IdentifyRand(), attacks.IdentifySa(), attacks.Euclid()]
    found, expected = (sudare.attack(ds, release, battery, ties=ties) for ds, release in releases)
    without_time = [[{**row, "seconds": 0} for row in result.rows] for result in (found, expected)]
    same(*without_time)
    same(found.tied, expected.tied)
    same(found.from_ties, expected.from_ties)


def test_every_attack_that_can_run_there_finds_the_same_people(releases, same):
    (ds, release), (here, expected) = releases
    result = sudare.attack(ds, release)
    names = [row["attack"] for row in result.rows]
    assert names[:3] == ["identify-rand", "identify-sa", "identify-sa21"]
    assert {"euclid", "euclid(fallback)", "standardized-euclid(fallback)", "gower"} <= set(names)
    known = {row["attack"]: row for row in sudare.attack(here, expected).rows}
    same([{**row, "seconds": 0} for row in result.rows], [{**known[name], "seconds": 0} for name in names])
    assert set(known) - set(names) == {name for name, _ in result.skipped} != set()
    assert result.to_dict()["skipped"] == [list(entry) for entry in result.skipped]


def test_attacks_that_need_all_rows_are_refused_by_name_and_left_out_by_default(releases):
    (ds, release), _ = releases
    with pytest.raises(UsageError, match=r"rank-distance: compares with all rows and cannot run on Spark"):
        sudare.attack(ds, release, attacks.RankDistance())
    result = sudare.attack(ds, release)
    assert "rank-distance(fallback)" in result.notes[0]


def test_many_rows_are_drawn_and_the_result_says_so(releases, monkeypatch):
    """A sample of rows estimates the rate within an interval as wide as a sample of that size allows."""
    (ds, release), (here, expected) = releases
    monkeypatch.setattr("sudare.attacks.matching.DRAWN", 300)
    lonely = attacks.IdentifySa(quasi=("sex", "age", "rent"))
    battery = [lonely, attacks.IdentifySa21(), attacks.Gower()]
    result = sudare.attack(ds, release, battery)
    assert "identify-sa21: estimated from 300 of 1,800 rows." in result.notes
    assert any("rent): estimated from 300 of " in note for note in result.notes)
    for found, known in zip(result.rows, sudare.attack(here, expected, battery).rows):
        assert found["low"] <= known["rate"] <= found["high"]
        assert found["high"] - found["low"] > known["high"] - known["low"]
    assert [row["rate"] for row in sudare.attack(ds, release, battery).rows] == [
        row["rate"] for row in result.rows
    ]


def test_a_truth_of_another_original_is_refused(releases):
    (ds, release), _ = releases
    wrong = [10**9, *release.truth[1:]]
    with pytest.raises(UsageError, match="truth names rows that the original does not have"):
        sudare.attack(ds, release.data, truth=wrong)
