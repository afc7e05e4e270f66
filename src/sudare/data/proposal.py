"""The `sudare.toml` that `sudare init` proposes: roles, hierarchies, and a policy to uncomment."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.data.guessing import Guess
from sudare.data.roles import NAMES
from sudare.data.values.hierarchy_proposals import propose

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset

# A group that is written down names its values; rare ones could name a person.
RARE = 10
MOST_VALUES = 10_000
HEAD = "# Made by `sudare init`. Look at every line: guesses are no decisions."

POLICY = """\
# What a release must keep to; `sudare check` reads it. Remove the # of what applies.
# [policy]
# k = 5                   # every combination of quasi-identifiers is shared by at least 5 people
# max_risk = 0.2          # the largest chance to find a person, 1/k
# attack_success = 0.05   # no attack re-identifies more than this share of the release
# cell_size = 10          # no published count below this
"""


def config_text(ds: Dataset, source: str, guesses: Sequence[Guess]) -> str:
    """The whole file: data, roles, hierarchies of the quasi-identifiers, policy."""
    head = f"{HEAD}\n\n[data]\nfile = {text(source)}\n"
    return "\n".join([head, _roles(guesses), POLICY, *_hierarchies(ds, guesses)])


def text(value: str) -> str:
    """A TOML string.

    >>> text('say "a"')
    '"say \\\\"a\\\\""'
    """
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _roles(guesses: Sequence[Guess]) -> str:
    lines = ["[roles]"]
    for role in NAMES:
        columns = [g for g in guesses if g.role == role]
        if role == "user" and columns:
            lines.append(f"user = {text(columns[0].column)}  # {columns[0].why}")
        elif columns:
            lines += [f"{role} = [", *(f"    {text(g.column)},  # {g.why}" for g in columns), "]"]
    return "\n".join([*lines, ""])


def _hierarchies(ds: Dataset, guesses: Sequence[Guess]) -> list[str]:
    found = []
    for guess in guesses:
        if guess.role == "quasi" and 2 <= guess.values <= MOST_VALUES:
            spec, note = _spec(ds, guess.column)
            body = "\n".join(f"{key} = {_value(value)}" for key, value in spec.items())
            found.append(f"[hierarchy.{text(guess.column)}]{note}\n{body}\n")
    return found


def _spec(ds: Dataset, column: str) -> tuple[dict[str, Any], str]:
    import pyarrow.compute as pc

    values = ds.to_pyarrow([column]).column(column)
    spec = dict(propose(values))
    if "categories" in spec and (pc.min(values.value_counts().field("counts")).as_py() or 0) < RARE:
        return {"flat": True}, "  # shown or hidden; groups: categories = { Group = [...] }, or file = ... "
    return spec, ""


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{text(key)} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_value(inner) for inner in value) + "]"
    return text(value) if isinstance(value, str) else repr(value)


def own_name(source: str) -> str:
    """What the file is called in `[data]`: a path stays as given, so that it works from this folder."""
    return source if "://" in source or source.startswith("example:") else Path(source).as_posix()
