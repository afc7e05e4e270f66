"""Disclosure, plan and utility are the same wherever the table lives."""

from __future__ import annotations

import pytest

import sudare
from sudare import methods

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
    assert [row["metric"] for row in found.rows] == ["U1", "U2", "U3", "U4", "U5", "U6", "S1", "S2"]
    same(list(found.rows), list(expected.rows)[:8])
    assert found.notes[0].startswith("Left out, for they need all rows: ")
