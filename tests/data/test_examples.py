"""The built-in data."""

from __future__ import annotations

import pytest

import sudare
from sudare.errors import UsageError
from sudare.examples import builtin as examples


@pytest.mark.parametrize("name", examples.NAMES)
def test_every_example_opens(name: str) -> None:
    assert sudare.open(f"example:{name}").rows >= 4


def test_histories_have_the_size_asked_for_and_are_repeatable() -> None:
    ds = sudare.open("example:histories:120", user="user")
    assert ds.users == 120
    assert ds.to_pyarrow().equals(examples.histories(120))


@pytest.mark.parametrize(
    "name",
    [
        "example:nothing",
        "example:histories:many",
        "example:histories:0",
        "example:histories:",
        "example:purchases:5",
    ],
)
def test_unknown_examples_are_explained(name: str) -> None:
    with pytest.raises(UsageError):
        sudare.open(name)


@pytest.mark.parametrize(
    "wrong", [{"users": 0}, {"goods": 0}, {"records_per_user": 0.0}, {"seed": -1}, {"users": 2.5}]
)
def test_histories_of_nobody_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        examples.histories(**wrong)
