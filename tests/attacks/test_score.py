"""The call itself: what it takes, what it refuses, what it says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sudare
from sudare import attacks as a
from sudare.attacks.base import Candidates
from sudare.attacks.scoring import hit_probability, score, wilson
from sudare.errors import SudareWarning, UsageError

ROWS = [{"q": 1, "s": 10}, {"q": 1, "s": 20}, {"q": 2, "s": 30}, {"q": 3, "s": 40}]
TRUTH = [3, 1, 0, 2]


@pytest.fixture(scope="module")
def original(table):
    return table(ROWS)


@pytest.fixture(scope="module")
def release(table):
    return table([ROWS[i] for i in TRUTH])


def test_the_frame_has_the_promised_columns_in_the_given_order(original, release):
    frame = sudare.attack(original, release, [a.Euclid(), a.IdentifyRand()], truth=TRUTH).to_frame()
    assert (
        list(frame.columns)
        == "attack kind target rate baseline low high control rate_real attacked gave_up seconds".split()
    )
    assert list(frame["attack"]) == ["euclid", "identify-rand"]
    assert list(frame["rate"]) == [1.0, 0.75]
    assert (frame["baseline"] == 0.25).all()


def test_without_attacks_the_roles_choose(original, release, table):
    names = [row["attack"] for row in sudare.attack(original, release, truth=TRUTH).rows]
    assert names[:5] == ["identify-rand", "identify-sa", "identify-sort", "identify-sa21", "euclid"]
    only_quasi = table([{"q": "a"}, {"q": "b"}])
    found = sudare.attack(only_quasi, only_quasi, truth=[1, 0])
    assert "identify-rand" in {row["attack"] for row in found.rows}
    assert "euclid" not in {row["attack"] for row in found.rows}


def test_attacks_may_be_named(original, release):
    assert sudare.attack(original, release, "euclid", truth=TRUTH).rows[0]["attack"] == "euclid"
    with pytest.raises(UsageError, match="did you mean 'euclid'"):
        sudare.attack(original, release, ["euclit"], truth=TRUTH)


def test_a_result_is_a_dictionary_and_a_chart_too(original, release):
    result = sudare.attack(original, release, truth=TRUTH)
    content = result.to_dict()
    assert content["command"] == "attack"
    assert content["rows"][0]["attack"] == "identify-rand"
    assert content["worst"] == 1.0
    assert result.chart().to_dict()


def test_rows_in_the_original_order_are_reported_and_shuffled(original):
    with pytest.warns(SudareWarning, match="S-ORDER"):
        result = sudare.attack(original, original, [a.IdentifyRand()], truth=[0, 1, 2, 3])
    assert result.rows[0]["rate"] == 0.75
    assert result.notes[0].startswith("S-ORDER")


def test_giving_up_is_a_miss_and_counted(original, table):
    release = table([{"q": 9, "s": 10}, {"q": 1, "s": 20}])
    row = sudare.attack(original, release, [a.Euclid()], truth=[1, 0]).rows[0]
    assert (row["rate"], row["gave_up"]) == (0.0, 1)


@pytest.mark.parametrize(
    "truth",
    [
        pa.array([3, 1, None, 2]),
        pa.chunked_array([[3, 1], [None, 2]]),
        pd.array([3, 1, None, 2], dtype="Int64"),
        pd.Series([3, 1, None, 2], index=[7, 7, 0, 1]),
        iter([3, 1, None, 2]),
        np.array([3, 1, np.nan, 2]),
    ],
)
def test_the_truth_may_come_from_anywhere(original, release, truth):
    assert sudare.attack(original, release, [a.Euclid()], truth=truth).rows[0]["rate"] == 0.75


@pytest.mark.parametrize("truth", [["3", "1", "0", "2"], [2.5, 1, 0, 2], [True, False, True, False], 7])
def test_a_truth_that_names_no_rows_is_refused(original, release, truth):
    with pytest.raises(UsageError, match="truth"):
        sudare.attack(original, release, [a.Euclid()], truth=truth)


def test_a_dummy_is_never_a_hit(original, table):
    release = table([{"q": 2, "s": 30}, {"q": 1, "s": 10}])
    assert sudare.attack(original, release, [a.Euclid()], truth=[None, 0]).rows[0]["rate"] == 0.5
    assert (
        sudare.attack(original, release, [a.Euclid()], truth=[float("nan"), 0]).rows[0]["baseline"] == 0.125
    )


@pytest.mark.parametrize(
    ("truth", "words"),
    [
        ([0, 1], "2 entries"),
        ([0, 1, 2, 4], "does not have"),
        ([0, 1, 2, "x"], "row numbers"),
        (None, "needs the truth"),
    ],
)
def test_a_wrong_truth_is_refused(original, release, truth, words):
    with pytest.raises(UsageError, match=words):
        sudare.attack(original, release, [a.Euclid()], truth=truth)


def test_unequal_columns_are_named(original, table):
    other = table([{"q": 1, "t": 2}], quasi=["q"], sensitive=["t"])
    with pytest.raises(UsageError, match="lacks s and adds t"):
        sudare.attack(original, other, truth=[0])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"ties": "best"}, "unknown rule"), ({"attacks": []}, "empty"), ({"attacks": [3]}, "give attacks")],
)
def test_wrong_calls_say_what_to_do(original, release, wrong, words):
    with pytest.raises(UsageError, match=words):
        sudare.attack(original, release, truth=TRUTH, **wrong)


def test_no_numeric_column_is_an_error_when_a_distance_is_asked_for(table):
    words = table([{"q": "a"}, {"q": "b"}])
    with pytest.raises(UsageError, match="no numeric column"):
        sudare.attack(words, words, [a.Euclid()], truth=[1, 0])


def test_recoded_numbers_are_read_as_their_middle(original, table):
    release = table(
        [{"q": 3, "s": "[35-44]"}, {"q": 1, "s": "[15-24]"}, {"q": 1, "s": "*"}, {"q": 2, "s": "[25-34]"}]
    )
    row = sudare.attack(original, release, [a.Euclid(quasi=())], truth=[3, 1, 0, 2]).rows[0]
    assert row["rate"] == pytest.approx(0.75)


def test_infinite_and_missing_numbers(original, table):
    broken = table([{"q": 1, "s": float("inf")}, {"q": 1, "s": 1.0}])
    with pytest.raises(sudare.DataError, match="'s' holds NaN or infinite"):
        sudare.attack(original, broken, [a.Euclid()], truth=[1, 0])
    gaps = table([{"q": 1, "s": None}, {"q": 1, "s": 20}])
    assert sudare.attack(original, gaps, [a.Euclid()], truth=[1, 0]).rows[0]["rate"] == pytest.approx(0.5)


def test_wilson_is_inside_0_and_1_and_holds_the_rate():
    for rate in (0.0, 0.3, 1.0):
        low, high = wilson(rate, 7)
        assert 0 <= low <= rate <= high <= 1
    assert wilson(0.5, 100) == pytest.approx((0.4038315, 0.5961685), abs=1e-6)


def test_weights_of_runs_are_shared_by_their_members():
    members, one = np.arange(4), np.array([0, 2])
    found = Candidates(
        members, np.zeros(4, np.int64), one, np.array([0, 3]), np.array([3, 4]), np.array([0.6, 0.4])
    )
    assert hit_probability(found, np.array([0, 2, 3, -1])).tolist() == pytest.approx([0.2, 0.2, 0.4, 0.0])


def test_rows_that_give_up_look_elsewhere():
    first = Candidates.of_guesses(np.array([-1, 1, -1]), originals=3)
    both = first.or_else(Candidates.of_classes(np.array([0, 0, 1]), np.array([0, 0, -1])))
    assert both.sizes.tolist() == [2, 1, 0]
    assert both.of_row(0).tolist() == [0, 1]
    assert score(both, np.array([0, 1, 2]), 3).rate == pytest.approx(0.5)
    assert score(both, np.array([0, 1, 2]), 3, "first").rate == pytest.approx(2 / 3)
    assert score(both, np.array([0, 1, 2]), 3, "fail").gave_up == 1


def test_the_largest_scores_are_the_candidates():
    found = Candidates.of_scores(np.array([[0.1, 0.9, 0.9], [np.nan] * 3, [0.5, 0.2, 0.1]]), originals=3)
    assert [found.of_row(i).tolist() for i in range(3)] == [[1, 2], [], [0]]


def test_a_column_named_twice_is_read_once(original, release):
    twice = [a.Euclid(quasi=("q", "q")), a.Euclid(columns=("s", "s")), a.IdentifyRand(quasi=("q", "q"))]
    found = sudare.attack(original, release, twice, truth=TRUTH)
    assert [row["rate"] for row in found.rows] == [1.0, 1.0, 0.75]
