"""The frame that attacks run in: budgets, what is left out and named, what is kept when somebody stops the work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import sudare
from sudare import attacks as a
from sudare import registry
from sudare.attacks.base import Attack
from sudare.attacks.case import Finding, NotRun
from sudare.attacks.measure import success
from sudare.budget import PER_SECOND, seconds_of
from sudare.engine.sample import drawn_rows
from sudare.errors import UsageError

ROWS = [{"q1": i % 3, "s1": 10 * i} for i in range(12)]
TRUTH = list(range(11, -1, -1))


@pytest.fixture
def registered():
    """What a test registers goes with the test."""
    before = dict(registry.all_of("attack"))
    yield
    registry._found["attack"].clear()
    registry._found["attack"].update(before)


@pytest.fixture
def tables(table):
    return table(ROWS), table(ROWS[::-1])


@pytest.mark.parametrize(
    ("given", "seconds"), [(None, 60), (5, 5), ("5", 5), ("5s", 5), ("10m", 600), ("0.5h", 1800)]
)
def test_a_budget_is_read_as_people_write_it(given, seconds):
    assert seconds_of(given) == seconds


@pytest.mark.parametrize("given", ["soon", "", "0s", -1, 0, float("nan"), float("inf"), "1 day"])
def test_a_budget_that_is_no_time_is_refused(given):
    with pytest.raises(UsageError, match="budget: give a time above 0"):
        seconds_of(given)


@pytest.mark.usefixtures("registered")
def test_a_budget_is_shared_by_weight_and_what_one_leaves_the_others_get(tables):
    shares = []

    class Spender(Attack):
        def measure(self, case):
            shares.append(case.work / PER_SECOND)
            return Finding.of_share(1, 2, work=10 * PER_SECOND)

    @registry.attack
    @dataclass(frozen=True, kw_only=True)
    class Light(Spender):
        """Light."""

    @registry.attack
    @dataclass(frozen=True, kw_only=True)
    class Heavy(Spender):
        """Heavy."""

        weight: ClassVar[float] = 3.0

    sudare.attack(*tables, [Light(), Heavy(), Light()], truth=TRUTH, budget=100)
    assert shares == pytest.approx([20, 67.5, 80])


def test_an_attack_that_is_left_out_is_named_with_the_reason(tables):
    every = {row["attack"] for row in sudare.attack(*tables, truth=TRUTH).rows}
    found = sudare.attack(*tables, truth=TRUTH, without=["euclid", "StandardizedEuclid"])
    rest = {row["attack"] for row in found.rows}
    assert every - rest == {name for name, _ in found.skipped} >= {"euclid", "euclid(fallback)"}
    assert "euclid(fallback) (left out as asked)" in found.notes[0]
    assert found.to_dict()["skipped"] == [list(one) for one in found.skipped]


def test_leaving_out_what_does_not_exist_is_refused(tables):
    with pytest.raises(UsageError, match="unknown attack 'euclit'; did you mean 'euclid'"):
        sudare.attack(*tables, truth=TRUTH, without="euclit")


@pytest.mark.usefixtures("registered")
def test_what_was_found_is_kept_when_somebody_stops_the_work(tables):
    @registry.attack
    @dataclass(frozen=True, kw_only=True)
    class Endless(Attack):
        """Takes until somebody stops it."""

        priority: ClassVar[int] = 55

        def measure(self, case):
            raise KeyboardInterrupt

        @classmethod
        def suited(cls, pair):
            return [cls()]

    found = sudare.attack(*tables, truth=TRUTH)
    assert found.stopped
    assert "euclid" in [row["attack"] for row in found.rows]
    assert {"endless", "gower"} <= {name for name, _ in found.skipped}
    with pytest.raises(KeyboardInterrupt):
        sudare.attack(*tables, Endless(), truth=TRUTH)


@pytest.mark.usefixtures("registered")
def test_an_attack_that_cannot_be_run_is_named_by_default_and_refused_by_name(tables):
    @registry.attack
    @dataclass(frozen=True, kw_only=True)
    class Unable(Attack):
        """Never runs."""

        def measure(self, case):
            raise NotRun("needs what nobody has")

        @classmethod
        def suited(cls, pair):
            return [cls()]

    assert ("unable", "needs what nobody has") in sudare.attack(*tables, truth=TRUTH).skipped
    with pytest.raises(UsageError, match="unable: needs what nobody has"):
        sudare.attack(*tables, "unable", truth=TRUTH)


def test_dummies_do_not_dilute_the_rate_of_real_rows(table):
    original, release = table(ROWS), table(ROWS[::-1] + [{"q1": 7, "s1": 5}] * 12)
    found = sudare.attack(original, release, a.Euclid(), truth=TRUTH + [None] * 12)
    row = found.rows[0]
    assert (row["rate"], row["rate_real"], found.worst) == (0.5, 1.0, 1.0)
    assert sudare.attack(original, table(ROWS[::-1]), a.Euclid(), truth=TRUTH).rows[0]["rate_real"] is None


def test_a_guess_counts_by_what_it_adds_to_the_control():
    row = {"kind": "inference", "rate": 0.422, "rate_real": None, "control": 0.262, "baseline": 0.126}
    assert success(row) == pytest.approx((0.422 - 0.262) / (1 - 0.262))
    assert success({**row, "rate": 0.2}) == 0
    assert success({**row, "control": 1.0, "rate": 1.0}) == 0
    assert success({**row, "kind": "linkage"}) == 0.422


def test_draws_are_even_and_nested():
    counts = np.zeros(1000)
    for purpose in range(200):
        few, many = (drawn_rows(1000, most, str(purpose)) for most in (100, 300))
        assert set(few) < set(many)
        counts[few] += 1
    assert counts.sum() == 200 * 100
    assert np.square(counts - 20).sum() / 20 == pytest.approx(0.9 * 1000, rel=0.2)  # a chi-square


def test_rows_of_a_large_release_are_drawn_and_the_result_says_so(table, monkeypatch):
    monkeypatch.setattr("sudare.attacks.matching.DRAWN", 5)
    found = sudare.attack(table(ROWS), table(ROWS[::-1]), a.StandardizedEuclid(), truth=TRUTH)
    assert (found.rows[0]["rate"], found.rows[0]["attacked"]) == (1.0, 5)
    assert "standardized-euclid: estimated from 5 of 12 rows." in found.notes
    assert found.rows[0]["low"] < 0.7
