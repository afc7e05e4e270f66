"""A recipe gives the same release wherever the table lives."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sudare
from sudare import methods
from sudare.errors import UsageError

ROLES = {"user": "customer", "quasi": ["shop", "count"], "sensitive": ["goods", "price"], "other": ["day"]}


def doubled(purchases):
    """Invented purchases, some records equal."""
    return pa.concat_tables([purchases, purchases.slice(0, 200), purchases.slice(0, 50)])


@pytest.fixture(scope="module")
def local(on_duckdb, purchases):
    return on_duckdb(doubled(purchases), **ROLES)


@pytest.fixture(scope="module")
def both(on_spark, local, purchases):
    """The same purchases on Spark (in three parts) and on DuckDB."""
    return on_spark(doubled(purchases), **ROLES), local


def as_dict(release):
    """A release with everything about it that does not depend on the engine."""
    table = release.data.to_pyarrow()
    return {
        "cells": {name: table[name].to_pylist() for name in table.column_names},
        "truth": release.truth,
        "roles": release.data.roles.to_dict(),
        "schema": release.schema,
        "steps": [{**step, "details": dict(step["details"])} for step in release.steps],
    }


RECIPES = {
    "pseudonyms": [methods.Pseudonymize()],
    "randomized addition": [methods.RandomizedAddition(l=5, column="goods")],
    "noise and rounding": [
        methods.Noise(sd=0.1, columns=["price", "count"]),
        methods.Round(column="price", to=0.5),
    ],
    "noise twice": [methods.Noise(sd=0.1, columns=["price"]), methods.Noise(sd=0.1, columns=["price"])],
    "generalize, unify": [
        methods.Generalize(column="day"),
        methods.Unify(column="shop"),
        methods.Unify(column="count", value=3),
    ],
    "delete and swap": [methods.DeleteRecords(share=0.2), methods.Swap()],
    "average": [methods.Average(columns=["price"], by=["shop", "count"])],
    "dummy records": [methods.DummyRecords(value="shop", k=3, effort="low")],
    "mondrian": [methods.Mondrian(k=7, columns=["count", "day", "shop"])],
    "top coding by mean": [methods.TopBottomCode(column="price", share=0.1, replacement="mean")],
    "top coding by median": [methods.TopBottomCode(column="price", share=0.1, replacement="median")],
    "small classes, then two steps in the same groups": [
        methods.SuppressRecords(k=3),
        methods.Swap(columns=["goods"]),
        methods.Average(columns=["price"]),
    ],
    "everything in a row": [
        methods.Pseudonymize(),
        methods.Generalize(column="day"),
        methods.Round(column="price", to=0.5),
        methods.Noise(sd=0.2, columns=["price"]),
        methods.RandomizedAddition(l=3, column="goods"),
    ],
}


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning")
@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES.keys())
def test_the_release_is_the_same_row_by_row(both, same, key, recipe):
    there, here = both
    same(*(as_dict(sudare.anonymize(ds, recipe, key=key)) for ds in (there, here)))


@pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning")
@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES.keys())
def test_a_table_larger_than_memory_gives_the_same_release(local, same, key, recipe, monkeypatch):
    expected = as_dict(sudare.anonymize(local, recipe, key=key))
    monkeypatch.setattr("sudare.engine.duckdb.rows.fits", lambda ds: False)
    for module in ("store", "ids"):
        monkeypatch.setattr(f"sudare.engine.duckdb.{module}.BATCH_ROWS", 2048)
    same(as_dict(sudare.anonymize(local, recipe, key=key)), expected)


def test_what_does_not_fit_into_memory_says_so_at_once_and_names_another_way(local, key, monkeypatch):
    monkeypatch.setattr("sudare.data.connection.memory_limit", lambda: 0)
    with pytest.raises(UsageError) as refused:
        sudare.anonymize(local, [methods.Round(column="price", to=1), methods.RankSwap(p=5)], key=key)
    assert "rank-swap needs all rows in one place, about 0.0 GB" in str(refused.value)
    assert "use swap within groups instead" in str(refused.value)


@pytest.mark.spark
def test_records_known_by_an_identifier_get_the_same_draws(on_spark, on_duckdb, same, key):
    table = pa.table({"name": [f"n{n}" for n in range(500)], "ill": [f"d{n % 9}" for n in range(500)]})
    roles = {"identifier": ["name"], "sensitive": ["ill"]}
    found, expected = (
        sudare.anonymize(place(table, **roles), methods.RandomizedAddition(l=3), key=key)
        for place in (on_spark, on_duckdb)
    )
    same(as_dict(found), as_dict(expected))


RECORDS = pa.table(
    {
        "who": [f"p{n % 90}" for n in range(500)],
        "visit": [n // 90 for n in range(495)] + [0] * 5,  # five visits have the number of another
        "ward": [n % 7 for n in range(500)],
        "ill": [f"d{n % 9}" for n in range(500)],
    }
)
RECORD_ROLES = {"user": "who", "record": ["visit"], "quasi": ["ward"], "sensitive": ["ill"]}


def _visits(open_there, key):
    return as_dict(
        sudare.anonymize(open_there(RECORDS, **RECORD_ROLES), methods.RandomizedAddition(l=3), key=key)
    )


@pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning")
def test_declared_records_get_the_same_draws_where_they_do_not_fit_into_memory(
    on_duckdb, same, key, monkeypatch
):
    expected = _visits(on_duckdb, key)
    assert list(expected["cells"]) == ["who", "ward", "ill"]
    assert "record" not in expected["roles"]
    monkeypatch.setattr("sudare.engine.duckdb.rows.fits", lambda ds: False)
    monkeypatch.setattr("sudare.engine.duckdb.ids.BATCH_ROWS", 64)
    same(_visits(on_duckdb, key), expected)


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning")
def test_declared_records_get_the_same_draws_on_spark(on_spark, on_duckdb, same, key):
    same(_visits(on_spark, key), _visits(on_duckdb, key))


@pytest.mark.spark
def test_what_cannot_run_on_spark_says_so_at_once_and_names_another_way(both, key):
    with pytest.raises(UsageError) as refused:
        sudare.anonymize(both[0], [methods.TP(l=2, column="shop"), methods.Swap(by=())], key=key)
    lines = str(refused.value).splitlines()
    assert len(lines) == 2
    assert "tp needs all rows in one place and cannot run on Spark" in lines[0]
    assert "give by=" in lines[1]


@pytest.mark.spark
def test_parts_of_users_are_clustered_on_their_own_and_what_that_costs_is_said(both, key, monkeypatch):
    monkeypatch.setattr("sudare.methods.plugins.dummies.PEOPLE", 40)
    step = methods.DummyRecords(value="shop", k=3, effort="low")
    release = sudare.anonymize(both[0], [step], key=key)
    facts, rows = release.steps[0]["details"], release.data.to_pyarrow()
    assert facts["parts"] > 1
    assert facts["without_parts"] > 0
    assert facts["lower_bound"] is None
    assert rows.num_rows == both[0].rows + facts["dummies"]
    sets = {}
    for user, shop in zip(rows["customer"].to_pylist(), rows["shop"].to_pylist()):
        sets.setdefault(user, set()).add(shop)
    alike = {}
    for shops in sets.values():
        alike[frozenset(shops)] = alike.get(frozenset(shops), 0) + 1
    assert min(alike.values()) >= 3


@pytest.mark.spark
def test_types_that_spark_spells_otherwise_are_protected_alike(spark, key, tmp_path):
    """Spark reads unsigned numbers as decimals and keeps moments in UTC."""
    import datetime

    import pyarrow.parquet as pq

    moments = [datetime.datetime(2024, 5, 1, n % 24, tzinfo=datetime.UTC) for n in range(60)]
    table = pa.table(
        {
            "id": range(60),
            "large": pa.array([2**63 + 7 * n for n in range(60)], pa.uint64()),
            "at": pa.array(moments, pa.timestamp("us", tz="Asia/Tokyo")),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    roles = {"identifier": ["id"], "sensitive": ["large"], "other": ["at"]}
    there = sudare.open(spark.read.parquet(str(tmp_path / "t.parquet")), **roles)
    here = sudare.open(tmp_path / "t.parquet", **roles)
    for step in (
        methods.Round(column="large", to=10),
        methods.TopBottomCode(column="large", share=0.1),
        methods.Suppress(columns=["large"]),
    ):
        found, expected = (sudare.anonymize(ds, step, key=key) for ds in (there, here))
        assert found.truth == expected.truth
        assert found.steps == expected.steps
        for name in expected.data.columns:
            cells, known = (r.data.to_pyarrow()[name].to_pylist() for r in (found, expected))
            if name == "at":  # ibis leaves out the zone, which is UTC there
                known = [moment.replace(tzinfo=None) for moment in known]
            assert [int(c) if name == "large" else c for c in cells] == known
