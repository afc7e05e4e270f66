"""Rooms that are also verbs: `sudare.risk(ds)` works although `sudare.risk` is a package."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


class Verb(ModuleType):
    """A package that can be called: it hands the call to the function `verb` names (`module:function`)."""

    verb: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        module, _, name = self.verb.partition(":")
        return getattr(importlib.import_module(module), name)(*args, **kwargs)


def as_verb(package: str, verb: str) -> None:
    """Make the package callable; `as_verb("sudare.risk", "sudare.risk.measure:risk")`."""
    module = sys.modules[package]
    module.__class__ = Verb
    module.verb = verb  # type: ignore[attr-defined]
