"""A recipient's estimate does not depend on where the release lives."""

from __future__ import annotations

import pytest

import sudare
from sudare import methods
from sudare.errors import UsageError

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def releases(on_spark, on_duckdb, purchases, key):
    roles = {
        "user": "customer",
        "quasi": ["shop", "count"],
        "sensitive": ["goods"],
        "other": ["day", "price"],
    }
    return [
        sudare.anonymize(place(purchases, **roles), methods.RandomizedAddition(l=4), key=key)
        for place in (on_spark, on_duckdb)
    ]


@pytest.mark.parametrize(
    "options",
    [{}, {"by": ["shop", "count:3"]}, {"by": "count", "method": "inverse"}],
    ids=["all", "bins", "inverse"],
)
def test_estimates_are_equal(releases, same, options):
    found, expected = (sudare.estimate(release, **options) for release in releases)
    same(list(found.rows), list(expected.rows))
    same(found.notes, expected.notes)
    same(found.expected_mse, expected.expected_mse)


def test_em_needs_the_sets_and_says_so(releases):
    with pytest.raises(UsageError, match="cannot run on Spark; use projection"):
        sudare.estimate(releases[0], method="em")
