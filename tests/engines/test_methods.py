"""A recipe gives the same release wherever the table lives."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare import methods
from sudare.errors import UsageError

pytestmark = pytest.mark.spark

ROLES = {"user": "customer", "quasi": ["shop", "count"], "sensitive": ["goods", "price"], "other": ["day"]}


@pytest.fixture(scope="module")
def both(on_spark, on_duckdb, purchases):
    """The same invented purchases on Spark (in three parts) and on DuckDB; some records are equal."""
    doubled = pa.concat_tables([purchases, purchases.slice(0, 200), purchases.slice(0, 50)])
    return on_spark(doubled, **ROLES), on_duckdb(doubled, **ROLES)


def assert_same_release(found, expected):
    there, here = found.data.to_pyarrow(), expected.data.to_pyarrow()
    assert there.column_names == here.column_names
    for name in here.column_names:
        first, second = there[name].to_pylist(), here[name].to_pylist()
        if first != second:
            np.testing.assert_allclose(
                [np.nan if v is None else v for v in first],
                [np.nan if v is None else v for v in second],
                rtol=1e-12,
            )
    assert found.truth == expected.truth
    assert found.data.roles == expected.data.roles
    assert found.schema == expected.schema
    assert _rounded(found.steps) == _rounded(expected.steps)


def _rounded(thing):
    if isinstance(thing, dict):
        return {name: _rounded(value) for name, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [_rounded(value) for value in thing]
    return round(thing, 10) if isinstance(thing, float) else thing


RECIPES = {
    "pseudonyms": [methods.Pseudonymize()],
    "randomized addition": [methods.RandomizedAddition(l=5, column="goods")],
    "noise and rounding": [
        methods.Noise(sd=0.1, columns=["price", "count"]),
        methods.Round(column="price", to=0.5),
    ],
    "generalize, unify": [
        methods.Generalize(column="day"),
        methods.Unify(column="shop"),
        methods.Unify(column="count", value=3),
    ],
    "delete and swap": [methods.DeleteRecords(share=0.2), methods.Swap()],
    "average": [methods.Average(columns=["price"], by=["shop", "count"])],
    "mondrian": [methods.Mondrian(k=7, columns=["count", "day", "shop"])],
}


@pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning")
@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES.keys())
def test_the_release_is_the_same_row_by_row(both, key, recipe):
    there, here = both
    assert_same_release(sudare.anonymize(there, recipe, key=key), sudare.anonymize(here, recipe, key=key))


def test_records_known_by_an_identifier_get_the_same_draws(on_spark, on_duckdb, key):
    table = pa.table({"name": [f"n{n}" for n in range(500)], "ill": [f"d{n % 9}" for n in range(500)]})
    roles = {"identifier": ["name"], "sensitive": ["ill"]}
    found, expected = (
        sudare.anonymize(place(table, **roles), methods.RandomizedAddition(l=3), key=key)
        for place in (on_spark, on_duckdb)
    )
    assert_same_release(found, expected)


def test_what_cannot_run_on_spark_says_so_at_once_and_names_another_way(both, key):
    with pytest.raises(UsageError) as refused:
        sudare.anonymize(both[0], [methods.TP(l=2, column="shop"), methods.Swap(by=())], key=key)
    lines = str(refused.value).splitlines()
    assert len(lines) == 2
    assert "tp needs all rows in one place and cannot run on Spark" in lines[0]
    assert "give by=" in lines[1]
