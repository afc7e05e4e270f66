"""Rooms that are also verbs: `sudare.risk(ds)` works although `sudare.risk` is a package.

What a person or a tool asks of a function (signature, docstring, help) the package answers with its verb's. The verb
is imported when it is first asked for, so that `import sudare` stays light.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


class Verb(ModuleType):
    """A package that can be called: it hands the call to the function `verb` names (`module:function`)."""

    verb: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == self.verb.partition(":")[2]:
            return self.__wrapped__
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        declared = vars(self).get("__dir__", list)
        return sorted([*declared(), self.verb.partition(":")[2]])

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The verb itself; `inspect` follows this name to signatures and sources."""
        module, _, name = self.verb.partition(":")
        function: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return function

    @property
    def __all__(self) -> list[str]:
        """What `help` shows."""
        return dir(self)

    __doc__ = property(lambda self: self.__wrapped__.__doc__)  # type: ignore[assignment]


def as_verb(package: str, verb: str) -> None:
    """Make the package callable; `as_verb("sudare.risk", "sudare.risk.measure:risk")`."""
    module = sys.modules[package]
    module.__class__ = Verb
    module.verb = verb  # type: ignore[attr-defined]
