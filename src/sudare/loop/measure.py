"""The loop, shared by `sudare demo`, the report and the studio: measure, release, attack, measure again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.data.published import Published
from sudare.errors import SudareError, UsageError
from sudare.loop.evidence import Evidence, data_card, release_card
from sudare.loop.uses import declared, moved

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.data.dataset import Dataset
    from sudare.data.release import Release
    from sudare.keys import Key
    from sudare.results import Result

Progress = Callable[[str, int, int], None]
COMBINE = 2
MOST_PAIRED = 12
FEW_VALUES = 12


def quiet(step: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


@dataclass
class Walk:
    """Steps one after another; a step that does not apply is noted with its reason, not hidden."""

    total: int
    progress: Progress = quiet
    skipped: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def step(self, name: str, run: Callable[[], Any]) -> Any:
        """Run a step that may not apply to this table."""
        try:
            return self.must(name, run)
        except SudareError as error:
            self.skipped[name] = str(error)
            return None

    def must(self, name: str, run: Callable[[], Any]) -> Any:
        """Run a step that everything else needs."""
        self.progress(name, len(self.seconds), self.total)
        begin = time.perf_counter()
        try:
            return run()
        finally:
            self.seconds[name] = time.perf_counter() - begin


def measure(
    original: Dataset,
    release: Release | Dataset | Published | None = None,
    *,
    truth: Iterable[int | None] | None = None,
    value: str | None = None,
    ks: Iterable[int] = range(2, 21),
    policy: Mapping[str, Any] | None = None,
    context: Mapping[str, Any] | None = None,
    known: Mapping[str, Any] | None = None,
    progress: Progress = quiet,
) -> Evidence:
    """Everything a report needs about a table and, if there is one, its release.

    `value` is the column whose values dummies would blur (the plan); `known` holds results that the caller
    has already: risk, disclosure, plan, attacks, utility.
    """
    walk = Walk(total=13 if release is not None else 5, progress=progress)
    have = dict(known or {})
    uses = declared(context or {}, original.columns)
    evidence = Evidence(
        original=walk.must("look at the table", lambda: data_card(original)),
        context=dict(context or {}),
        risk=have.get("risk") or walk.step("risk", lambda: risk_of(original)),
        disclosure=have.get("disclosure") or walk.step("disclosure", lambda: disclosure_of(original)),
        plan=have.get("plan") or walk.step("plan", lambda: plan_of(original, value, ks)),
    )
    rows = rows_of_truth(release, truth)
    if release is not None:
        evidence = _after(walk, evidence, original, release, rows, have)
        evidence = replace(
            evidence, uses=walk.step("uses", lambda: uses_of(evidence, original, release, rows, uses)) or ()
        )
    source = original if release is None else published(release)
    found = walk.step("weakest people", lambda: weakest_of(source, rows)) or ()
    evidence = replace(evidence, weakest=found)
    if policy:
        evidence = replace(evidence, policy=walk.must("policy", lambda: check_of(source, evidence, policy)))
    return replace(evidence, skipped=walk.skipped, seconds=walk.seconds)


def _after(
    walk: Walk,
    evidence: Evidence,
    original: Dataset,
    release: Release | Dataset | Published,
    rows: NDArray[np.int64] | None,
    have: Mapping[str, Any],
) -> Evidence:
    listed = _listed(rows)
    return replace(
        evidence,
        release=walk.must(
            "look at the release", lambda: release_card(Published.of(release, listed), original.rows)
        ),
        risk_after=walk.step("risk after", lambda: risk_after_of(original, release, listed)),
        disclosure_after=walk.step("disclosure after", lambda: disclosure_of(published(release))),
        attacks=have.get("attacks") or walk.step("attacks", lambda: attacks_of(original, release, listed)),
        utility=have.get("utility") or walk.step("utility", lambda: utility_of(original, release, listed)),
        posteriors=walk.step("posteriors", lambda: posteriors_of(original, release, listed)) or (),
    )


def _listed(rows: NDArray[np.int64] | None) -> list[int | None] | None:
    """The truth as the verbs take it."""
    return None if rows is None else [None if r < 0 else r for r in rows.tolist()]


def run(
    original: Dataset,
    recipe: Any,
    *,
    key: Key | bytes | str | os.PathLike[str] | None = None,
    progress: Progress = quiet,
    **options: Any,
) -> tuple[Release, Evidence]:
    """The whole loop: release the table by a recipe, then gather the evidence."""
    from sudare.methods.recipe import anonymize

    progress("anonymize", 0, 14)
    release = anonymize(original, recipe, key=key)
    return release, measure(original, release, progress=lambda s, d, t: progress(s, d + 1, t + 1), **options)


def published(release: Release | Dataset | Published) -> Dataset:
    """The published table of a release, fresh or read back."""
    return Published.of(release).data


def rows_of_truth(
    release: Release | Dataset | Published | None, truth: Iterable[int | None] | None
) -> NDArray[np.int64] | None:
    """The original row of every published row, -1 for a dummy."""
    return None if release is None else Published.of(release, truth).rows


def risk_of(ds: Dataset) -> Any:
    """The risk of every attribute and pair of attributes."""
    from sudare.risk.measure import risk

    return risk(ds, combine=combined(_attributes(ds)))


def risk_after_of(original: Dataset, release: Any, truth: list[int | None] | None) -> Any:
    """The same sets of attributes, as the release answers for them."""
    from sudare.risk.measure import risk

    return risk(original, combine=combined(_attributes(original)), release=release, truth=truth)


def combined(attributes: int) -> int:
    """How many attributes an attacker is taken to know together: pairs, as long as there are not too many."""
    return COMBINE if attributes <= MOST_PAIRED else 1


def _attributes(ds: Dataset) -> int:
    return len(ds.columns) - len(ds.roles.identifier) - (ds.roles.user is not None)


def plan_of(ds: Dataset, value: str | None, ks: Iterable[int]) -> Any:
    """The cost curve of k-anonymity for the column whose values dummies would blur."""
    from sudare.cost.plan import plan
    from sudare.loop.proposals import value_column

    if ds.roles.user is None:
        raise UsageError("dummy records are planned for tables in which people have several records")
    possible = [k for k in ks if k <= ds.users]
    if not possible:
        raise UsageError("there are fewer people than the smallest k")
    return plan(ds, value=value or value_column(ds), k=possible)


def check_of(ds: Dataset, evidence: Evidence, policy: Any) -> Any:
    """The limits of a policy beside what was measured of the release (or of the table, if there is none)."""
    from sudare.policy.check import check

    classes: Any = evidence.disclosure if evidence.release is None else evidence.disclosure_after
    return check(ds, policy, attack=evidence.attacks, measured=classes)


def disclosure_of(ds: Dataset) -> Any:
    from sudare.disclosure.measure import disclosure

    return disclosure(ds)


def attacks_of(original: Dataset, release: Any, truth: list[int | None] | None) -> Any:
    from sudare.attacks.measure import attack

    return attack(original, release, truth=truth)


def utility_of(original: Dataset, release: Any, truth: list[int | None] | None) -> Any:
    from sudare.utility.measure import utility

    return utility(original, release, truth=truth)


def uses_of(
    evidence: Evidence,
    original: Dataset,
    release: Any,
    rows: NDArray[np.int64] | None,
    uses: Mapping[str, tuple[str, ...]],
) -> tuple[Mapping[str, Any], ...]:
    """How far the columns of every declared use have moved."""
    changes = getattr(evidence.utility, "by_column", ())
    return moved(original, release, uses, changes, _listed(rows)) if uses else ()


def posteriors_of(
    original: Dataset, release: Any, truth: list[int | None] | None
) -> tuple[tuple[str, Result], ...]:
    """The posterior audit of every randomised column, for an attacker who knows what few values can tell."""
    from sudare.estimate.posterior import posterior

    data = published(release)
    randomised = data.published.get("schema", {}).get("randomized", {})
    if not randomised:
        return ()
    known = truth is not None and None not in truth
    few = [c for c in data.roles.quasi if int(data.table[c].nunique().to_pyarrow().as_py()) <= FEW_VALUES]
    return tuple(
        (name, posterior(release, original if known else None, given=few[:2], column=name, truth=truth))
        for name in randomised
    )


def weakest_of(ds: Dataset, rows: NDArray[np.int64] | None) -> Any:
    from sudare.loop.weakest import weakest

    return weakest(ds, rows)
