"""Arguments are checked once, at the door, against the annotations that are there anyway.

Types, `Literal` choices and the bounds of `sudare.constraints` are refused with one form of words; whoever is
behind the door trusts what arrives.
"""

from __future__ import annotations

import collections.abc as abc
import functools
import inspect
import math
import os
import types
import typing
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from sudare.errors import UsageError, is_interrupt, nearest, of_engine
from sudare.refusals import MANY, refusal, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])


def checked(function: F) -> F:
    """A public function that refuses arguments that do not fit with a UsageError instead of a TypeError."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def guarded(*args: Any, **given: Any) -> Any:
        bound = _bound(signature, function.__name__, args, given)
        for name, value in bound.arguments.items():
            if value is not signature.parameters[name].default:
                where = f"{function.__name__}: {name}"
                bound.arguments[name] = fitted(value, annotation_of(function, name), where)
        try:
            return function(*bound.args, **bound.kwargs)
        except Exception as error:
            if is_interrupt(error):
                raise KeyboardInterrupt from None
            if (known := of_engine(error)) is not None:
                raise known from None
            raise

    return typing.cast(F, guarded)


def checked_fields(cls: type[Any], owner: str) -> None:
    """Make a dataclass's constructor refuse what does not fit its fields, in the words of a recipe."""
    signature = inspect.signature(cls)
    init = cls.__init__

    @functools.wraps(init)
    def guarded(self: Any, *args: Any, **given: Any) -> None:
        arguments = _bound(signature, owner, args, given).arguments
        fit = {n: fitted(v, annotation_of(cls, n), f"{owner}: {n}") for n, v in arguments.items()}
        init(self, **fit)

    cls.__init__ = guarded  # type: ignore[misc]


def fitted(value: Any, kind: Any, where: str) -> Any:
    """The value as `kind` wants it, or a UsageError: a list becomes the tuple that is asked for, one text where only
    a list of texts fits a list of one, a number of numpy a number.

    >>> fitted(["a", "b"], tuple[str, ...] | None, "columns")
    ('a', 'b')
    >>> fitted("a", tuple[str, ...] | None, "columns")
    ('a',)
    """
    as_tuple = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value
    for form in (value, as_tuple):
        if fits(form, kind):
            return form.item() if kind is not Any and _is_number(form) and hasattr(form, "item") else form
    raise UsageError(refusal(value, kind, where))


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of an annotated kind; a kind we cannot judge fits."""
    if kind is Any or kind is object:
        return True
    origin, inner = typing.get_origin(kind), [a for a in typing.get_args(kind) if a is not Ellipsis]
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, option) for option in inner)
    if origin is Annotated:
        bounds = [one for one in inner[1:] if hasattr(one, "allows")]
        return fits(value, inner[0]) and all(bound.allows(value) for bound in bounds)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin in MANY:
        return _fits_many(value, origin, inner)
    if isinstance(origin, type) and issubclass(origin, abc.Mapping):
        return isinstance(value, abc.Mapping) and all(fits(v, inner[-1]) for v in value.values())
    if origin is not None:
        return isinstance(value, origin) if isinstance(origin, type) else True
    return _fits_plain(value, kind)


def annotation_of(owner: Any, name: str) -> Any:
    """The annotation of a parameter or field; Any where its names are known to type checkers only."""
    for cls in owner.__mro__ if isinstance(owner, type) else (owner,):
        text = getattr(cls, "__annotations__", {}).get(name)
        if text is not None:
            try:
                return eval(text, {}, _Names(inspect.getmodule(cls))) if isinstance(text, str) else text
            except NameError:
                return Any
    return Any


def options(kind: Any) -> tuple[Any, ...]:
    """The kinds of a union, without its constraints; of any other kind itself."""
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return tuple(one for option in typing.get_args(kind) for one in options(option))
    return options(typing.get_args(kind)[0]) if typing.get_origin(kind) is Annotated else (kind,)


def as_numbers(value: Any, name: str) -> NDArray[np.float64]:
    """A number or an array of numbers as doubles, or a UsageError."""
    import numpy as np

    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{name}: expected a number or a list of numbers, not {shown(value)}") from None


def as_whole_numbers(value: Any, name: str) -> NDArray[np.int64]:
    """A whole number or an array of them, or a UsageError."""
    import numpy as np

    numbers = as_numbers(value, name)
    if not (np.abs(numbers) < 2**53).all() or (numbers != np.floor(numbers)).any():
        raise UsageError(f"{name}: expected whole numbers")
    return numbers.astype(np.int64)


def _bound(
    signature: inspect.Signature, owner: str, args: tuple[Any, ...], given: Mapping[str, Any]
) -> inspect.BoundArguments:
    """The arguments by name; an unknown, a missing or a surplus one is a UsageError."""
    known = list(signature.parameters)
    for name in given:
        if name not in known:
            hint = nearest(name, known) if known else "it has none"
            raise UsageError(f"{owner} has no parameter '{name}'; {hint}")
    try:
        return signature.bind(*args, **given)
    except TypeError as error:
        needed = [name for name, p in signature.parameters.items() if p.default is p.empty]
        if missing := [name for name in needed[len(args) :] if name not in given]:
            raise UsageError(f"{owner} needs {', '.join(missing)}") from None
        raise UsageError(f"{owner}: {error}; give parameters by name") from None


def _fits_many(value: Any, origin: type[Any], inner: list[Any]) -> bool:
    many = isinstance(value, origin) and not isinstance(value, (str, bytes, dict)) and _can_be_walked(value)
    seen = value[:1] if isinstance(value, range) else value if isinstance(value, abc.Collection) else ()
    return many and (inner in ([], [Any]) or all(fits(v, inner[0]) for v in seen))


def _fits_plain(value: Any, kind: Any) -> bool:
    if kind is type(None) or kind is None:
        return value is None
    if kind is bool or not isinstance(kind, type):
        return isinstance(value, bool) if kind is bool else True
    if kind is int:
        return hasattr(value, "__index__") and not isinstance(value, bool) and _is_one(value)
    if kind is float:
        return _is_number(value) and math.isfinite(value)
    return isinstance(value, kind)


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, (bool, str, bytes)) and _is_one(value)


def _is_one(value: Any) -> bool:
    """An array of numbers is no number, not even one without dimensions."""
    return not hasattr(value, "__len__")


def _can_be_walked(value: Any) -> bool:
    """An array without dimensions cannot be walked."""
    return getattr(value, "ndim", 1) > 0


class _Names(dict[str, Any]):
    """What an annotation may speak of: the names of its module, and the public ones, which modules import late."""

    def __init__(self, module: Any) -> None:
        super().__init__(vars(module), os=os)

    def __missing__(self, name: str) -> Any:
        import sudare

        if name in sudare.__all__:
            return getattr(sudare, name)
        raise KeyError(name)
