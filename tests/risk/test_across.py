import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.engine.coded import cross_of_codes
from sudare.engine.counts import counts_of
from sudare.engine.duckdb.profiles import coded
from sudare.errors import UsageError
from sudare.risk.measure import risk

few = settings(max_examples=20, deadline=None)
rows = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 3), st.sampled_from("abc")), min_size=1, max_size=20
)


def table(found):
    u, a, b = zip(*found)
    return Dataset.from_arrow(pa.table({"u": u, "a": a, "b": b}), Roles.of(user="u"))


@few
@given(rows)
def test_knowledge_of_different_records_equals_the_slow_reference(slow, found):
    ds = table(found)
    expected = slow.across([(u, a) for u, a, _ in found], [(u, b) for u, _, b in found])
    assert counts_of(ds).cross("a", "b").risk == pytest.approx(float(expected))


@few
@given(rows)
def test_more_knowledge_never_lowers_the_risk(found):
    ds = table(found)
    both = risk(ds, across=["a+b", "a+a"])
    single = risk(ds)
    for row in both.rows:
        for name in row["attributes"]:
            assert row["risk"] >= single.risk_of(name) - 1e-12 or row["model"] != "across"


def test_counting_in_parts_changes_nothing():
    rng = np.random.default_rng(3)
    data = [
        (int(u), int(a), f"b{b}")
        for u, a, b in zip(rng.integers(0, 30, 400), rng.integers(0, 20, 400), rng.integers(0, 9, 400))
    ]
    values = coded(table(data), ["a", "b"])
    whole, parts = cross_of_codes(values, "a", "b"), cross_of_codes(values, "a", "b", pairs_at_once=50)
    assert parts.risk == pytest.approx(whole.risk, rel=1e-12)
    assert parts.values == whole.values


def test_across_measures_every_pair_of_the_attributes():
    result = risk(table([(1, 1, "a"), (2, 1, "b")]), across=True)
    assert [(r["attributes"], r["model"]) for r in result.rows if r["model"] == "across"] == [
        (["a", "b"], "across")
    ]


def test_across_measures_a_pair_that_is_asked_for_alone():
    result = risk(table([(1, 1, "a"), (2, 1, "b")]), attributes=["a+b"], across=True)
    assert [r["attributes"] for r in result.rows if r["model"] == "across"] == [["a", "b"]]


def test_across_knows_two_attributes_at_a_time():
    with pytest.raises(UsageError, match="two"):
        risk(table([(1, 1, "a")]), across=["a+b+a"])


def test_a_named_pair_is_measured_as_it_is_named():
    ds = table([(1, 1, "a"), (1, 2, "b"), (2, 1, "b"), (3, 2, "a"), (3, 2, "b")])
    found = {
        tuple(r["attributes"]): r for r in risk(ds, across=["a+b", "b+b"]).rows if r["model"] == "across"
    }
    assert set(found) == {("a", "b"), ("b", "b")}
    for pair, row in found.items():
        assert row["risk"] == counts_of(ds).cross(*pair).risk
        assert row["low_cost"] is None, "no bound is known for it"
        assert row["alpha"] is None
