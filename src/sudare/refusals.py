"""How an argument that does not fit its annotation is refused: one form of words for every door."""

from __future__ import annotations

import collections.abc as abc
import math
import types
import typing
from typing import Annotated, Any, Literal

from sudare.errors import nearest

MANY = (list, tuple, abc.Sequence, abc.Iterable, abc.Collection)
WORDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false", type(None): ""}


def refusal(value: Any, kind: Any, where: str) -> str:
    """What is wrong: an unknown choice, a value out of bounds, or another type than expected."""
    owner, _, name = where.rpartition(": ")
    choices = [choice for option in _unions(kind) for choice in _choices(option)]
    wrong = value if isinstance(value, str) else _first_unknown(value, choices)
    if choices and isinstance(wrong, str):
        noun = next((_noun(option) for option in _unions(kind) if _choices(option)), None) or name
        return f"{owner}: unknown {noun} '{wrong}'; {nearest(wrong, choices)}".removeprefix(": ")
    if _constrained(kind):
        return f"{where} is {_described(kind)}"
    return f"{where}: expected {_described(kind)}, not {shown(value)}"


def _first_unknown(value: Any, choices: list[str]) -> str | None:
    texts = value if isinstance(value, (list, tuple)) else ()
    return next((one for one in texts if isinstance(one, str) and one not in choices), None)


def _unions(kind: Any) -> tuple[Any, ...]:
    return typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, types.UnionType) else (kind,)


def _choices(kind: Any) -> list[str]:
    """The choices of a Literal, also of one inside a list or an Annotated."""
    if typing.get_origin(kind) is Literal:
        return list(typing.get_args(kind))
    inner = typing.get_args(kind)[:1] if typing.get_origin(kind) in (Annotated, *MANY) else ()
    return [choice for one in inner for choice in _choices(one)]


def _noun(kind: Any) -> str | None:
    """The text among the constraints: what the parameter is."""
    if typing.get_origin(kind) in MANY:
        return _noun(typing.get_args(kind)[0])
    return next((one for one in getattr(kind, "__metadata__", ()) if isinstance(one, str)), None)


def _constrained(kind: Any) -> bool:
    inner = typing.get_args(kind) if typing.get_origin(kind) is not Literal else ()
    return typing.get_origin(kind) is Annotated or any(_constrained(one) for one in inner)


def _described(kind: Any) -> str:
    """
    >>> from sudare.constraints import Above, AtMost
    >>> _described(Annotated[float, "a share", Above(0), AtMost(1)] | None)
    'a share, above 0, at most 1'
    """
    texts = [WORDS[o] if o in WORDS else _described_one(o) for o in _unions(kind)]
    return " or ".join(dict.fromkeys(t for t in texts if t)) or "another kind of value"


def _described_one(kind: Any) -> str:
    origin, inner = typing.get_origin(kind), [a for a in typing.get_args(kind) if a is not Ellipsis]
    if origin is Annotated:
        bounds = [str(one) for one in inner[1:] if hasattr(one, "allows")]
        return ", ".join([_noun(kind) or _described(inner[0]), *bounds])
    if origin is Literal:
        return "one of " + ", ".join(inner)
    if origin in MANY and inner:
        return f"a list of {_described(inner[0])}" if inner[0] is not Any else "a list"
    if isinstance(origin, type) and issubclass(origin, abc.Mapping):
        return f"a mapping to {_described(inner[-1])}" if inner and inner[-1] is not Any else "a mapping"
    if getattr(kind, "__name__", "") == "Dataset":
        return "a Dataset, which sudare.open gives"
    return _with_article(kind.__name__) if isinstance(kind, type) and kind is not Any else ""


def _with_article(name: str) -> str:
    """
    >>> _with_article("Attack"), _with_article("Key"), _with_article("bytes")
    ('an Attack', 'a Key', 'bytes')
    """
    return name if name in ("bytes", "PathLike") else f"{'an' if name[0] in 'AEIOaeio' else 'a'} {name}"


def shown(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN or infinity"
    return (WORDS | {type(None): "nothing"}).get(type(value), _with_article(type(value).__name__))
