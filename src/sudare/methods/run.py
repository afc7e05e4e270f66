"""The one run of a recipe: every step by what it declares, carried out where the rows are, then published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sudare import registry
from sudare.data.dataset import Dataset
from sudare.engine.rows import Draft, Made, Rows, refusal, rows_of
from sudare.errors import UsageError
from sudare.keys import Key
from sudare.methods.base import Fitted, Method, merged, needs
from sudare.methods.plugins.pseudonymize import Pseudonymize
from sudare.progress import stage


def run(ds: Dataset, key: Key, steps: Sequence[Method], digest: str) -> tuple[Made, list[dict[str, Any]]]:
    """The published tables, and what every step measured on all rows."""
    check(ds, steps)
    rows = rows_of(ds, key)
    for number, step in enumerate(steps, 1):
        stage(f"anonymize: {registry.name_of(step)}", number, len(steps))
        rows = perform(rows, step)
    made = _finished(rows).publish(digest, f"release of {ds.name}")
    return made, [merged(step.details, list(found)) for step, found in zip(steps, made.outcomes)]


def check(ds: Dataset, steps: Sequence[Method]) -> None:
    """Refuse what cannot run where the table is, all of it at once, before any work starts."""
    shape, faults = Draft.empty(ds), []
    for step in steps:
        wanted = needs(step, shape)
        reason = None if wanted == "row" else refusal(ds, None if wanted == "table" else wanted)
        if reason:
            instead = getattr(step, "instead", "work on a sample, or where all rows fit")
            faults.append(f"{registry.name_of(step)} {reason}; {instead}")
    if faults:
        raise UsageError("\n".join(faults))


def perform(rows: Rows, step: Method) -> Rows:
    """One step. Where a method sees all rows at once, it needs to be told nothing about the rest."""
    ready = step.fit(rows.summary) if isinstance(step, Fitted) and not rows.whole else step
    wanted = needs(step, rows.summary.shape)
    if wanted == "row":
        return rows.each(ready)
    return rows.in_one(ready) if wanted == "table" else rows.groups(ready, wanted)


def _finished(rows: Rows) -> Rows:
    shape = rows.summary.shape
    return rows.each(Finish()) if _names_people(shape) or shape.roles.record else rows


def _names_people(draft: Draft) -> bool:
    return bool(draft.roles.identifier or (draft.roles.user and not draft.pseudonymised))


class Finish(NamedTuple):
    """What every release needs, whatever its recipe: no identifiers, no real user names, no numbers of records."""

    def apply(self, draft: Draft, key: Key) -> Draft:
        if _names_people(draft):
            draft = Pseudonymize().apply(draft, key)
        draft = draft.without_columns(draft.roles.records_only)
        return draft.replace(roles=replace(draft.roles, record=()))
