"""sudare.attack: run attacks on a release and score them all by the same rules, wherever the rows are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.base import Attack
from sudare.attacks.case import Case
from sudare.attacks.running import Done, label, run_all
from sudare.attacks.scoring import Ties
from sudare.budget import work_of
from sudare.data.dataset import Dataset
from sudare.data.published import original_and_published
from sudare.engine.pair import Pair, pair_of
from sudare.errors import UsageError, warn
from sudare.parameters import checked
from sudare.registry import all_of, find, name_of
from sudare.results import Result, Row

if TYPE_CHECKING:
    import altair

Ints = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class AttackResult(Result):
    """One row per attack: the rate of right guesses beside the random-guess baseline, with its interval.

    `skipped` names every attack that fits but was not run, with the reason; `details` holds further numbers of an
    attack by its name; `stopped` says that somebody stopped the work, and what was found so far is what there is.
    """

    ties: Ties = "expected"
    originals: int = 0
    releases: int = 0
    tied: tuple[int, ...] = ()
    from_ties: tuple[float, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    details: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    stopped: bool = False

    command: ClassVar[str] = "attack"

    @property
    def worst(self) -> float:
        """The success of the strongest attack (see `success`): what a release must be judged by."""
        row = self.strongest
        return 0.0 if row is None else success(row)

    @property
    def strongest(self) -> Row | None:
        """The row of the strongest attack; None if no attack has a rate."""
        rated = [row for row in self.rows if row["rate"] is not None]
        return max(rated, key=success, default=None)

    def extra(self) -> dict[str, Any]:
        return {
            "ties": self.ties,
            "originals": self.originals,
            "releases": self.releases,
            "tied": list(self.tied),
            "from_ties": list(self.from_ties),
            "worst": self.worst,
            "skipped": list(self.skipped),
            "details": dict(self.details),
            "stopped": self.stopped,
        }

    def chart(self) -> altair.Chart:
        from sudare.attacks.charts import rates

        return rates(self)


@checked
def attack(
    original: Dataset,
    release: Any,
    attacks: Attack | str | Sequence[Any] | None = None,
    *,
    ties: Ties = "expected",
    truth: Iterable[Any] | os.PathLike[str] | None = None,
    budget: float | str | None = None,
    control: Dataset | None = None,
    without: str | Sequence[str] = (),
) -> AttackResult:
    """Attack a release with everybody we know and say how often each of them is right.

    `release` is a Release, or a Dataset with `truth` (the linkage file): for every published row the row number in
    the original, None for a dummy; or a list of releases of the same table, and then a list of truths. Without
    `attacks`, those that fit the roles are run, except those named by `without`; what fits and was not run is in
    `skipped`. `budget` ("60s", "10m", a number of seconds; a minute by default) is turned into an amount of work by
    fixed constants: rows and people are drawn accordingly, and the same call gives the same answer everywhere.
    `control` is a table of people who are not in the release.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, sudare.methods.Mondrian(k=4), key=bytes(range(32)))
    >>> sudare.attack(patients, release, "identify-rand").worst
    0.0
    """
    case = _case(original, release, truth, ties=ties, work=work_of(budget), control=control)
    chosen = _chosen(case, attacks, [without] if isinstance(without, str) else list(without))
    found = run_all(chosen.run, case, by_name=attacks is not None)
    skipped = (*chosen.left_out, *found.skipped)
    findings = [done.finding for done in found.done]
    return AttackResult(
        rows=tuple(_row(done) for done in found.done),
        notes=(*_left_out(skipped), *_drawn(found.done), *_said(found.done), *_looks(case.pair, found.done)),
        ties=ties,
        originals=case.pair.originals,
        releases=case.pair.releases,
        tied=tuple(one.tied for one in findings),
        from_ties=tuple(one.from_ties for one in findings),
        skipped=skipped,
        details={done.label: done.finding.details for done in found.done if done.finding.details},
        stopped=found.stopped,
    )


def success(row: Row) -> float:
    """How far an attack succeeds: people or rows found as they are; what is guessed of a value or of membership only
    beyond what is guessed without the release, (rate - control)/(1 - control), as anonymeter counts it.

    Of a release with dummies the rate of the real rows counts. Without a control the baseline stands for it.

    >>> success({"kind": "inference", "rate": 0.6, "rate_real": None, "control": 0.5, "baseline": 0.1})
    0.2
    """
    rate = max(float(row["rate"]), float(row.get("rate_real") or 0.0))
    if row.get("kind", "linkage") not in ("inference", "membership"):
        return rate
    known = row["control"] if row["control"] is not None else row["baseline"] or 0.0
    return max(0.0, round((rate - known) / (1 - known), 12)) if known < 1 else 0.0


def battery(pair: Pair, *, several: bool = False) -> list[Attack]:
    """Every known attack that fits the table, weakest knowledge first."""
    known = sorted(all_of("attack").values(), key=lambda cls: (cls.priority, cls.__name__))
    seen = pair.without_truth()
    chosen = [one for cls in known if cls.several == several for one in cls.suited(seen)]
    if not chosen:
        raise UsageError(
            "no attack fits several releases together"
            if several
            else "no attack fits these roles; name quasi-identifiers, sensitive columns or a user column"
        )
    return chosen


def _case(original: Dataset, release: Any, truth: Any, **more: Any) -> Case:
    """What is attacked, checked at the door."""
    listed = list(release) if isinstance(release, (list, tuple)) else [release]
    truths = (
        list(truth) if isinstance(release, (list, tuple)) and truth is not None else [truth] * len(listed)
    )
    if not listed or len(truths) != len(listed):
        raise UsageError(
            f"attack: {len(listed)} releases and {len(truths)} truths; give one truth per release"
        )
    releases = [
        original_and_published(original, one, known, "attack")[1] for one, known in zip(listed, truths)
    ]
    pair = pair_of(original, releases[0])
    if not pair.originals or not pair.releases:
        raise UsageError("attack: a table without rows cannot be attacked")
    pair.check_truth()
    return Case(original=original, releases=tuple(releases), pair=_in_hidden_order(pair), **more)


class Chosen(NamedTuple):
    """The attacks to run, and those that fit and somebody left out."""

    run: list[Attack]
    left_out: list[tuple[str, str]]


def _chosen(case: Case, attacks: Any, without: list[str]) -> Chosen:
    if attacks is not None and without:
        raise UsageError("attack: give attacks or without, not both")
    if attacks is not None:
        return Chosen([_attack_of(one) for one in _listed(attacks)], [])
    fitting = battery(case.pair, several=len(case.releases) > 1)
    names = {name_of(find("attack", name)) if "(" not in name else name for name in without}
    kept = [one for one in fitting if not {name_of(one), label(one)} & names]
    if not kept:
        raise UsageError("attack: every attack that fits is left out; leave out fewer")
    return Chosen(kept, [(label(one), "left out as asked") for one in fitting if one not in kept])


def _listed(attacks: Attack | str | Sequence[Attack | str]) -> Sequence[Attack | str]:
    chosen = attacks if isinstance(attacks, (list, tuple)) else [attacks]
    if not chosen:
        raise UsageError("attacks: the list is empty; leave it out to run all that fit")
    return chosen  # type: ignore[return-value]


def _attack_of(one: Attack | str) -> Attack:
    made: Attack = find("attack", one)() if isinstance(one, str) else one
    if not isinstance(made, Attack):
        raise UsageError("attacks: give attacks such as sudare.attacks.Euclid(), or their names")
    return made


def _row(done: Done) -> dict[str, Any]:
    """A row of the result."""
    found = done.finding
    return {
        "attack": done.label,
        "kind": done.attack.kind,
        "target": found.target or done.attack.target,
        "rate": found.rate,
        "baseline": found.baseline,
        "low": found.low,
        "high": found.high,
        "control": found.control,
        "rate_real": found.rate_real,
        "attacked": found.attacked,
        "gave_up": found.gave_up,
        "seconds": round(done.seconds, 6),
    }


def _left_out(skipped: Sequence[tuple[str, str]]) -> list[str]:
    return [f"Not run: {'; '.join(f'{name} ({reason})' for name, reason in skipped)}."] if skipped else []


def _drawn(done: Sequence[Done]) -> list[str]:
    return [
        f"{one.label}: estimated from {one.finding.attacked:,} of {one.finding.of:,} {one.attack.target}."
        for one in done
        if one.finding.of > one.finding.attacked
    ]


def _said(done: Sequence[Done]) -> list[str]:
    return [f"{one.label}: {note}" for one in done for note in one.finding.notes]


def _looks(pair: Pair, done: Sequence[Done]) -> list[str]:
    """What the scores hide, where both tables can be looked at together."""
    from sudare.attacks.cheating import findings

    truth = pair.truth if pair.here else None
    if truth is None:
        return [
            "Not looked for: copied rows that claim to be about others, and rows in the original's order."
        ]
    return findings(pair, truth, {one.label: one.finding for one in done})


def _in_hidden_order(pair: Pair) -> Pair:
    """A release that was published unshuffled, in an order that hides the original's."""
    truth = pair.truth if pair.here else None
    real = np.empty(0) if truth is None else truth[truth >= 0]
    if len(real) < 2 or np.mean(np.diff(real) > 0) < 0.95:
        return pair
    warn(
        "S-ORDER",
        "the release's rows are in the original's order and shuffled before scoring; publish them shuffled",
    )
    return pair.only(np.random.default_rng(0).permutation(pair.releases).astype(np.int64))
