"""Known records against a reference that tries every set of records with Python's sets."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from itertools import combinations

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

import sudare
from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.engine import known_records
from sudare.engine.known_records import Knowledge
from sudare.errors import UsageError
from sudare.risk.measure import risk

few = settings(max_examples=40, deadline=None)
rows = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 6), st.sampled_from("abc")), min_size=1, max_size=30
)


def table(found):
    u, x, y = zip(*found)
    return Dataset.from_arrow(pa.table({"u": u, "x": x, "y": y}), Roles.of(user="u"))


def by_trying(known, published, owner, p, consistent=lambda true, shown: true == shown):
    """risk, unique and risk over everybody, of (person, value) pairs known and (candidate, value) pairs published."""
    values = {u: sorted({v for w, v in known if w == u}) for u in {u for u, _ in known}}

    def of(person, chosen):
        left = {
            c
            for c in {c for c, _ in published}
            if all(any(d == c and consistent(v, shown) for d, shown in published) for v in chosen)
        }
        mine = {c for c in left if owner(c) == person}
        return Fraction(len(mine), max(1, len(left))), Fraction(len(left) == 1 and len(mine) == 1)

    def mean(person, size):
        sets = list(combinations(values[person], size))
        found = [of(person, chosen) for chosen in sets]
        return [sum(part) / len(sets) for part in zip(*found)]

    enough = [mean(u, p) for u in values if len(values[u]) >= p]
    fewer = [mean(u, len(values[u])) for u in values if len(values[u]) < p]
    counted = enough or fewer
    risk_, unique = (sum(part) / len(counted) for part in zip(*counted))
    everybody = sum(one for one, _ in enough + fewer) / len(values)
    return float(risk_), float(unique), float(everybody)


@few
@given(rows, st.integers(1, 4))
def test_known_records_equal_the_slow_reference(found, p):
    (row,) = risk(table(found), attributes="x+y", known=p).rows
    pairs = [(u, (x, y)) for u, x, y in found]
    expected = by_trying(pairs, pairs, lambda c: c, p)
    assert (row["risk"], row["unique"], row["risk_everybody"]) == pytest.approx(expected)
    assert row["sampled"] == 0
    assert row["risk_low"] == row["risk"] == row["risk_high"]


@few
@given(rows, st.integers(1, 3))
def test_after_a_release_the_candidates_own_consistent_published_records(found, p):
    published = [(u, x // 3, y) for u, x, y in found]
    release = table([(f"person {u}", f"group {x}", y) for u, x, y in published])
    after = risk(table(found), attributes="x+y", known=p, release=release, truth=list(range(len(found))))
    expected = by_trying(
        [(u, (x, y)) for u, x, y in found],
        [(u, (x, y)) for u, x, y in published],
        lambda c: c,
        p,
        lambda true, shown: (true[0] // 3, true[1]) == shown,
    )
    (row,) = after.rows
    assert (row["risk"], row["unique"], row["risk_everybody"]) == pytest.approx(expected)
    assert row["risk"] <= row["risk_before"] + 1e-12


@few
@given(rows, st.integers(1, 3))
def test_a_coarser_resolution_is_looked_up_in_the_release_as_it_is(found, p):
    truth = list(range(len(found)))
    same = risk(
        table(found), attributes="x", known=p, channel={"x": "round:3"}, release=table(found), truth=truth
    )
    alone = risk(table(found), attributes="x", known=p, channel={"x": "round:3"})
    assert same.rows[0]["risk"] == pytest.approx(alone.rows[0]["risk"])
    assert same.rows[0]["risk_before"] == pytest.approx(alone.rows[0]["risk"])


def test_dummies_and_lost_people_are_counted_as_they_are():
    original = table([(1, 1, "a"), (1, 2, "a"), (2, 3, "b"), (2, 4, "b")])
    release = table([(7, 1, "a"), (7, 2, "a"), (8, 1, "a"), (8, 2, "a")])
    row = risk(original, attributes="x", known=2, release=release, truth=[0, 1, -1, -1]).rows[0]
    assert row["risk"] == pytest.approx(0.25), "person 1 is one of two, person 2 is not there"


@pytest.mark.parametrize("people", [300, 70_000])
def test_a_drawn_risk_has_the_exact_one_in_its_interval(monkeypatch, people):
    rng = np.random.default_rng(5)
    owners = np.repeat(np.arange(people), 4)
    values = (rng.random(len(owners)) ** 3 * people / 3).astype(np.int64)
    knowledge = Knowledge.of(owners, values, people)
    (exact,) = _every(monkeypatch, knowledge, 2)
    (drawn,) = _drawn(monkeypatch, knowledge, 2)
    assert exact.sampled == 0
    assert drawn.sampled >= 40_000
    assert drawn.low <= exact.risk <= drawn.high
    assert drawn.high - drawn.low < 0.01
    assert drawn.unique == pytest.approx(exact.unique, abs=0.01)


def _every(monkeypatch, knowledge, p):
    monkeypatch.setattr(known_records, "ENUMERATED", 10**9)
    return knowledge.narrowed([p])


def _drawn(monkeypatch, knowledge, p):
    monkeypatch.setattr(known_records, "ENUMERATED", 0)
    return knowledge.narrowed([p])


def test_common_values_are_intersected_like_rare_ones():
    """Values that many people have are kept as bits, others as lists; every mixture counts the same."""
    rng = np.random.default_rng(2)
    shares = np.array([0.9, 0.6, 0.3, 0.1, 0.03, 0.01, 0.005])
    has = rng.random((500, len(shares))) < shares
    has[~has.any(axis=1), 0] = True
    owners, values = np.nonzero(has)
    knowledge = Knowledge.of(owners.astype(np.int64), values.astype(np.int64), 500)
    kinds = knowledge.lists.row >= 0
    assert kinds.any()
    assert not kinds.all()
    for p in (1, 2, 3):
        (found,) = knowledge.narrowed([p])
        expected = _by_sets(has, p)
        assert found.risk == pytest.approx(expected)


def _by_sets(has, p):
    total, people = 0.0, 0
    for mine in has:
        chosen = list(combinations(np.flatnonzero(mine), p))
        if chosen:
            people += 1
            total += sum(1 / has[:, list(one)].all(axis=1).sum() for one in chosen) / len(chosen)
    return total / people


def test_resolutions_make_a_surface():
    days = [dt.date(2024, 1 + i % 3, 1 + i) for i in range(12)]
    ds = Dataset.from_arrow(
        pa.table({"u": [i // 3 for i in range(12)], "day": days, "goods": [f"ab{i % 5}" for i in range(12)]}),
        Roles.of(user="u"),
    )
    found = risk(
        ds, attributes=["day", "goods"], known=[1, 2], channel={"day": ["exact", "month"], "goods": "first:2"}
    )
    seen = [(row["attributes"], row["channel"], row["known"]) for row in found.rows]
    assert seen == [
        (["day"], "", 1),
        (["day"], "", 2),
        (["day"], "day month", 1),
        (["day"], "day month", 2),
        (["goods"], "goods first:2", 1),
        (["goods"], "goods first:2", 2),
    ]
    risks = {(tuple(r["attributes"]), r["channel"], r["known"]): r["risk"] for r in found.rows}
    assert risks[("day",), "day month", 1] < risks[("day",), "", 1]
    assert risks[("goods",), "goods first:2", 1] == 0.25


def test_without_a_user_column_every_row_is_a_person():
    ds = Dataset.from_arrow(pa.table({"x": [1, 1, 2]}), Roles())
    assert [row["risk"] for row in risk(ds, known=[1, 2]).rows] == pytest.approx([2 / 3, 2 / 3])


def test_the_same_call_gives_the_same_answer():
    ds = sudare.open("example:histories:200", user="user")
    first, second = (risk(ds, attributes="goods", known=[3]).rows for _ in range(2))
    assert first == second


def test_a_chart_shows_before_and_after():
    ds = table([(1, 1, "a"), (1, 2, "b"), (2, 1, "b")])
    assert "risk_before" in str(risk(ds, known=[1, 2], release=ds, truth=[0, 1, 2]).chart().to_dict())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"known": 0}, "known"),
        ({"known": []}, "1 or more"),
        ({"known": 2, "attacker": "bayes"}, "uniform"),
        ({"known": 2, "across": True}, "across"),
        ({"known": 2, "attributes": "x", "channel": {"x": "within:2"}}, "round:10"),
        ({"attributes": "x", "channel": {"x": ["round:2", "round:4"]}}, "several resolutions"),
    ],
)
def test_what_cannot_be_measured_is_refused(given, words):
    with pytest.raises(UsageError, match=words):
        risk(table([(1, 1, "a"), (2, 2, "b")]), **given)


@pytest.fixture(scope="module")
def retail400(data_dir):
    return sudare.open(data_dir / "retail400.parquet", user="user_id")


@pytest.mark.parametrize(
    ("attributes", "channel", "published"),
    [
        ("date", None, [0.18, 0.85, 0.955, 0.985]),
        ("goods", None, [0.09, 0.36, 0.58, 0.71]),
        ("date+goods", {"date": "month"}, [0.37, 0.84, 0.96, 0.99]),
    ],
)
def test_retail_customers_are_known_by_a_few_purchases(retail400, attributes, channel, published):
    found = risk(retail400, attributes=attributes, known=range(1, 5), channel=channel).rows
    assert [row["risk"] for row in found] == pytest.approx(published, abs=0.0055)
    assert all(row["risk_high"] - row["risk_low"] < 0.01 for row in found)
