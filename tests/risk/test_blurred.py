from collections import Counter
from fractions import Fraction

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given, settings

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.errors import DataError, UsageError
from sudare.risk.channels import parse
from sudare.risk.measure import risk

few = settings(max_examples=20, deadline=None)
rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 12)), min_size=1, max_size=25)


def table(found, **more):
    u, x = zip(*found)
    return Dataset.from_arrow(pa.table({"u": u, "x": x, **more}), Roles.of(user="u"))


def blurred(found, kernel):
    """R_K by its definition: `kernel(x)` gives {z: K(z|x)}."""
    candidates = {}
    for user, x in found:
        for z in kernel(x):
            candidates.setdefault(z, set()).add(user)
    return sum(sum(p / len(candidates[z]) for z, p in kernel(x).items()) for _, x in found) / len(found)


@few
@given(rows, st.integers(1, 5))
def test_knowledge_within_a_width_equals_the_definition(found, width):
    domain = {x for _, x in found}

    def kernel(x):
        near = [z for z in domain if abs(z - x) <= width]
        return {z: Fraction(1, len(near)) for z in near}

    measured = risk(table(found), channel={"x": f"within:{width}"}).risk_of("x")
    assert measured == pytest.approx(float(blurred(found, kernel)))
    assert measured <= risk(table(found)).risk_of("x") + 1e-12


