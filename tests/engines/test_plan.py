"""A plan needs counts and a sample of users: the same numbers wherever the table lives."""

from __future__ import annotations

import sudare
from sudare.estimate.plan import plan_l


def test_the_plan_is_equal(engine, on_duckdb, purchases):
    there, here = (place(purchases, user="customer") for place in (engine, on_duckdb))
    found, expected = (sudare.plan(ds, "goods", k=[2, 5], pilot=False) for ds in (there, here))
    assert found.to_dict() == expected.to_dict()


def test_the_pilot_is_equal(engine, on_duckdb, purchases):
    there, here = (place(purchases, user="customer") for place in (engine, on_duckdb))
    found, expected = (sudare.plan(ds, "goods", k=3) for ds in (there, here))
    assert found.to_dict() == expected.to_dict()


def test_the_error_bars_are_equal(engine, on_duckdb, purchases):
    there, here = (place(purchases, user="customer") for place in (engine, on_duckdb))
    found, expected = (plan_l(ds, column="goods", l=[2, 3], by=["shop", "count:3"]) for ds in (there, here))
    assert found.to_dict() == expected.to_dict()
