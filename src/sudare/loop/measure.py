"""The loop, shared by `sudare demo`, the report and the studio: measure, release, attack, measure again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sudare.data.published import Published
from sudare.errors import SudareError, UsageError
from sudare.loop.evidence import Evidence, data_card, release_card
from sudare.loop.uses import changed, declared

if TYPE_CHECKING:
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
    published = None if release is None else Published.of(release, truth)
    if published is not None:
        evidence = _after(walk, evidence, original, published, have)
        found = walk.step("uses", lambda: uses_of(evidence, original, published, uses))
        evidence = replace(evidence, uses=found or ())
    source = published or Published.of(original)
    evidence = replace(evidence, weakest=walk.step("weakest people", lambda: weakest_of(source)) or ())
    if policy:
        checked = walk.must("policy", lambda: check_of(source.data, evidence, policy))
        evidence = replace(evidence, policy=checked)
    return replace(evidence, skipped=walk.skipped, seconds=walk.seconds)


def _after(
    walk: Walk, evidence: Evidence, original: Dataset, release: Published, have: Mapping[str, Any]
) -> Evidence:
    found = replace(
        evidence,
        release=walk.must("look at the release", lambda: release_card(release, original.rows)),
        risk_after=walk.step("risk after", lambda: risk_after_of(original, release)),
        disclosure_after=walk.step("disclosure after", lambda: disclosure_of(release.data)),
        attacks=have.get("attacks") or walk.step("attacks", lambda: attacks_of(original, release)),
        utility=have.get("utility") or walk.step("utility", lambda: utility_of(original, release)),
        posteriors=walk.step("posteriors", lambda: posteriors_of(original, release)) or (),
    )
    for kind, result in (("attack", found.attacks), ("metric", found.utility)):
        walk.skipped |= {f"{kind} {name}": why for name, why in getattr(result, "skipped", ())}
    return found


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


def risk_of(ds: Dataset) -> Any:
    """The risk of every attribute and pair of attributes."""
    from sudare.risk.measure import risk

    return risk(ds, combine=combined(_attributes(ds)))


def risk_after_of(original: Dataset, release: Published) -> Any:
    """The same sets of attributes, as the release answers for them."""
    from sudare.risk.measure import risk

    return risk(original, combine=combined(_attributes(original)), release=release)


def combined(attributes: int) -> int:
    """How many attributes an attacker is taken to know together: pairs, as long as there are not too many."""
    return COMBINE if attributes <= MOST_PAIRED else 1


def _attributes(ds: Dataset) -> int:
    unpublished = (*ds.roles.identifier, *ds.roles.records_only)
    return len(ds.columns) - len(unpublished) - (ds.roles.user is not None)


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


def attacks_of(original: Dataset, release: Release | Published) -> Any:
    from sudare.attacks.measure import attack

    return attack(original, release)


def utility_of(original: Dataset, release: Release | Published) -> Any:
    from sudare.utility.measure import utility

    return utility(original, release)


def uses_of(
    evidence: Evidence, original: Dataset, release: Published, uses: Mapping[str, tuple[str, ...]]
) -> tuple[Mapping[str, Any], ...]:
    """How far the columns of every declared use have changed."""
    skipped = dict(getattr(evidence.utility, "skipped", ()))
    if uses and "by_column" in skipped:
        raise UsageError(f"how far single columns changed {skipped['by_column']}")
    return changed(original, release, uses, getattr(evidence.utility, "by_column", ())) if uses else ()


def posteriors_of(original: Dataset, release: Published) -> tuple[tuple[str, Result], ...]:
    """The posterior audit of every randomised column, for an attacker who knows what few values can tell."""
    from sudare.estimate.posterior import posterior

    randomised, data = release.schema.get("randomized", {}), release.data
    if not randomised:
        return ()
    known = original if release.has_truth and not release.fate[0] else None
    few = [c for c in data.roles.quasi if int(data.table[c].nunique().to_pyarrow().as_py()) <= FEW_VALUES]
    return tuple((name, posterior(release, known, given=few[:2], column=name)) for name in randomised)


def weakest_of(release: Published) -> Any:
    from sudare.loop.weakest import weakest

    return weakest(release.data, release.rows)
