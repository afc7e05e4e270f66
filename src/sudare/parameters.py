"""Arguments are checked once, at the door, against the annotations that are there anyway."""

from __future__ import annotations

import collections.abc as abc
import functools
import inspect
import math
import os
import types
import typing
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from sudare.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])
_MANY = (list, tuple, abc.Sequence, abc.Iterable, abc.Collection)


def checked(function: F) -> F:
    """A public function that refuses arguments of the wrong type with a UsageError instead of a TypeError."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs)
        for name, value in given.arguments.items():
            if value is signature.parameters[name].default:
                continue
            fitted(value, _annotation(function, name), f"{function.__name__}: {name}")
        return function(*args, **kwargs)

    return typing.cast(F, guarded)


def fields_fitted(cls: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The values for a dataclass's fields: lists become the tuples that are asked for, a single text where a list
    of texts is asked for a list of one, wrong types an error.
    """
    return {name: fitted(_listed(value, kind), kind, name) for name, value, kind in _annotated(cls, given)}


def _annotated(cls: type[Any], given: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    return [(name, value, _annotation(cls, name)) for name, value in given.items()]


def _listed(value: Any, kind: Any) -> Any:
    """One text as a list of one where only a list of texts fits."""
    return (value,) if isinstance(value, str) and not fits(value, kind) and fits((value,), kind) else value


def fitted(value: Any, kind: Any, name: str) -> Any:
    """The value as `kind` wants it, or a UsageError.

    >>> fitted(["a", "b"], tuple[str, ...] | None, "columns")
    ('a', 'b')
    >>> fitted("a", tuple[str, ...] | None, "columns")
    ('a',)
    """
    if fits(value, kind):
        return value
    if any(typing.get_origin(option) is tuple for option in _options(kind)):
        as_tuple = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value
        if fits(as_tuple, kind):
            return as_tuple
    raise UsageError(f"{name}: expected {_told(kind)}, not {_said(value)}")


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of an annotated kind; a kind we cannot judge fits."""
    if kind is Any or kind is object:
        return True
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, option) for option in typing.get_args(kind))
    if origin is typing.Literal:
        return isinstance(value, str)  # the function's own message names the choices
    if origin in _MANY:
        inner = [a for a in typing.get_args(kind) if a is not Ellipsis]
        many = (
            isinstance(value, origin) and not isinstance(value, (str, bytes, dict)) and _can_be_walked(value)
        )
        seen = value[:1] if isinstance(value, range) else value if isinstance(value, abc.Collection) else ()
        return many and (inner in ([], [Any]) or all(fits(v, inner[0]) for v in seen))
    if origin is not None:
        return isinstance(value, origin) if isinstance(origin, type) else True
    if kind is type(None) or kind is None:
        return value is None
    if kind is bool or not isinstance(kind, type):
        return isinstance(value, bool) if kind is bool else True
    if kind is int:
        return hasattr(value, "__index__") and not isinstance(value, bool) and _is_one(value)
    if kind is float:
        return _is_number(value) and math.isfinite(value)
    return isinstance(value, kind)


def as_numbers(value: Any, name: str) -> NDArray[np.float64]:
    """A number or an array of numbers as doubles, or a UsageError."""
    import numpy as np

    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{name}: expected a number or a list of numbers, not {_said(value)}") from None


def as_whole_numbers(value: Any, name: str) -> NDArray[np.int64]:
    """A whole number or an array of them, or a UsageError."""
    import numpy as np

    numbers = as_numbers(value, name)
    if not (np.abs(numbers) < 2**53).all() or (numbers != np.floor(numbers)).any():
        raise UsageError(f"{name}: expected whole numbers")
    return numbers.astype(np.int64)


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, (bool, str, bytes)) and _is_one(value)


def _is_one(value: Any) -> bool:
    """An array of numbers is no number, not even one without dimensions."""
    return not hasattr(value, "__len__")


def _can_be_walked(value: Any) -> bool:
    """An array without dimensions cannot be walked."""
    return getattr(value, "ndim", 1) > 0


def _options(kind: Any) -> tuple[Any, ...]:
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return typing.get_args(kind)
    return (kind,)


def _annotation(owner: Any, name: str) -> Any:
    """The annotation of a parameter or field; Any where its names are known to type checkers only."""
    for cls in owner.__mro__ if isinstance(owner, type) else (owner,):
        text = getattr(cls, "__annotations__", {}).get(name)
        if text is not None:
            try:
                return eval(text, {}, _Names(inspect.getmodule(cls))) if isinstance(text, str) else text
            except NameError:
                return Any
    return Any


class _Names(dict[str, Any]):
    """What an annotation may speak of: the names of its module, and the public ones, which modules import late."""

    def __init__(self, module: Any) -> None:
        super().__init__(vars(module), os=os)

    def __missing__(self, name: str) -> Any:
        import sudare

        if name in ("Dataset", "Release", "Key"):
            return getattr(sudare, name)
        raise KeyError(name)


def _told(kind: Any) -> str:
    names = {
        int: "a whole number",
        float: "a finite number",
        str: "text",
        bool: "true or false",
        type(None): "",
    }
    told = [names[o] if o in names else _told_many(o) or _told_class(o) for o in _options(kind)]
    return " or ".join(dict.fromkeys(t for t in told if t)) or "another kind of value"


def _told_many(kind: Any) -> str:
    inner = [a for a in typing.get_args(kind) if a is not Ellipsis]
    return f"a list of {_told(inner[0])}" if typing.get_origin(kind) in _MANY and inner else ""


def _told_class(kind: Any) -> str:
    if getattr(kind, "__name__", "") == "Dataset":
        return "a Dataset, which sudare.open gives"
    return f"a {kind.__name__}" if isinstance(kind, type) else ""


def _said(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN or infinity"
    names = {
        str: "text",
        int: "a whole number",
        float: "a number",
        bool: "true or false",
        type(None): "nothing",
    }
    return names.get(type(value), f"a {type(value).__name__}")
