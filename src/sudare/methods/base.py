"""What a method declares, so that one run of a recipe fits every engine and nobody keeps a list of methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from sudare.engine import rows
from sudare.engine.rows import Draft, Together
from sudare.engine.summary import Summary
from sudare.errors import UsageError

Scope = Literal["row", "group", "table"]
Detail = Literal["total", "mean", "fact"]


@runtime_checkable
class Method(rows.Method, Protocol):
    """A step of a recipe: parameters in a frozen dataclass, one verb, `apply`.

    `scope` says which rows it needs at a time: "row" (any batch will do), "group" (all rows with equal values in the
    columns that `together` names), "table" (all rows in one place); `instead` what to use where they cannot be.
    `details` says of everything that the method measures how parts of it make a whole: a "total" adds up, a "mean" is
    weighted by rows, a "fact" is the same everywhere; "*" stands for all other names. `technique` is the word of
    ISO/IEC 20889, `family` the heading in menus. A method with `randomises = True` publishes cells that are drawn per
    record, which must be the same draws in every release.
    """

    scope: ClassVar[Scope]
    technique: ClassVar[str]
    family: ClassVar[str]
    details: ClassVar[Mapping[str, Detail]]


@runtime_checkable
class Fitted(Protocol):
    """A method that must know something of the whole table before it can work on a part of it."""

    def fit(self, summary: Summary) -> rows.Method:
        """The method with what it has to know."""
        ...


@runtime_checkable
class Grouped(Protocol):
    """A method of scope "group"."""

    def together(self, shape: Draft) -> Together:
        """Which rows it needs together, in a table of this shape."""
        ...


def needs(step: Method, shape: Draft) -> Together | Literal["row", "table"]:
    """Which rows a step needs in one batch; groups by no column are the whole table."""
    if step.scope == "group" and isinstance(step, Grouped):
        together = step.together(shape)
        return together if together.by else "table"
    return "row" if step.scope == "row" else "table"


def merged(kinds: Mapping[str, Detail], outcomes: list[rows.Outcome]) -> dict[str, Any]:
    """What a step measured on the whole, from what it measured on parts.

    >>> parts = [rows.Outcome(2, {"changed": 1, "ncp": 0.5}), rows.Outcome(6, {"changed": 4, "ncp": 0.1})]
    >>> merged({"changed": "total", "ncp": "mean"}, parts)
    {'changed': 5, 'ncp': 0.2}
    """
    names = dict.fromkeys(name for outcome in outcomes for name in outcome.details)
    unknown = [name for name in names if name not in kinds and "*" not in kinds]
    if unknown:
        raise UsageError(f"details {', '.join(unknown)}: declare each as total, mean or fact")
    if len(outcomes) == 1:
        return dict(outcomes[0].details)
    return {
        name: _merged(
            kinds.get(name, kinds.get("*", "fact")), [o for o in outcomes if name in o.details], name
        )
        for name in names
    }


def _merged(kind: Detail, outcomes: list[rows.Outcome], name: str) -> Any:
    values = [outcome.details[name] for outcome in outcomes]
    if kind == "fact" or any(value is None for value in values):
        return values[0]
    if isinstance(values[0], Mapping):
        inner = dict.fromkeys(key for value in values for key in value)
        parts = [rows.Outcome(o.rows, value) for o, value in zip(outcomes, values)]
        return {key: _merged(kind, [p for p in parts if key in p.details], key) for key in inner}
    if kind == "total":
        return sum(values)
    counted = sum(outcome.rows for outcome in outcomes)
    return sum(outcome.rows * value for outcome, value in zip(outcomes, values)) / counted if counted else 0.0
