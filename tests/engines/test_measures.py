"""Disclosure, plan and utility are the same wherever the table lives."""

from __future__ import annotations

import pytest

import sudare
from sudare import methods
from sudare.keys import Key

ROLES = {"user": "customer", "quasi": ["shop", "count"], "sensitive": ["goods"], "other": ["day", "price"]}


@pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning")
def test_disclosure_is_equal(engine, on_duckdb, purchases, same):
    found, expected = (sudare.disclosure(place(purchases, **ROLES)) for place in (engine, on_duckdb))
    same(list(found.rows), list(expected.rows))


def test_the_plan_is_equal(engine, on_duckdb, purchases, same):
    found, expected = (
        sudare.plan(place(purchases, **ROLES), "goods", k=[2, 5, 10]) for place in (engine, on_duckdb)
    )
    same(list(found.rows), list(expected.rows))


@pytest.mark.spark
def test_utility_is_equal_and_no_row_is_fetched(on_spark, on_duckdb, purchases, key, same, monkeypatch):
    roles = {
        "user": "customer",
        "quasi": ["shop", "day"],
        "sensitive": ["price", "count"],
        "other": ["goods"],
    }
    results = []
    for place in (on_duckdb, on_spark):
        ds = place(purchases, **roles)
        recipe = [methods.Noise(sd=0.2), methods.DeleteRecords(share=0.1)]
        release = sudare.anonymize(ds, recipe, key=key)
        results.append(sudare.utility(ds, release))
        monkeypatch.setenv("SUDARE_FETCH_ROWS", "0")
    expected, found = results
    names = ["U1", "U2", "U3", "U4", "U5", "U6", "S1", "S2", "correlation-shift", "mean-shift"]
    assert [row["metric"] for row in found.rows] == names
    same(list(found.rows), [row for row in expected.rows if row["metric"] in names])
    assert found.notes[0].startswith("Left out, for they need all rows: ")
    left = {row["metric"] for row in expected.rows} - set(names)
    assert {name for name, _ in found.skipped} == left | {"by_column"}


@pytest.mark.spark
def test_numbers_published_as_text_need_the_rows_and_are_fetched_only_by_name(on_spark, on_duckdb, same):
    """Intervals are read row by row: by default that is left out and named, by name the rows are fetched."""
    import pyarrow as pa

    table = pa.table({"sex": ["f", "m"] * 10, "age": [20 + n for n in range(20)], "pay": list(range(20))})
    roles = {"quasi": ["sex"], "sensitive": ["age", "pay"]}
    step = methods.Generalize(column="age", level=1, hierarchy={"intervals": [5, 10]})
    release = sudare.anonymize(on_duckdb(table, **roles), step, key=Key.demo(1))
    original, published = on_spark(table, **roles), on_spark(release.data.to_pyarrow(), **roles)
    found = sudare.utility(original, published, truth=release.truth)
    assert "U1" in dict(found.skipped)
    assert "published as text" in dict(found.skipped)["U1"]
    named = sudare.utility(original, published, ["U1"], truth=release.truth)
    same(list(named.rows), list(sudare.utility(on_duckdb(table, **roles), release, ["U1"]).rows))
