"""Recipe cards: every registered method as a form, and what the form says back as parameters."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from sudare import registry
from sudare.errors import UsageError, nearest
from sudare.parameters import annotation_of, options
from sudare.refusals import MANY

ORDER = ["Histories", "k-anonymity", "l-diversity", "Generalise and suppress", "Perturb"]


@dataclass(frozen=True)
class Field:
    """One parameter of a method as an input."""

    name: str
    kind: Literal["columns", "choice", "number", "text"]
    required: bool
    default: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Card:
    """A method as the recipe page offers it."""

    name: str
    technique: str
    words: str
    family: str
    fields: tuple[Field, ...]


def families() -> list[tuple[str, list[Card]]]:
    """Every method as a card under the family that it names; families of others come last."""
    made = [_card(name, cls) for name, cls in registry.all_of("method").items()]
    named = dict.fromkeys([*ORDER, *sorted(card.family for card in made)])
    grouped = [(family, [card for card in made if card.family == family]) for family in named]
    return [(family, cards) for family, cards in grouped if cards]


def step_from(form: Mapping[str, str]) -> dict[str, Any]:
    """A recipe step from the form of a card."""
    method = str(form.get("method", ""))
    cls = registry.find("method", method)
    step: dict[str, Any] = {"method": registry.name_of(cls)}
    for field in dataclasses.fields(cls):
        given = str(form.get(f"p-{field.name}", "")).strip()
        if field.init and given:
            step[field.name] = value_of(given, annotation_of(cls, field.name))
    return step


def value_of(text: str, kind: Any) -> Any:
    """What a person typed, as the parameter's type wants it.

    >>> value_of("4", int), value_of("date, time", Sequence[str] | None), value_of("0.1", float)
    (4, ['date', 'time'], 0.1)
    >>> value_of('{ dates = ["month"] }', Mapping[str, Any] | str | None), value_of("true", bool)
    ({'dates': ['month']}, True)
    """
    first, *_ = kinds = options(kind)
    if (first is not str and get_origin(first) is not Literal) or text[:1] in "[{":
        try:
            return tomllib.loads(f"v = {text}")["v"]
        except tomllib.TOMLDecodeError:
            pass
    if any(get_origin(one) in MANY for one in kinds):
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


def steps_from_toml(text: str) -> list[dict[str, Any]]:
    """The steps of a recipe that was edited as text."""
    try:
        listed = tomllib.loads(text).get("step", [])
    except tomllib.TOMLDecodeError as error:
        where = str(error).rpartition("(")[2].rstrip(")")
        raise UsageError(f"the recipe is not valid TOML ({where})") from None
    if not isinstance(listed, list) or not all(isinstance(step, dict) for step in listed):
        raise UsageError('a step is [[step]] with method = "..." and its parameters')
    return list(listed)


def check_columns(steps: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Every column that a step names must be in the table: better told now than after a long run."""
    for step in steps:
        cls = registry.find("method", str(step["method"]))
        named = [field.name for field in _fields(cls) if field.kind == "columns"]
        given = [step[name] for name in named if name in step]
        for name in [c for each in given for c in ([each] if isinstance(each, str) else each)]:
            if name not in columns:
                raise UsageError(f"{step['method']}: unknown column '{name}'; {nearest(name, columns)}")


def moved(steps: Sequence[dict[str, Any]], place: int, by: int) -> list[dict[str, Any]]:
    """The steps with one of them moved up or down.

    >>> moved([{"method": "a"}, {"method": "b"}], 1, -1)
    [{'method': 'b'}, {'method': 'a'}]
    """
    listed = list(steps)
    if 0 <= place < len(listed) and 0 <= place + by < len(listed):
        listed.insert(place + by, listed.pop(place))
    return listed


def described(steps: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """Method, technique and parameters of every step, for the list of steps."""
    found = []
    for step in steps:
        cls = registry.find("method", str(step["method"]))
        told = ", ".join(f"{name} = {_said(value)}" for name, value in step.items() if name != "method")
        found.append((str(step["method"]), str(getattr(cls, "technique", "")), told))
    return found


def _said(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _card(name: str, cls: type[Any]) -> Card:
    fields = tuple(field for field in _fields(cls) if field.name != "force")
    technique, family = getattr(cls, "technique", ""), getattr(cls, "family", "Other")
    return Card(name, technique, registry.summary(cls), family, fields)


def _fields(cls: type[Any]) -> list[Field]:
    return [_field(field, annotation_of(cls, field.name)) for field in dataclasses.fields(cls) if field.init]


def _field(field: dataclasses.Field[Any], annotation: Any) -> Field:
    kinds = [kind for kind in options(annotation) if kind is not type(None)]
    choices = get_args(kinds[0]) if get_origin(kinds[0]) is Literal else ()
    choices = ("true", "false") if kinds == [bool] else choices
    missing = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    default = None if missing or field.default is dataclasses.MISSING else field.default
    shown = "" if default in (None, (), "") else str(default)
    if "columns" in field.name or (field.name in ("column", "value") and kinds[0] is str):
        return Field(field.name, "columns", missing, shown)
    if choices:
        return Field(field.name, "choice", missing, shown, choices)
    number = all(kind in (int, float) for kind in kinds)
    return Field(field.name, "number" if number else "text", missing, shown)
