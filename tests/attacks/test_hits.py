"""Scores against a slow reference: every release row by itself, its candidates as a plain dictionary."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.attacks.base import Candidates
from sudare.attacks.scoring import hit_probability, score, wilson

ORIGINALS = 7


@st.composite
def candidates(draw, releases, weighted=st.booleans(), depth=1):
    """Runs over shuffled members: sets of no, one or several runs, runs of nobody, rows that give up, and what these
    do then.
    """
    members = np.array(draw(st.permutations(range(ORIGINALS)))[: draw(st.integers(1, ORIGINALS))])
    sets, starts, stops = [0], [], []
    for _ in range(draw(st.integers(1, 4))):
        cuts = sorted(draw(st.sets(st.integers(0, len(members)), max_size=4)))
        for begin, end in list(itertools.pairwise(cuts))[::2]:
            members[begin:end] = np.sort(members[begin:end])
            starts.append(begin)
            stops.append(end)
        if draw(st.booleans()):  # a run of nobody, at the end where the next one would begin
            starts.append(max([0, *stops[sets[-1] :], len(members) if draw(st.booleans()) else 0]))
            stops.append(starts[-1])
        sets.append(len(starts))
    # a run is ascending: sort once more, as later cuts may have overlapped it
    members = np.sort(members) if draw(st.booleans()) or not _ascending(members, starts, stops) else members
    of = st.sampled_from(range(-1, len(sets) - 1))
    set_of = np.array([draw(of) for _ in range(releases)], np.int64)
    shares = [draw(st.integers(1, 5)) / 10 for _ in starts]
    found = Candidates(
        members,
        set_of,
        np.array(sets),
        np.array(starts, np.int64),
        np.array(stops, np.int64),
        np.array(shares) if draw(weighted) else None,
    )
    return (
        found.or_else(draw(candidates(releases, weighted, depth - 1)))
        if depth and draw(st.booleans())
        else found
    )


def _ascending(members, starts, stops):
    return all((np.diff(members[a:b]) > 0).all() for a, b in zip(starts, stops))


def chances(found, row):
    """The candidates of a row and the probability of each."""
    chosen = found.set_of[row]
    if chosen < 0:
        return {} if found.otherwise is None else chances(found.otherwise, row)
    runs = range(found.offsets[chosen], found.offsets[chosen + 1])
    sizes = {r: int(found.stops[r] - found.starts[r]) for r in runs}
    total = sum(sizes.values())
    return {
        int(member): float(Fraction(1, total)) if found.weights is None else found.weights[r] / sizes[r]
        for r in runs
        for member in found.members[found.starts[r] : found.stops[r]]
    }


def reference(found, truth, ties):
    hits = []
    for row, true in enumerate(truth):
        known = chances(found, row)
        right = {
            "expected": known.get(int(true), 0.0),
            "first": float(bool(known) and min(known) == true),
            "fail": float(list(known) == [true] and sum(known.values()) == 1),
        }
        hits.append(right[ties])
    return hits


@settings(max_examples=400, deadline=None)
@given(st.data(), st.sampled_from(["expected", "first", "fail"]))
def test_hits_are_those_of_the_slow_reference(data, ties):
    releases = data.draw(st.integers(1, 6))
    found = data.draw(candidates(releases))
    truth = np.array([data.draw(st.integers(-1, ORIGINALS - 1)) for _ in range(releases)])
    expected = reference(found, truth, ties)
    assert hit_probability(found, truth, ties).tolist() == pytest.approx(expected)
    scored, sizes = (
        score(found, truth, ORIGINALS, ties),
        [len(chances(found, row)) for row in range(releases)],
    )
    assert scored.rate == pytest.approx(sum(expected) / releases)
    assert scored.baseline == pytest.approx(sum(truth >= 0) / releases / ORIGINALS)
    lost = sum(1 - sum(chances(found, row).values()) for row in range(releases))
    assert abs(scored.gave_up - lost) < 0.5 + 1e-9
    assert scored.tied == sum(size > 1 for size in sizes)
    assert scored.from_ties == pytest.approx(sum(h for h, n in zip(expected, sizes) if n > 1) / releases)
    assert found.sizes.tolist() == sizes
    assert [sorted(chances(found, row)) for row in range(releases)] == [
        found.of_row(row).tolist() for row in range(releases)
    ]


@pytest.mark.parametrize(("hits", "rows"), [(0, 4), (1, 4), (4, 4), (37, 90), (1, 1)])
def test_wilson_holds_the_rates_whose_own_test_would_not_reject(hits, rows):
    """The ends of the interval are the p with |rate - p| = z sqrt(p (1 - p) / rows)."""
    rate, z = hits / rows, 1.959963984540054
    low, high = wilson(rate, rows)
    for end in (low, high):
        assert abs(rate - end) == pytest.approx(z * sqrt(end * (1 - end) / rows), abs=1e-12)
    assert low < high


def test_an_interval_never_leaves_what_a_rate_can_be():
    assert all(wilson(1.0, rows)[1] == 1.0 for rows in range(1, 2000))
    assert all(wilson(0.0, rows)[0] == 0.0 for rows in range(1, 2000))
    assert all(
        0 <= wilson(hits / 50, 50)[0] <= hits / 50 <= wilson(hits / 50, 50)[1] <= 1 for hits in range(51)
    )


def test_nobody_found_anything():
    nothing = Candidates.of_pairs(np.array([], np.int64), np.array([], np.int64), releases=2, originals=3)
    for ties in ("expected", "first", "fail"):
        assert hit_probability(nothing, np.array([0, 2]), ties).tolist() == [0.0, 0.0]
    assert score(nothing, np.array([0, 2]), 3).gave_up == 2
