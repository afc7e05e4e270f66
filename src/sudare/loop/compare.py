"""Several recipes on one table: the matrix of methods and metrics (P4, Tables 12-14, 16) and the frontier."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sudare.attacks.measure import AttackResult, attack
from sudare.attacks.scoring import Ties
from sudare.data.dataset import Dataset
from sudare.errors import SudareWarning, UsageError
from sudare.keys import Key
from sudare.loop.guess import guess_from
from sudare.methods.recipe import anonymize, as_recipe
from sudare.parameters import checked
from sudare.registry import name_of
from sudare.results import Result
from sudare.utility.measure import UtilityResult, utility

if TYPE_CHECKING:
    import altair

LOSS = "pairwise-distance"


@dataclass(frozen=True, repr=False)
class CompareResult(Result):
    """One row per recipe: utility metrics, safety metrics, the rate of every attack, the worst of them.

    `frontier` marks the recipes that no other beats in both the worst rate and the loss. The first row is the
    original itself, published as it is.
    """

    command: ClassVar[str] = "compare"

    def chart(self) -> altair.Chart:
        from sudare.loop.compare_chart import frontier

        return frontier(self)

    def transposed(self) -> Result:
        """The paper's layout: a row per metric, a column per recipe."""
        names = [c for c in self.columns if c != "recipe"]
        turned = tuple(
            {"metric": name, **{str(r["recipe"]): r.get(name) for r in self.rows}} for name in names
        )
        return Result(turned, self.notes)


@checked
def compare(
    ds: Dataset,
    recipes: Mapping[str, Any] | Iterable[Any],
    *,
    key: Key | bytes | str | os.PathLike[str] | None = None,
    ties: Ties = "expected",
) -> CompareResult:
    """Run every recipe on the same table, attack every release with the same battery, measure what is left.

    `recipes` are methods, lists of methods, Recipes or paths, with names or without.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> recipes = {"noise": sudare.methods.Noise(sd=0.1), "swap": sudare.methods.Swap()}
    >>> [row["recipe"] for row in sudare.compare(patients, recipes, key=bytes(range(32))).rows]
    ['original', 'noise', 'swap']
    """
    named = {name: as_recipe(recipe) for name, recipe in _named(recipes).items()}
    if not named:
        raise UsageError("compare: no recipe; give at least one")
    secret = Key.of(key)
    original = _judged(ds, ds, ties, truth=range(ds.rows))
    rows, notes = [_row("original", *original, None)], []
    for name, recipe in named.items():
        attacked, measured = _judged(ds, anonymize(ds, recipe, key=secret), ties)
        rows.append(_row(name, attacked, measured, guess_from(attacked, measured, *original)[0]))
        notes += [f"{name}: {note}" for note in attacked.notes]
    return CompareResult(tuple(_with_frontier(rows)), tuple(notes))


def _named(recipes: Mapping[str, Any] | Iterable[Any]) -> dict[str, Any]:
    if isinstance(recipes, Mapping):
        return dict(recipes)
    listed = recipes if isinstance(recipes, (list, tuple)) else [recipes]
    named: dict[str, Any] = {}
    for number, recipe in enumerate(listed, 1):
        name = "+".join(name_of(step) for step in as_recipe(recipe).steps)
        named[name if name not in named else f"{name} ({number})"] = recipe
    return named


def _judged(
    ds: Dataset, release: Any, ties: Ties, truth: Iterable[int] | None = None
) -> tuple[AttackResult, UtilityResult]:
    with warnings.catch_warnings():  # the original stands in its own order by nature
        warnings.simplefilter("ignore", SudareWarning)
        return attack(ds, release, ties=ties, truth=truth), utility(ds, release, truth=truth)


def _row(
    name: str, attacked: AttackResult, measured: UtilityResult, guessed: dict[str, Any] | None
) -> dict[str, Any]:
    return {
        "recipe": name,
        "records": attacked.releases,
        **{str(row["metric"]): row["value"] for row in measured.rows},
        **{str(row["attack"]): row["rate"] for row in attacked.rows},
        "worst": attacked.worst,
        "cheating": any(note.startswith("S-CHEAT") for note in attacked.notes),
        "guess": guessed["methods"] if guessed else None,
        "confidence": guessed["probability"] if guessed else None,
    }


def _with_frontier(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mark the rows that no honest row beats in both risk and loss; a cheating row never counts."""
    honest = [row for row in rows if not row["cheating"] and row.get(LOSS) is not None]

    def beaten(row: dict[str, Any]) -> bool:
        here = (row["worst"], row[LOSS])
        others = ((other["worst"], other[LOSS]) for other in honest)
        return any(a <= here[0] and b <= here[1] and (a, b) != here for a, b in others)

    return [{**row, "frontier": row in honest and not beaten(row)} for row in rows]
