"""A method's form comes from its class: family, parameters and choices are declared there and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import pytest

from sudare import registry
from sudare.studio.method_forms import ORDER, Card, families, step_from


def cards() -> dict[str, Card]:
    return {card.name: card for _, group in families() for card in group}


def test_every_method_stands_under_a_known_family() -> None:
    assert [family for family, _ in families()] == ORDER
    assert set(cards()) == set(registry.all_of("method"))
    assert cards()["mondrian"].family == "k-anonymity"
    assert cards()["suppress"].family == "Generalise and suppress"


def test_a_family_that_nobody_knows_gets_a_heading_of_its_own_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = dict(registry.all_of("method"))
    monkeypatch.setitem(registry._found, "method", found)

    @registry.method
    @dataclass(frozen=True, kw_only=True)
    class Bleach:
        """Wash colours out."""

        colour: Literal["red", "blue"] = "red"
        family: ClassVar[str] = "Laundry"

    heading, (card,) = families()[-1]
    assert (heading, card.name) == ("Laundry", "bleach")
    assert [(field.kind, field.choices) for field in card.fields] == [("choice", ("red", "blue"))]


def test_a_form_asks_for_numbers_choices_and_columns_as_the_annotations_say() -> None:
    fields = {field.name: field for field in cards()["mondrian"].fields}
    assert (fields["k"].kind, fields["k"].required) == ("number", True)
    assert (fields["l"].kind, fields["l"].required) == ("number", False)
    assert fields["columns"].kind == "columns"
    assert fields["relaxed"].choices == ("true", "false")
    assert (fields["diversity"].choices, fields["diversity"].default) == (("distinct", "entropy"), "distinct")


def test_a_form_says_its_step() -> None:
    form = {"method": "mondrian", "p-k": "5", "p-columns": "age, sex", "p-diversity": "entropy", "p-l": "1.5"}
    assert step_from(form) == {
        "method": "mondrian",
        "k": 5,
        "columns": ["age", "sex"],
        "l": 1.5,
        "diversity": "entropy",
    }
