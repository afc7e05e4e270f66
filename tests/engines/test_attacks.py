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


def test_attacks_that_need_all_rows_are_refused_by_name_and_left_out_by_default(releases):
    (ds, release), _ = releases
    with pytest.raises(
        UsageError, match=r"euclid\(fallback\): compares with all rows and cannot run on Spark"
    ):
        sudare.attack(ds, release, attacks.Euclid(fallback=True))
    result = sudare.attack(ds, release)
    assert [row["attack"] for row in result.rows] == ["identify-rand", "identify-sa", "euclid"]
    assert "euclid(fallback)" in result.notes[0]
