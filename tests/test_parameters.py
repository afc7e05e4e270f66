"""Arguments of the wrong kind are refused at the door, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import sudare
from sudare.cost import dummies, expected_dummies_exact, pr_distinct, score
from sudare.errors import UsageError
from sudare.parameters import as_whole_numbers, fits


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
