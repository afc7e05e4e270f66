"""Which method made this release? A guess from the profile of its metrics (P4, Table 15).

Every method changes some metrics and leaves others alone (P4, Table 12). `SIGNS` holds, for every method, how
likely each metric is to change; methods used together combine their changes: a metric stays as it was only if
none of them moves it. The guess is Bayes' rule over all methods and pairs of methods.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sudare.attacks.measure import AttackResult, attack
from sudare.data.dataset import Dataset
from sudare.data.published import Published
from sudare.errors import SudareWarning
from sudare.results import Result
from sudare.utility.measure import UtilityResult, utility

YES, LIKELY, MAYBE, NO = 0.97, 0.8, 0.5, 0.03
PAIRS = 0.2

# what a method does to: column means (U1), cell means (U2), cell counts (U3), correlations (U4), cells (U5),
# the number of rows (U6), the smallest and the mean class (S1, S2), the sensitive columns' own distributions
# (values); whether it leaves values open (recoded), gives a quasi-identifier a single value (constant), or
# permutes the claims of rows it did not touch (claims).
FEATURES = ("U1", "U2", "U3", "U4", "U5", "U6", "S1", "S2", "values", "recoded", "constant", "claims")
SIGNS: Mapping[str, tuple[float, ...]] = {
    "k-anonymization": (NO, LIKELY, LIKELY, NO, NO, NO, YES, YES, NO, LIKELY, 0.1, NO),
    "noise": (YES, YES, NO, YES, YES, NO, NO, NO, YES, NO, NO, NO),
    "shuffle": (NO, NO, NO, NO, YES, NO, NO, NO, NO, NO, NO, YES),
    "unify": (NO, MAYBE, MAYBE, NO, NO, NO, 0.3, YES, NO, 0.1, YES, NO),
    "average": (NO, NO, NO, YES, YES, NO, NO, NO, YES, NO, NO, NO),
    "swap": (NO, NO, NO, YES, YES, NO, NO, NO, NO, NO, NO, NO),
    "delete-records": (YES, LIKELY, LIKELY, YES, NO, YES, 0.1, 0.4, YES, NO, NO, NO),
}


@dataclass(frozen=True, repr=False)
class GuessResult(Result):
    """The likeliest methods, alone or in pairs, with their probability."""

    changed: tuple[str, ...] = ()

    command: ClassVar[str] = "guess"

    def extra(self) -> dict[str, Any]:
        return {"changed": list(self.changed)}


def guess(
    original: Dataset, release: Any, *, truth: Iterable[int | None] | None = None, most: int = 5
) -> GuessResult:
    """Which method, or which two, probably made this release."""
    published = Published.of(release, truth)
    if not original.roles.assigned:
        original = original.with_roles(published.data.roles)
    with warnings.catch_warnings():  # the original stands in its own order by nature
        warnings.simplefilter("ignore", SudareWarning)
        before = attack(original, original, truth=range(original.rows)), utility(original, original)
        after = attack(original, published), utility(original, published)
    seen = profile(*after, *before)
    note = "A guess from the metrics alone: it knows seven methods and their pairs, nothing else."
    changed = tuple(name for name, there in seen.items() if there)
    return GuessResult(tuple(posterior(seen)[:most]), (note,), changed=changed)


def guess_from(
    attacked: AttackResult, measured: UtilityResult, attacked_before: AttackResult, before: UtilityResult
) -> list[dict[str, Any]]:
    """The ranking for results that are there already; see `guess`."""
    return posterior(profile(attacked, measured, attacked_before, before))


def profile(
    attacked: AttackResult, measured: UtilityResult, attacked_before: AttackResult, before: UtilityResult
) -> dict[str, bool]:
    """Which features changed against the original; a feature that could not be measured is left out."""
    now, then = _values(measured), _values(before)
    seen = {name: bool(now[name]) for name in FEATURES[:6] if now.get(name) is not None}
    seen |= {name: now[name] > then[name] * 1.001 for name in ("S1", "S2") if name in now and name in then}
    if now.get("certainty-penalty") is not None:
        seen["recoded"] = now["certainty-penalty"] > 0
    if sensitive := [row["total_variation"] for row in measured.by_column if row["role"] == "sensitive"]:
        seen["values"] = max(sensitive) > 1e-9
    if quasi := [row for row in measured.by_column if row["role"] == "quasi"]:
        seen["constant"] = any(row["release_values"] == 1 < row["original_values"] for row in quasi)
    seen["claims"] = any(note.startswith("S-CHEAT") for note in attacked.notes)
    return seen


def posterior(seen: Mapping[str, bool]) -> list[dict[str, Any]]:
    """Methods and pairs of methods by their probability, likeliest first.

    >>> posterior({"U6": True, "U1": True, "U5": False})[0]["methods"]
    'delete-records'
    """
    one = list(SIGNS)
    pairs = list(itertools.combinations(one, 2))
    prior = np.concatenate(
        [np.full(len(one), (1 - PAIRS) / len(one)), np.full(len(pairs), PAIRS / len(pairs))]
    )
    moved = [SIGNS[name] for name in one] + [_together(SIGNS[a], SIGNS[b]) for a, b in pairs]
    weight = prior * np.array([_likelihood(chances, seen) for chances in moved])
    share = weight / weight.sum()
    names = [*one, *(f"{a} + {b}" for a, b in pairs)]
    order = np.argsort(-share, kind="stable")
    return [{"methods": names[i], "probability": float(share[i])} for i in order]


def _together(first: tuple[float, ...], second: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(1 - (1 - a) * (1 - b) for a, b in zip(first, second))


def _likelihood(chances: tuple[float, ...], seen: Mapping[str, bool]) -> float:
    return float(np.prod([p if seen[name] else 1 - p for name, p in zip(FEATURES, chances) if name in seen]))


def _values(measured: UtilityResult) -> dict[str, Any]:
    return {str(row["metric"]): row["value"] for row in measured.rows}
