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
@pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning")
def test_utility_is_equal(on_spark, on_duckdb, purchases, key, same):
    results = []
    for place in (on_spark, on_duckdb):
        ds = place(purchases, **ROLES)
        release = sudare.anonymize(ds, methods.Noise(columns=["price"], sd=0.2), key=key)
        results.append(sudare.utility(ds, release))
    same(list(results[0].rows), list(results[1].rows))
