"""What is left of the risk after a recipe is the same wherever the tables live, and no row is fetched for it."""

from __future__ import annotations

import pytest

import sudare
from sudare import methods
from sudare.engine.spark import after
from sudare.errors import UsageError

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning")]

ROLES = {"user": "customer", "quasi": ["shop", "count"], "sensitive": ["goods", "price"], "other": ["day"]}
# what each recipe changes, alone and with something it does not change
RECIPES = {
    "recoded": (
        ["day", "shop+price"],
        [methods.Generalize(column="day"), methods.Round(column="price", to=5)],
    ),
    "sets": (["goods", "goods+count"], [methods.RandomizedAddition(l=5, column="goods")]),
    "moved": (
        ["goods", "count+day"],
        [methods.DeleteRecords(share=0.2), methods.Swap(), methods.Noise(sd=0.1, columns=["count"])],
    ),
    "dummies": (["shop+price"], [methods.DummyRecords(value="shop", k=3, effort="low")]),
    "intervals": (["count+day", "shop"], [methods.Mondrian(k=7, columns=["count", "day", "shop"])]),
}


def left(ds, release, asked):
    found = sudare.risk(ds, attributes=asked, release=release)
    return {"+".join(row["attributes"]): dict(row) for row in found.rows}, sorted(found.notes)


@pytest.mark.parametrize(("asked", "recipe"), RECIPES.values(), ids=RECIPES.keys())
def test_the_risk_left_is_equal(on_spark, on_duckdb, purchases, key, same, asked, recipe, monkeypatch):
    there, here = (place(purchases, **ROLES) for place in (on_spark, on_duckdb))
    expected = left(here, sudare.anonymize(here, recipe, key=key), asked)
    release = sudare.anonymize(there, recipe, key=key)
    monkeypatch.setenv("SUDARE_FETCH_ROWS", "10")
    same(left(there, release, asked), expected)
    assert "rows" not in vars(release), "the truth did not come to this process"


@pytest.mark.parametrize("recipe", ["recoded", "dummies", "intervals"])
def test_known_records_are_equal_before_and_after(on_spark, on_duckdb, purchases, key, same, recipe):
    asked, steps = RECIPES[recipe]
    found = []
    for place in (on_spark, on_duckdb):
        ds = place(purchases, **ROLES)
        release = sudare.anonymize(ds, steps, key=key)
        rows = sudare.risk(ds, attributes=asked, known=[1, 2, 3], release=release).rows
        day = sudare.risk(ds, attributes="day+goods", known=[2], channel={"day": ["exact", "month"]}).rows
        found.append([dict(row) for row in (*rows, *day)])
    same(*found)


def test_without_users_every_record_is_a_person(on_spark, on_duckdb, purchases, key, same):
    roles = {"quasi": ["shop", "count"], "sensitive": ["goods", "price"], "other": ["day", "customer"]}
    found = []
    for place in (on_spark, on_duckdb):
        ds = place(purchases, **roles)
        release = sudare.anonymize(ds, methods.Generalize(column="day"), key=key)
        found.append(left(ds, release, ["day", "goods"]))
    same(*found)


def test_too_many_values_are_refused_with_the_way_out(on_spark, purchases, key, monkeypatch):
    ds = on_spark(purchases, **ROLES)
    release = sudare.anonymize(ds, methods.Generalize(column="day"), key=key)
    monkeypatch.setattr(after, "MOST_VALUES", 5)
    with pytest.raises(UsageError, match=r"goods: has more than 5 values.*sample with DuckDB"):
        sudare.risk(ds, attributes="goods", release=release)
