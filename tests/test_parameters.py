"""Arguments of the wrong kind are refused at the door, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
import pytest

import sudare
import sudare.methods as methods
from sudare.constraints import Above, AtLeast, AtMost, Below, Between, Within
from sudare.cost import dummies, expected_dummies_exact, pr_distinct, score
from sudare.errors import UsageError
from sudare.parameters import as_whole_numbers, fits

PURCHASES = sudare.open("example:purchases", user="user", quasi=["date"])


@pytest.mark.parametrize("verb", ["risk", "disclosure", "attack", "utility", "report", "anonymize", "plan"])
def test_a_table_that_was_not_opened_is_refused_with_the_way_to_open_it(verb: str) -> None:
    more: dict[str, list[Any]] = {"attack": [None], "utility": [None], "anonymize": ["swap"], "plan": ["a"]}
    with pytest.raises(UsageError, match=r"expected a Dataset, which sudare\.open gives, not a DataFrame"):
        getattr(sudare, verb)(pd.DataFrame({"a": [1]}), *more.get(verb, []))
    with pytest.raises(UsageError, match="release"):
        sudare.estimate(3)


@pytest.mark.parametrize(
    ("value", "kind", "fit"),
    [
        (range(2, 10**12), list[int] | range, True),
        (["a", 1], list[str], False),
        (np.int64(3), int, True),
        (np.array([1, 2]), int, False),
        (True, int, False),
        (float("nan"), float, False),
    ],
)
def test_a_value_fits_an_annotation_with_all_that_is_in_it(value: Any, kind: Any, fit: bool) -> None:
    assert fits(value, kind) is fit


@pytest.mark.parametrize(
    ("value", "kind", "fit"),
    [
        (2, Annotated[int, AtLeast(2)], True),
        (1, Annotated[int, AtLeast(2)] | None, False),
        (None, Annotated[int, AtLeast(2)] | None, True),
        (1.0, Annotated[float, Above(0), AtMost(1)], True),
        (0.0, Annotated[float, Above(0), AtMost(1)], False),
        (1, Annotated[float, Below(1)], False),
        (1, Annotated[float, Between(0, 1)], False),
        (1, Annotated[float, Within(0, 1)], True),
        ({"a": 0}, Mapping[str, Annotated[float, Above(0)]], False),
        ("fail", Literal["first", "fail"], True),
        ("best", Literal["first", "fail"], False),
        (["k", "x"], Sequence[Literal["k", "l"]], False),
    ],
)
def test_bounds_and_choices_are_part_of_an_annotation(value: Any, kind: Any, fit: bool) -> None:
    assert fits(value, kind) is fit


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: methods.Mondrian(k=1), "mondrian: k is a whole number, at least 2"),
        (lambda: methods.Mondrian(k="two"), "mondrian: k is a whole number, at least 2"),
        (lambda: methods.RankSwap(p=0), "rank-swap: p is a percentage of the records, above 0, at most 100"),
        (
            lambda: methods.Microaggregate(k=2, variant="trees"),
            "unknown variant 'trees'; did you mean 'tree'?",
        ),
        (
            lambda: methods.Noise(no_such=1),
            "noise has no parameter 'no_such'; there are: sd, columns, scales",
        ),
        (lambda: methods.Noise(scale=1), "noise has no parameter 'scale'; did you mean 'scales'?"),
        (lambda: methods.Shuffle(x=1), "shuffle has no parameter 'x'; it has none"),
        (lambda: methods.Round(column="a"), "round needs to"),
        (lambda: methods.Noise(0.1), "noise: too many positional arguments; give parameters by name"),
        (lambda: sudare.attacks.Euclid(fallbak=True), "euclid has no parameter 'fallbak'; did you mean"),
        (lambda: sudare.utility.MeanError(column="a"), "mean-error has no parameter 'column'; did you mean"),
        (
            lambda: sudare.risk(PURCHASES, modle="exact"),
            "risk has no parameter 'modle'; did you mean 'model'?",
        ),
        (lambda: sudare.risk(PURCHASES, model="exakt"), "risk: unknown model 'exakt'; did you mean 'exact'?"),
        (
            lambda: sudare.disclosure(PURCHASES, measures=["suba"]),
            "unknown measure 'suba'; did you mean 'suda'?",
        ),
        (
            lambda: sudare.report(PURCHASES, audience="all"),
            "report: unknown audience 'all'; there are: internal",
        ),
    ],
)
def test_every_door_refuses_in_the_same_words(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(UsageError) as refused:
        call()
    assert words in str(refused.value)


def test_a_step_of_a_recipe_is_refused_as_a_call_is() -> None:
    for given in ({"no_such": 1}, {"sd": -1}):
        with pytest.raises(UsageError) as called:
            methods.Noise(**given)
        with pytest.raises(UsageError) as read:
            sudare.Recipe.from_steps([{"method": "noise", **given}])
        assert str(read.value) == f"recipe, step 1: {called.value}"


def test_a_number_of_numpy_becomes_one_of_python() -> None:
    assert type(methods.Mondrian(k=np.int64(2)).k) is int
    assert type(methods.Noise(sd=np.float32(0.5)).sd) is float


def test_half_a_person_is_no_count() -> None:
    assert as_whole_numbers([1, 2.0], "x").tolist() == [1, 2]
    for wrong in (1.5, "x", None, float("inf"), 2.0**60, [[1], [2, 3]]):
        with pytest.raises(UsageError):
            as_whole_numbers(wrong, "x")
    with pytest.raises(UsageError, match="whole"):
        expected_dummies_exact([2.5], [3])
    with pytest.raises(UsageError, match="different shapes"):
        pr_distinct([1, 2], [1, 2, 3], 4)
    with pytest.raises(UsageError, match="values of each user"):
        dummies([1, 2], [[0, 1]])


def test_a_plan_takes_whole_numbers_of_any_make() -> None:
    ds = sudare.open("example:purchases", user="user")
    assert [row["clusters"] for row in sudare.plan(ds, "goods", clusters=np.int64(2)).rows] == [2]
    assert [row["k"] for row in sudare.plan(ds, "goods", k=np.array([2, 3])).rows] == [2, 3]


def test_lists_of_different_lengths_are_refused_in_words() -> None:
    for n, c in (([], [1, 2]), ([400, 500, 600], [1, 2])):
        with pytest.raises(UsageError, match="n"):
            score(n, 1000, 50, c)
