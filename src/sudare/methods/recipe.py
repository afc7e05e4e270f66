"""Recipe: methods one after another. `anonymize` runs it and gives a Release."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sudare import registry
from sudare.data.dataset import Dataset
from sudare.data.release import Release
from sudare.data.roles import load_toml
from sudare.data.values.hierarchy_sources import located
from sudare.errors import UsageError, warn
from sudare.keys import Key
from sudare.methods.run import run
from sudare.methods.same_record import warnings_of
from sudare.parameters import checked


@dataclasses.dataclass(frozen=True)
class Recipe:
    """The steps from the original to the release, in order.

    In a file:

        [[step]]
        method = "noise"
        columns = ["income"]
        sd = 0.1

    >>> import sudare
    >>> recipe = Recipe([sudare.methods.Round(column="age", to=10), sudare.methods.Suppress(columns=["zip"])])
    >>> print(recipe.to_toml())
    [[step]]
    method = "round"
    column = "age"
    to = 10
    <BLANKLINE>
    [[step]]
    method = "suppress"
    columns = ["zip"]
    <BLANKLINE>
    """

    steps: tuple[Any, ...]

    def __init__(self, steps: Iterable[Any] | Any) -> None:
        listed = tuple(steps) if isinstance(steps, (list, tuple)) else (steps,)
        for step in listed:
            if isinstance(step, type) or not (hasattr(step, "apply") and hasattr(step, "technique")):
                kind = step.__name__ if isinstance(step, type) else type(step).__name__
                raise UsageError(f"recipe: {kind} is not a method; give e.g. sudare.methods.Noise(sd=0.1)")
        object.__setattr__(self, "steps", listed)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Recipe:
        """A recipe from its file; all faults of the file are named at once. Paths in it begin where it lies."""
        content = load_toml(path)
        listed = content.get("step")
        if not isinstance(listed, list) or not listed:
            raise UsageError(f'{path}: no steps; a step is [[step]] with method = "..." and its parameters')
        steps = [located(step, Path(path).parent) if isinstance(step, Mapping) else step for step in listed]
        return cls.from_steps(steps, where=str(path))

    @classmethod
    def from_steps(cls, listed: Iterable[Mapping[str, Any]], where: str = "recipe") -> Recipe:
        """A recipe from its steps as dictionaries."""
        steps, faults = [], []
        for number, entry in enumerate(listed, 1):
            try:
                steps.append(_step(entry))
            except UsageError as error:
                faults.append(f"{where}, step {number}: {error}")
        if faults:
            raise UsageError("\n".join(faults))
        return cls(steps)

    def to_steps(self) -> list[dict[str, Any]]:
        """The steps as dictionaries, without parameters left at their default."""
        return [{"method": registry.name_of(step), **_parameters(step)} for step in self.steps]

    def to_toml(self) -> str:
        """The recipe as its file would read."""
        blocks = []
        for step in self.to_steps():
            lines = [f"{name} = {_toml(value)}" for name, value in step.items()]
            blocks.append("\n".join(["[[step]]", *lines]))
        return "\n\n".join(blocks) + "\n"

    def changed(self, **parameters: Any) -> Recipe:
        """The same recipe with parameters changed in every step that has them."""
        steps = self.steps
        for name, value in parameters.items():
            steps = tuple(dataclasses.replace(s, **{name: value}) if hasattr(s, name) else s for s in steps)
        return Recipe(steps)

    @property
    def digest(self) -> str:
        """A short name that changes when the recipe does."""
        text = json.dumps(self.to_steps(), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@checked
def anonymize(
    ds: Dataset, recipe: Recipe | Any, *, key: Key | bytes | str | os.PathLike[str] | None = None
) -> Release:
    """Run a recipe (or a single method) and give the release: rows shuffled, users under pseudonyms, identifiers gone.

    The same data, recipe and key give the same release. Without `key` the user's own key is used.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, sudare.methods.Suppress(columns=["age"]), key=bytes(range(32)))
    >>> release.data.columns
    ('sex', 'address', 'job', 'disease')
    """
    recipe, secret = as_recipe(recipe), Key.of(key)
    warnings = warnings_of(ds, recipe.steps)
    for code, text in warnings.items():
        warn(code, text)
    made, details = run(ds, secret, recipe.steps, recipe.digest)
    steps = tuple(describe(step, found) for step, found in zip(recipe.steps, details))
    return Release(made.data, made.linked, recipe, steps, secret, ds.files, warnings)


def as_recipe(given: Recipe | Any) -> Recipe:
    """A recipe from a recipe, a method, a list of methods or the path of a recipe file."""
    if isinstance(given, Recipe):
        return given
    if isinstance(given, (str, os.PathLike)):
        return Recipe.from_toml(Path(given))
    return Recipe(given)


def describe(step: Any, details: Mapping[str, Any]) -> dict[str, Any]:
    """A step as the report tells it."""
    return {
        "method": registry.name_of(step),
        "technique": step.technique,
        "parameters": _parameters(step),
        "details": dict(details),
    }


def _step(entry: Mapping[str, Any]) -> Any:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("method"), str):
        raise UsageError('no method; write method = "..."')
    given = {name: value for name, value in entry.items() if name != "method"}
    return registry.find("method", entry["method"])(**given)


def _required(field: dataclasses.Field[Any]) -> bool:
    return (
        field.init and field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    )


def _parameters(step: Any) -> dict[str, Any]:
    found = {}
    for field in dataclasses.fields(step):
        value = getattr(step, field.name)
        if field.init and (_required(field) or value != _default(field)):
            found[field.name] = list(value) if isinstance(value, tuple) else value
    return found


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(str(k))} = {_toml(v)}" for k, v in value.items()) + " }"
    return json.dumps(str(value), ensure_ascii=False)
