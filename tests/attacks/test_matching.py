"""Gower's distance and one-to-one assignment."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare import attacks as a
from sudare.attacks.plugins.assignment import DENSE, _dense, _sparse, assign
from sudare.data.values.recoded import consistent

ROW = st.fixed_dictionaries(
    {"q1": st.sampled_from("abc"), "q2": st.integers(0, 4), "s1": st.integers(0, 4) | st.none()}
)
PUBLISHED = st.fixed_dictionaries(
    {"q1": st.sampled_from(["a", "b", "{a, b}", "*"]), "q2": st.integers(0, 6), "s1": st.integers(0, 4)}
)


def gower(original, b):
    """Definition: mean over columns of |x - y| / range or of 'cannot be'; the division by 3 changes no
    order.
    """
    total = {}
    for i, x in enumerate(original):
        total[i] = 0.0 if consistent(b["q1"], x["q1"]) else 1.0
        for c in ("q2", "s1"):
            known = [row[c] for row in original if row[c] is not None]
            span = (max(known) - min(known)) if known else 0
            total[i] += 1.0 if x[c] is None else abs(x[c] - b[c]) / (span or 1)
    return [i for i in total if total[i] <= min(total.values()) + 1e-9]


@settings(max_examples=60, deadline=None)
@given(
    original=st.lists(ROW, min_size=1, max_size=7).filter(
        lambda rows: any(r["s1"] is not None for r in rows)
    ),
    release=st.lists(PUBLISHED, min_size=1, max_size=7),
    data=st.data(),
)
def test_gower_is_that_of_the_definition(table, original, release, data):
    truth = data.draw(
        st.lists(st.integers(0, len(original) - 1), min_size=len(release), max_size=len(release))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sudare.attacks.measure.warn", lambda *_: None)
        rate = sudare.attack(table(original), table(release), [a.Gower()], truth=truth).rows[0]["rate"]
    near = [gower(original, b) for b in release]
    expected = sum(1 / len(n) for n, t in zip(near, truth) if t in n) / len(release)
    assert rate == pytest.approx(expected)


def test_gower_sees_through_generalisation(table):
    original = table([{"q1": "a", "q2": 21}, {"q1": "b", "q2": 35}, {"q1": "c", "q2": 60}])
    release = table(
        [{"q1": "{b, c}", "q2": "[50-69]"}, {"q1": "*", "q2": "[20-29]"}, {"q1": "{a, b}", "q2": "[30-39]"}]
    )
    result = sudare.attack(original, release, [a.Gower(), a.IdentifyRand()], truth=[2, 0, 1])
    assert [row["rate"] for row in result.rows] == [1.0, 0.0]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=5, unique=True),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=5),
)
def test_an_assignment_has_the_least_sum(originals, releases):
    original, release = np.array(originals, float), np.array(releases, float)
    found = assign(original, release)
    used = found[found >= 0]
    assert len(set(used.tolist())) == len(used) == min(len(original), len(release))

    def total(pairs):
        return sum(((original[o] - release[r]) ** 2).sum() for r, o in pairs)

    if len(release) <= len(original):
        every = (list(enumerate(p)) for p in itertools.permutations(range(len(original)), len(release)))
    else:
        every = (
            [(r, o) for o, r in enumerate(p)]
            for p in itertools.permutations(range(len(release)), len(original))
        )
    assert total([(r, o) for r, o in enumerate(found) if o >= 0]) == pytest.approx(min(map(total, every)))


def test_the_auction_comes_close_to_the_exact_assignment():
    random = np.random.default_rng(2)
    original = random.normal(size=(400, 4))
    release = original + 0.7 * random.normal(size=original.shape)
    exact, near = _dense(original, release), _sparse(original, release)
    used = near[near >= 0]
    assert len(set(used.tolist())) == len(used) > 380

    def cost(found):
        return ((original[found[found >= 0]] - release[found >= 0]) ** 2).sum(axis=1).mean()

    assert cost(near) <= cost(exact) * 1.01
    assert np.mean(exact == near) > 0.85


def test_assignment_beats_the_nearest_row_where_two_want_the_same(table):
    original = table([{"s1": 0.0}, {"s1": 1.0}, {"s1": 10.0}])
    release = table([{"s1": 9.0}, {"s1": 1.9}, {"s1": 0.9}])
    rates = sudare.attack(original, release, [a.Euclid(), a.Assignment()], truth=[2, 1, 0]).rows
    assert rates[0]["rate"] == pytest.approx(2 / 3)
    assert rates[1]["rate"] == 1.0


def test_equal_originals_stay_tied_and_the_rest_is_assigned_among_the_free(table):
    original = table([{"q": 1, "s": 5}, {"q": 1, "s": 5}, {"q": 2, "s": 7}, {"q": 3, "s": 8}])
    release = table([{"q": 9, "s": 8}, {"q": 1, "s": 5}, {"q": 2, "s": 7}])
    found = sudare.attack(original, release, [a.Assignment(), a.Assignment(fallback=False)], truth=[3, 0, 2])
    assert [row["rate"] for row in found.rows] == pytest.approx([2.5 / 3, 1.5 / 3])
    assert [row["gave_up"] for row in found.rows] == [0, 1]


def test_a_row_that_somebody_got_is_not_free(table):
    original = table([{"q": 1, "s": 0.0}, {"q": 2, "s": 1.0}, {"q": 3, "s": 9.0}])
    release = table([{"q": 9, "s": 0.0}, {"q": 1, "s": 0.1}])
    assert sudare.attack(original, release, [a.Assignment()], truth=[1, 0]).rows[0]["rate"] == 1.0


@pytest.mark.parametrize("published", [1, 9])  # its block, or the rows that are free
def test_columns_count_by_their_spread(table, published):
    original = table([{"q": 1, "s1": 0.0, "s2": 0.0}, {"q": 1, "s1": 1000.0, "s2": 1.0}])
    release = table([{"q": published, "s1": 400.0, "s2": 1.0}])
    assert sudare.attack(original, release, [a.Assignment()], truth=[1]).rows[0]["rate"] == 1.0


def test_equal_release_rows_share_what_they_got(table):
    original = table([{"s1": 1}, {"s1": 3}, {"s1": 9}])
    release = table([{"s1": 9}, {"s1": 2}, {"s1": 2}])
    for truth in ([2, 0, 1], [2, 1, 0]):
        found = sudare.attack(original, release, [a.Assignment()], truth=truth)
        assert found.rows[0]["rate"] == pytest.approx((1 + 0.5 + 0.5) / 3)


def test_equal_release_rows_that_compete_for_one_row_give_up_but_for_one(table):
    original = table([{"s1": 1}, {"s1": 9}])
    release = table([{"s1": 9}, {"s1": 2}, {"s1": 2}])
    rates = []
    for ties in ("expected", "fail"):
        row = sudare.attack(original, release, [a.Assignment()], truth=[1, 0, None], ties=ties).rows[0]
        rates.append(row["rate"])
        assert row["gave_up"] == 1
    assert rates == pytest.approx([1.5 / 3, 1 / 3])


def test_large_blocks_use_the_auction(table):
    random = np.random.default_rng(4)
    rows = random.normal(size=(DENSE + 1, 2))
    turned = rows[::-1] + 1e-6
    original, release = (table([{"s1": x, "s2": y} for x, y in t]) for t in (rows, turned))
    rate = sudare.attack(original, release, [a.Assignment()], truth=range(DENSE, -1, -1)).rows[0]["rate"]
    assert rate > 0.99
