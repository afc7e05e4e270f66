"""The same scenario on every way of counting: ibis expressions give what DuckDB's own queries give."""

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given, settings

import sudare
from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.errors import DataError
from sudare.keys import Key
from sudare.risk.measure import risk

pytestmark = pytest.mark.filterwarnings("ignore:S-EMPTY")  # columns of nulls are drawn too
few = settings(max_examples=8, deadline=None)
rows = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from(["a", "b", None, ""]), st.integers(0, 3)),
    min_size=1,
    max_size=25,
)


def both(found, user="u"):
    """The same table as a view of DuckDB and as an ibis expression."""
    u, x, y = zip(*found)
    table = pa.table({"u": u, "x": pa.array(x, pa.string()), "y": y})
    roles = Roles.of(user=user)
    here = Dataset.from_arrow(table, roles)
    return here, Dataset(roles=roles, expression=here.table)


@few
@given(rows, st.sampled_from(["u", None]), st.sampled_from(["value", "drop"]))
def test_expressions_give_the_same_digits(found, user, missing):
    here, there = both([*found, (0, "a", 1)], user)
    names = ["x", "y"]
    for attacker in ("uniform", "proportional", "bayes"):
        first, second = (
            risk(ds, attributes=names, combine=2, attacker=attacker, missing=missing) for ds in (here, there)
        )
        assert first.rows == second.rows
    low = [risk(ds, attributes=names, model="low-cost", missing=missing).rows for ds in (here, there)]
    assert low[0] == low[1]
    sampled = [
        risk(ds, attributes=names, combine=2, model="sample", missing=missing).rows for ds in (here, there)
    ]
    assert sampled[0] == sampled[1]
    assert first.value_rows("x") == second.value_rows("x")
    assert first.exposed(0.5).equals(second.exposed(0.5))


def test_a_keyed_sample_is_the_same_on_every_engine():
    here, there = both([(i % 3 * (i % 2), None, i * i % 331) for i in range(900)])
    first, second = (
        risk(ds, attributes="y", model="sample", sample_size=60, key=Key.demo(1)).rows for ds in (here, there)
    )
    assert first == second


def test_work_that_needs_rows_fetches_the_columns_it_needs():
    here, there = both([(i % 5, "a" if i % 2 else None, i % 7) for i in range(40)])
    for call in ({"across": True}, {"channel": {"y": "within:1"}, "attributes": "y"}):
        assert [r["risk"] for r in risk(here, **call).rows] == pytest.approx(
            [r["risk"] for r in risk(there, **call).rows]
        )


def test_records_without_a_user_are_an_error_everywhere():
    for ds in both([(1, "a", 1), (None, "b", 2)]):
        with pytest.raises(DataError, match="1 records have no user"):
            risk(ds)


def test_the_order_of_rows_and_the_number_of_threads_change_no_digit():
    from sudare.data.connection import connect

    found = [(i * 7 % 11, None, i * i % 53) for i in range(500)]
    expected = risk(both(found)[0], combine=2, attacker="proportional").rows
    for threads in (1, 2):
        connect().execute(f"SET threads = {threads}")
        for strategy in ("plain", "kernel"):
            assert (
                risk(both(found[::-1])[0], combine=2, attacker="proportional", strategy=strategy).rows
                == expected
            )
    connect().execute("RESET threads")


def test_a_call_on_the_package_is_the_function():
    ds = sudare.open("example:purchases", user="user")
    assert sudare.risk(ds).rows == risk(ds).rows


@few
@given(rows, st.sampled_from(["u", None]), st.sampled_from(["value", "drop"]))
def test_pairs_of_records_and_wrong_values_are_counted_by_expressions_too(found, user, missing):
    here, there = both([*found, (0, "a", 1)], user)
    for asked in (
        {"across": ["x+y", "y+y"]},
        {"channel": {"x": "wrong:0.3"}},
        {"channel": {"y": "wrong:1"}, "attributes": ["y"]},
    ):
        first, second = (risk(ds, missing=missing, **asked).rows for ds in (here, there))
        for expected, measured in zip(first, second, strict=True):
            assert measured["risk"] == pytest.approx(expected["risk"], rel=1e-12)
            assert {**measured, "risk": None} == {**expected, "risk": None}


def test_more_sampled_values_than_an_expression_may_nest():
    found = [(n % 7, str(n % 1200), n % 3) for n in range(3600)]
    here, there = both(found)
    asked = {"attributes": ["x", "x+y"], "model": "sample", "sample_size": 1100, "key": Key.demo(1)}
    assert risk(there, **asked).rows == risk(here, **asked).rows
