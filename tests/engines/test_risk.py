"""The risk of a table does not depend on where the table lives."""

from __future__ import annotations

import pytest

import sudare
from sudare.errors import DataError


def rows_of(result):
    return [dict(row) for row in result.rows]


@pytest.mark.fault(48, "threads, row order and format change nothing in the metrics")
@pytest.mark.parametrize("attacker", ["uniform", "bayes"])
def test_risk_of_single_attributes_and_pairs_is_equal(engine, on_duckdb, purchases, attacker):
    there, here = (place(purchases, user="customer") for place in (engine, on_duckdb))
    found, expected = (sudare.risk(ds, combine=2, attacker=attacker) for ds in (there, here))
    assert rows_of(found) == rows_of(expected)
    assert found.profiles == expected.profiles


def test_risk_without_a_user_column_is_equal(engine, on_duckdb, purchases):
    there, here = (place(purchases) for place in (engine, on_duckdb))
    assert rows_of(sudare.risk(there)) == rows_of(sudare.risk(here))


@pytest.mark.parametrize(
    "options", [{"missing": "drop"}, {"model": "low-cost"}, {"model": "sample", "sample_size": 60}], ids=str
)
def test_other_models_are_equal(engine, on_duckdb, purchases, key, options):
    there, here = (place(purchases, user="customer") for place in (engine, on_duckdb))
    options = {"attributes": ["goods", "goods+day"], "key": key, **options}
    assert rows_of(sudare.risk(there, **options)) == rows_of(sudare.risk(here, **options))


@pytest.mark.parametrize("roles", [{"user": "customer"}, {}], ids=["people", "rows"])
def test_values_of_other_records_and_wrong_ones_are_counted_where_the_table_lives(
    engine, on_duckdb, purchases, same, monkeypatch, roles
):
    monkeypatch.setenv("SUDARE_FETCH_ROWS", "0")  # fetching the rows themselves would be an error
    there, here = (place(purchases, **roles) for place in (engine, on_duckdb))
    asked = {"attributes": ["shop"], "missing": "drop"}
    for more in ({"across": ["shop+goods"]}, {"channel": {"shop": "wrong:0.2"}}):
        same(*(rows_of(sudare.risk(ds, **asked, **more)) for ds in (there, here)))


def test_the_table_of_values_is_equal(engine, on_duckdb, purchases):
    there, here = (place(purchases, user="customer") for place in (engine, on_duckdb))
    found, expected = (sudare.risk(ds, attributes=["goods"]).values("goods") for ds in (there, here))
    assert (
        found.astype(object).where(found.notna(), None).values.tolist()
        == expected.astype(object).where(expected.notna(), None).values.tolist()
    )


@pytest.mark.spark
def test_kernel_and_plain_expressions_agree_on_spark(on_spark, purchases):
    ds = on_spark(purchases, user="customer")
    options = {"attributes": ["goods", "shop"], "attacker": "proportional"}
    assert rows_of(sudare.risk(ds, strategy="kernel", **options)) == rows_of(
        sudare.risk(ds, strategy="plain", **options)
    )


def test_a_missing_user_is_an_error_with_the_count(engine, purchases):
    with pytest.raises(DataError, match="records have no user in column 'shop'"):
        engine(purchases, user="shop")


def test_a_table_comes_back_exactly(engine, purchases):
    found = engine(purchases, user="customer").to_pyarrow()
    assert found.cast(purchases.schema).to_pylist() == purchases.to_pylist()
