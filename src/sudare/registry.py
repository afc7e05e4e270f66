"""Methods, attacks and metrics are found here: one class in one file, no list to edit.

A class registers itself with a decorator; the modules of its room are imported the first time
somebody asks. The registered name is the class name in kebab-case.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

from sudare.errors import UsageError, nearest
from sudare.parameters import checked_fields

Kind = Literal["method", "attack", "metric"]
ROOMS: dict[Kind, str] = {"method": "sudare.methods", "attack": "sudare.attacks", "metric": "sudare.utility"}
_found: dict[Kind, dict[str, type[Any]]] = {"method": {}, "attack": {}, "metric": {}}
_discovered: set[Kind] = set()
C = TypeVar("C", bound=type[Any])


def method(cls: C) -> C:
    """Register a method: a frozen dataclass with `apply(draft, key) -> Draft`."""
    return _register("method", cls)


def attack(cls: C) -> C:
    """Register an attack: a frozen dataclass that guesses, for every published row, whom it is about."""
    return _register("attack", cls)


def metric(cls: C) -> C:
    """Register a metric of what is left of the data's use."""
    return _register("metric", cls)


def all_of(kind: Kind) -> Mapping[str, type[Any]]:
    """Every registered class of a kind by its name, in alphabetical order."""
    _discover(kind)
    return dict(sorted(_found[kind].items()))


def find(kind: Kind, name: str) -> type[Any]:
    """The class registered under `name` (`Noise`, `noise`); an unknown name is a UsageError with a hint."""
    _discover(kind)
    cls = _found[kind].get(name) or _found[kind].get(kebab(name))
    if cls is None:
        raise UsageError(f"unknown {kind} '{name}'; {nearest(name, _found[kind])}")
    return cls


def name_of(thing: Any) -> str:
    """The registered name of a class or an instance."""
    return kebab((thing if isinstance(thing, type) else type(thing)).__name__)


def summary(cls: type[Any]) -> str:
    """What a registered class does: the first paragraph of its docstring, on one line."""
    return " ".join((cls.__doc__ or "").strip().partition("\n\n")[0].split())


def room_attribute(kind: Kind) -> Callable[[str], type[Any]]:
    """A module-level `__getattr__` that finds registered classes by class name."""

    def getattr_(name: str) -> type[Any]:
        if name[:1].isupper():
            _discover(kind)
            for cls in _found[kind].values():
                if cls.__name__ == name:
                    return cls
        raise AttributeError(f"module '{ROOMS[kind]}' has no attribute '{name}'")

    return getattr_


def room_names(kind: Kind) -> Callable[[], list[str]]:
    """A module-level `__dir__` that lists the registered classes, for people who complete names by Tab."""
    return lambda: sorted(cls.__name__ for cls in all_of(kind).values())


def kebab(name: str) -> str:
    """
    >>> kebab("RandomizedAddition"), kebab("TP"), kebab("IdentifySa21")
    ('randomized-addition', 'tp', 'identify-sa21')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).replace("_", "-").lower()


def _register(kind: Kind, cls: C) -> C:
    _found[kind][kebab(cls.__name__)] = cls
    checked_fields(cls, kebab(cls.__name__))
    return cls


def _discover(kind: Kind) -> None:
    if kind in _discovered:
        return
    _discovered.add(kind)
    plugins = importlib.import_module(f"{ROOMS[kind]}.plugins")
    for module in pkgutil.iter_modules(plugins.__path__):
        importlib.import_module(f"{plugins.__name__}.{module.name}")