@few
@given(rows)
def test_rounded_knowledge_is_the_risk_of_the_rounded_column(found):
    ds, rounded = table(found), table([(u, (x + 2) // 5 * 5 if x % 5 != 2.5 else x) for u, x in found])
    for attacker in ("uniform", "bayes"):
        coarse = risk(ds, channel={"x": "round:5"}, attacker=attacker).risk_of("x")
        assert coarse == pytest.approx(risk(rounded, attacker=attacker).risk_of("x"))
        assert coarse <= risk(ds, attacker=attacker).risk_of("x") + 1e-12 or attacker == "bayes"


@few
@given(rows, st.sampled_from([0.0, 0.25, 1.0]))
def test_a_wrong_value_is_believed(found, q):
    owners, domain = {}, sorted({x for _, x in found})
    for user, x in found:
        owners.setdefault(x, set()).add(user)
    share = Fraction(q)
    total = Fraction(0)
    for user, x in found:
        others = [z for z in domain if z != x]
        total += (1 - share if others else 1) * Fraction(1, len(owners[x]))
        total += sum(share * Fraction(user in owners[z], len(owners[z]) * len(others)) for z in others)
    assert risk(table(found), channel={"x": f"wrong:{q}"}).risk_of("x") == pytest.approx(
        float(total / len(found))
    )


def test_times_and_dates_are_cut_to_their_unit():
    data = {"t": ["8:45", "8:50", "9:00"], "d": ["2011/8/28", "2011/8/29", "2012/8/1"]}
    ds = Dataset.from_arrow(pa.table({"u": [1, 2, 3], **data}), Roles.of(user="u"))
    seen = {r["attributes"][0]: r for r in risk(ds, channel={"t": "hour", "d": "month"}).rows}
    assert seen["t"]["risk"] == pytest.approx(2 / 3)
    assert seen["d"]["channel"] == "d month"
    both = risk(ds, attributes=["t+d"], channel={"t": "hour", "d": "year"})
    assert both.risk_of("t+d") == pytest.approx(2 / 3)


def test_missing_values_are_seen_as_missing():
    ds = Dataset.from_arrow(pa.table({"u": [1, 2, 3], "x": [1.0, None, 2.0]}), Roles.of(user="u"))
    assert risk(ds, channel={"x": "within:1"}).risk_of("x") == pytest.approx(2 / 3)
    assert risk(ds, channel={"x": "round:100"}).risk_of("x") == pytest.approx(2 / 3)


def test_an_empty_text_is_seen_as_missing_too():
    ds = Dataset.from_arrow(pa.table({"u": [1, 2, 3], "x": ["8:45", "", "9:15"]}), Roles.of(user="u"))
    for channel in ("within:1h", "day"):
        assert risk(ds, channel={"x": channel}).risk_of("x") == pytest.approx(2 / 3)


@pytest.mark.parametrize("width", [1, 3, 7])
def test_a_width_of_tenths_reaches_the_tenth_it_names(width):
    tenths = [(n, n) for n in range(30)]
    as_floats = table([(u, x / 10) for u, x in tenths])
    assert risk(as_floats, channel={"x": f"within:{width / 10}"}).risk_of("x") == pytest.approx(
        risk(table(tenths), channel={"x": f"within:{width}"}).risk_of("x")
    )


@pytest.mark.parametrize(("width", "value", "seen"), [("10", 25, 30), ("10", 24.9, 20), ("0.1", 0.25, 0.3)])
def test_halves_are_rounded_up(width, value, seen):
    assert parse(f"round:{width}").coarse(value) == pytest.approx(seen)


def test_a_set_with_one_recoded_attribute_keeps_the_other_as_it_is():
    found = [(1, 3), (2, 4), (3, 14)]
    ds = table(found, y=["a", "b", "a"])
    expected = Counter((x // 10, y) for (_, x), y in zip(found, ["a", "b", "a"]))
    assert risk(ds, attributes=["x+y"], channel={"x": "round:20"}).risk_of("x+y") == pytest.approx(
        len(expected) / 3
    )


@pytest.mark.parametrize("text", ["blur", "round:", "round:0", "within:x", "wrong:2", "wrong:"])
def test_a_channel_that_cannot_be_read_is_a_usage_error(text):
    with pytest.raises(UsageError):
        parse(text)


def test_values_without_a_scale_are_said_without_being_shown():
    ds = Dataset.from_arrow(pa.table({"u": [1, 2], "x": ["secret", "b"]}), Roles.of(user="u"))
    with pytest.raises(DataError) as error:
        risk(ds, channel={"x": "within:1"})
    assert "secret" not in str(error.value)


def test_a_channel_that_would_change_nothing_is_refused():
    ds = table([(1, 1), (2, 2)], y=[1, 2])
    for call in (
        {"channel": {"y": "round:2"}, "attributes": "x"},
        {"channel": {"u": "round:2"}},
        {"channel": {"x": "round:2"}, "across": True},
    ):
        with pytest.raises(UsageError):
            risk(ds, **call)


def test_ranges_are_for_one_attribute_and_the_uniform_attacker():
    ds = table([(1, 1), (2, 2)], y=[1, 2])
    for call in ({"attributes": ["x+y"]}, {"attacker": "bayes"}, {"model": "low-cost"}):
        with pytest.raises(UsageError):
            risk(ds, channel={"x": "within:1"}, **call)


def test_months_and_years_end_where_the_calendar_says():
    def of(*days, channel):
        ds = Dataset.from_arrow(pa.table({"u": list(range(len(days))), "d": days}), Roles.of(user="u"))
        return risk(ds, channel={"d": channel}).risk_of("d")

    assert of("2011/1/31", "2011/2/1", channel="month") == 1
    assert of("2011/2/1", "2011/2/28", channel="month") == 0.5
    assert of("2011/2/1", "2012/2/1", channel="month") == 1
    assert of("2011/12/31", "2012/1/1", channel="year") == 1
    assert of("2011/1/1", "2011/12/31", channel="year") == 0.5


def test_a_range_has_no_alpha_and_no_bound_and_a_recoding_has_both():
    ds = table([(1, 3), (2, 4), (3, 14)])
    ranged = risk(ds, channel={"x": "within:1"}).rows[0]
    assert ranged["alpha"] is None
    assert ranged["low_cost"] is None
    coarse = risk(ds, channel={"x": "round:10"}).rows[0]
    assert coarse["alpha"] == 1
    assert coarse["low_cost"] == pytest.approx(2 / 3)
