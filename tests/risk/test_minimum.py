import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given, settings

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.errors import UsageError
from sudare.risk.measure import risk
from sudare.risk.minimum import exposed_users, minimal_sets

rows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=20)


def table(found, user="u"):
    u, x, y = zip(*found)
    return Dataset.from_arrow(pa.table({"u": u, "x": x, "y": y}), Roles.of(user=user))


@settings(max_examples=30, deadline=None)
@given(rows, st.sampled_from([1.0, 0.5, 0.3]))
def test_exposed_users_are_those_with_a_telling_record(found, threshold):
    owners = {}
    for u, x, y in found:
        owners.setdefault((x, y), set()).add(u)
    telling = {u for u, x, y in found if 1 / len(owners[x, y]) >= threshold}
    share = exposed_users(table(found), ("x", "y"), threshold)
    assert share == pytest.approx(len(telling) / len({u for u, _, _ in found}))


@settings(max_examples=30, deadline=None)
@given(rows)
def test_every_part_of_a_minimal_set_stays_below_the_threshold(found):
    result = risk(table(found), combine=2)
    for subset in result.minimum(0.5):
        assert result.risk_of(subset) >= 0.5
        assert all(result.risk_of(name) < 0.5 for name in subset if len(subset) > 1)


def test_the_exposed_are_told_with_the_sets():
    frame = risk(table([(1, 1, 1), (2, 1, 2), (3, 2, 2)]), combine=2).exposed(0.9)
    assert frame["attributes"].tolist() == [["x", "y"]]
    assert frame["users_exposed"].tolist() == [1.0]


def test_without_users_rows_are_exposed():
    ds = Dataset.from_arrow(pa.table({"x": [1, 1, 2]}), Roles())
    assert exposed_users(ds, ["x"], 1.0) == pytest.approx(1 / 3)


def test_a_threshold_is_a_risk():
    with pytest.raises(UsageError):
        minimal_sets({("a",): 0.5}, 0)


def test_sets_at_the_threshold_count_and_the_riskiest_of_a_size_comes_first():
    risks = {("a",): 0.5, ("b",): 0.9, ("c",): 0.1, ("c", "d"): 0.7, ("a", "d"): 0.8}
    assert minimal_sets(risks, 0.5) == [("b",), ("a",), ("c", "d")]
    assert minimal_sets(risks, 1.0) == []
    with pytest.raises(UsageError):
        minimal_sets(risks, 1.01)
