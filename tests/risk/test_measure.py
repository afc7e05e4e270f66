import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import sudare
from sudare.errors import DataError, UsageError
from sudare.risk.measure import risk

records = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from(["a", "b", "c", None, ""]), st.integers(0, 3)),
    min_size=1,
    max_size=25,
)
pytestmark = pytest.mark.filterwarnings("ignore:S-EMPTY")  # columns of nulls are drawn too
few = settings(max_examples=20, deadline=None)


def columns(rows):
    return {"u": [r[0] for r in rows], "x": [r[1] for r in rows], "y": [r[2] for r in rows]}


@few
@given(records)
def test_every_attacker_equals_the_slow_reference(dataset, slow, rows):
    ds = dataset(**columns(rows))
    pairs = [(u, x) for u, x, _ in rows]
    for attacker in ("uniform", "proportional", "bayes"):
        found = risk(ds, attributes=["x"], attacker=attacker).risk_of("x")
        assert found == pytest.approx(float(getattr(slow, attacker)(pairs)), abs=1e-12)


@few
@given(records)
def test_stronger_attackers_never_have_a_smaller_risk(dataset, rows):
    ds = dataset(**columns(rows))
    plain, prop, best = (
        risk(ds, attributes="x", attacker=a).risk_of("x") for a in ("uniform", "proportional", "bayes")
    )
    assert plain <= prop + 1e-12
    assert prop <= best + 1e-12


@few
@given(records)
def test_risk_of_a_superset_is_never_smaller(dataset, slow, rows):
    result = risk(dataset(**columns(rows)), combine=2)
    both = result.risk_of("x+y")
    assert both == pytest.approx(float(slow.uniform([(u, (x, y)) for u, x, y in rows])), abs=1e-12)
    assert both >= max(result.risk_of("x"), result.risk_of("y")) - 1e-12


@few
@given(records)
def test_risk_lies_within_its_bounds(dataset, rows):
    for row in risk(dataset(**columns(rows)), combine=2).rows:
        assert max(1 / row["users"], row["low_cost"]) - 1e-12 <= row["risk"] <= 1 + 1e-12


@few
@given(records)
def test_the_table_of_values_adds_up_to_the_risk(dataset, rows):
    for attacker in ("uniform", "proportional", "bayes"):
        result = risk(dataset(**columns(rows)), attributes="x", attacker=attacker)
        table = result.values("x")
        assert table["joint"].sum() == pytest.approx(result.risk_of("x"))
        assert table["records"].sum() == len(rows)
        assert table["joint"].is_monotonic_decreasing


def test_without_a_user_column_every_row_is_a_person(dataset):
    for attacker in ("uniform", "proportional", "bayes"):
        assert (
            risk(dataset(user=None, x=[1, 1, 2, 3]), attributes="x", attacker=attacker).risk_of("x") == 0.75
        )


def test_missing_values_count_or_are_dropped_as_asked(dataset):
    ds = dataset(u=[1, 1, 2, 3], x=["a", None, "", "a"])
    assert risk(ds).rows[0]["values"] == 3
    dropped = risk(ds, missing="drop")
    assert (dropped.rows[0]["values"], dropped.rows[0]["records"], dropped.rows[0]["users"]) == (1, 2, 2)
    assert "left out" in dropped.notes[0]
    assert dropped.to_dict()["missing"] == "drop"


def test_one_row_or_one_user_has_risk_one(dataset):
    assert risk(dataset(u=[1], x=[5])).risk_of("x") == 1
    assert risk(dataset(u=[1, 1, 1], x=[5, 6, 6])).risk_of("x") == 1


def test_rows_have_the_columns_of_the_contract_riskiest_first(dataset):
    frame = risk(dataset(u=[1, 2, 3, 3], x=[1, 1, 1, 1], y=[1, 2, 3, 4])).to_frame()
    assert list(frame.columns) == [
        "attributes", "records", "users", "values", "alpha", "risk", "low_cost", "low_cost_error", "attacker", "model",
    ]  # fmt: skip
    assert frame["attributes"].tolist() == [["y"], ["x"]]


def test_low_cost_model_reads_counts_only(dataset):
    row = risk(dataset(u=[1, 2, 2], x=[1, 1, 2]), model="low-cost").rows[0]
    assert row["risk"] == row["low_cost"] == pytest.approx(2 / 3)
    assert row["alpha"] is None


def test_sets_of_attributes_can_be_named(dataset):
    ds = dataset(u=[1, 2], x=[1, 1], y=[1, 2], z=[1, 1])
    assert [r["attributes"] for r in risk(ds, attributes=["z+x"]).rows] == [["x", "z"]]
    assert ["x", "y"] in [r["attributes"] for r in risk(ds, combine=["x+y"]).rows]
    assert len(risk(ds, combine=3).rows) == 7


def test_columns_with_quotes_and_plus_signs_are_names_like_others(dataset):
    ds = dataset(**{"u": [1, 2], 'a"b': [1, 2], "c+d": [1, 1]})
    assert risk(ds, attributes=['a"b']).risk_of('a"b') == 1
    assert risk(ds, attributes=["c+d"]).risk_of("c+d") == 0.5


@pytest.mark.parametrize(
    "call",
    [
        {"model": "exakt"},
        {"attacker": "nobody"},
        {"missing": "ignore"},
        {"sample_size": 5},
        {"model": "sample", "sample_size": 0},
        {"attributes": "xx"},
        {"attributes": "u"},
        {"combine": 0},
        {"attributes": []},
        {"strategy": "slow"},
    ],
)
def test_a_wrong_call_is_a_usage_error(dataset, call):
    with pytest.raises(UsageError):
        risk(dataset(u=[1, 2], x=[1, 2]), **call)


def test_records_without_a_user_are_counted_not_named(dataset):
    with pytest.raises(DataError, match="2 records have no user in column 'u'"):
        risk(dataset(u=[1, None, None], x=[1, 2, 3]))


@pytest.mark.parametrize(
    "how", [{}, {"model": "sample"}, {"model": "low-cost"}, {"across": "x+x"}, {"channel": {"y": "hour"}}]
)
def test_an_attribute_without_a_value_tells_nothing_when_missing_values_are_dropped(dataset, how):
    ds = dataset(u=[1, 2], x=["", ""], y=["8:00", "9:00"])
    rows = {tuple(row["attributes"]): row for row in risk(ds, missing="drop", **how).rows}
    assert (rows["x",]["records"], rows["x",]["risk"], rows["x",]["alpha"]) == (0, 0.0, None)
    assert rows["y",]["risk"] == 1
    assert all(row["risk"] == 0 for names, row in rows.items() if "x" in names)


def test_a_result_answers_for_what_was_not_measured_and_prints_as_a_table():
    ds = sudare.open("example:purchases", user="user")
    result = sudare.risk(ds)
    assert repr(result) == str(result)
    both = sudare.risk(ds, combine=2)
    assert result.profile("date+goods") == both.profile("date+goods")
    assert result.profile("date") == both.profile("date")
    with pytest.raises(UsageError, match="not measured"):
        result.risk_of("date+goods")


def test_the_risk_of_a_set_is_not_that_of_different_records():
    ds = sudare.open("example:purchases", user="user")
    alone, with_across = (sudare.risk(ds, combine=2, across=across) for across in (False, ["date+goods"]))
    assert with_across.risk_of("date+goods") == alone.risk_of("date+goods")
    assert with_across.risk_of("date+price") == alone.risk_of("date+price")
