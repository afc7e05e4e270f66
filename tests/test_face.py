"""Help, signatures, completion and examples show the public names, wherever they are at home."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pydoc
import subprocess
import sys
from typing import Any

import pytest

import sudare
from sudare import cost, registry
from sudare.parameters import annotation_of

PUBLIC = [name for name in sudare.__all__ if name not in ("__version__", "attacks", "cost", "methods")]
VERBS = [name for name in PUBLIC if name.islower()]
CALLABLE_ROOMS = "risk disclosure utility estimate report".split()
PLUGINS = [cls for kind in registry.ROOMS for cls in registry.all_of(kind).values()]


def function_of(name: str) -> Any:
    """The function itself, wherever it is at home."""
    found = getattr(sudare, name)
    module, _, function = getattr(found, "verb", "").partition(":")
    return getattr(importlib.import_module(module), function) if module else found


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_shows_its_parameters_and_its_docstring(name: str) -> None:
    verb, function = getattr(sudare, name), function_of(name)
    signature = inspect.signature(verb)
    assert signature == inspect.signature(function)
    assert all(p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in signature.parameters.values())
    assert verb.__doc__ == function.__doc__


@pytest.mark.parametrize("name", VERBS)
def test_help_tells_a_verb_as_it_tells_a_function(name: str) -> None:
    text = pydoc.render_doc(getattr(sudare, name), renderer=pydoc.plaintext)
    assert f"{name}{inspect.signature(function_of(name))}" in text
    assert inspect.getdoc(function_of(name)).splitlines()[0] in text


@pytest.mark.parametrize("name", CALLABLE_ROOMS)
def test_a_room_that_is_a_verb_names_it_for_completion(name: str) -> None:
    room = importlib.import_module(f"sudare.{name}")
    assert name in dir(room)
    assert getattr(room, name) is function_of(name)
    assert not [other for other in dir(room) if other.startswith("_") or not hasattr(room, other)]
    with pytest.raises(AttributeError, match="has no attribute 'no_such'"):
        room.no_such


@pytest.mark.parametrize("door", [*map(function_of, VERBS), *PLUGINS], ids=lambda door: door.__name__)
def test_every_parameter_of_a_door_is_checked(door: Any) -> None:
    """An annotation with a name that only type checkers know would let everything through."""
    written = {name: door.__annotations__[name] for name in inspect.signature(door).parameters}
    unknown = [name for name, text in written.items() if text != "Any" and annotation_of(door, name) is Any]
    assert unknown == []


@pytest.mark.parametrize("cls", PLUGINS, ids=lambda cls: cls.__name__)
def test_a_plugin_shows_its_parameters(cls: type[Any]) -> None:
    names = [field.name for field in dataclasses.fields(cls) if field.init]
    assert list(inspect.signature(cls).parameters) == names
    assert "*args" not in pydoc.render_doc(cls, renderer=pydoc.plaintext)


@pytest.mark.parametrize(
    "thing",
    [*(getattr(sudare, n) for n in PUBLIC), *(getattr(cost, n) for n in cost.__all__), *PLUGINS],
    ids=lambda thing: thing.__name__,
)
def test_everything_public_has_an_example_that_runs(thing: Any) -> None:
    """`test_doctests` runs them."""
    assert ">>>" in (thing.__doc__ or "")


def test_a_look_at_a_verb_imports_no_other_room() -> None:
    heavy = "numpy duckdb sudare.data sudare.engine".split()
    code = f"import sys, sudare; sudare.risk; print([m for m in {heavy!r} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
