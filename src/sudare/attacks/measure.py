"""sudare.attack: run attacks on a release and score them all by the same rules, wherever the rows are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.base import Attack
from sudare.attacks.running import Done, run_all
from sudare.attacks.scoring import Ties
from sudare.data.dataset import Dataset
from sudare.data.published import original_and_published
from sudare.engine.pair import Pair, pair_of
from sudare.errors import UsageError, warn
from sudare.parameters import checked
from sudare.registry import all_of, find
from sudare.results import Result

if TYPE_CHECKING:
    import altair

Ints = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class AttackResult(Result):
    """One row per attack: the rate of re-identified release rows beside what a blind guess would get.

    `skipped` names every attack that fits but was not run, with the reason.
    """

    ties: Ties = "expected"
    originals: int = 0
    releases: int = 0
    tied: tuple[int, ...] = ()
    from_ties: tuple[float, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()

    command: ClassVar[str] = "attack"

    @property
    def worst(self) -> float:
        """The highest rate of all attacks: what a release must be judged by."""
        return max((float(row["rate"]) for row in self.rows), default=0.0)

    def extra(self) -> dict[str, Any]:
        return {
            "ties": self.ties,
            "originals": self.originals,
            "releases": self.releases,
            "tied": list(self.tied),
            "from_ties": list(self.from_ties),
            "worst": self.worst,
            "skipped": list(self.skipped),
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
    truth: Iterable[Any] | None = None,
) -> AttackResult:
    """Attack a release with everybody we know and say how many of its rows are re-identified.

    `release` is a Release, or a Dataset with `truth`: for every published row the row number in the
    original, None for a dummy. Rates are over all published rows. Without `attacks`, those that fit the
    roles are run; what fits and cannot run where the tables are is in `skipped`.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, sudare.methods.Mondrian(k=4), key=bytes(range(32)))
    >>> sudare.attack(patients, release, "identify-rand").worst
    0.0
    """
    pair = pair_of(*original_and_published(original, release, truth, "attack"))
    if not pair.has_truth:
        raise UsageError(
            "attack: a Dataset needs truth= (for every row its row number in the original) to be scored"
        )
    if not pair.originals or not pair.releases:
        raise UsageError("attack: a table without rows cannot be attacked")
    pair.check_truth()
    pair = _in_hidden_order(pair)
    chosen = battery(pair) if attacks is None else [_attack_of(one) for one in _listed(attacks)]
    done, skipped = run_all(chosen, pair, ties, by_name=attacks is not None)
    scores = [found.score for found in done]
    return AttackResult(
        rows=tuple(_row(found) for found in done),
        notes=(*_left_out(skipped), *_drawn(done), *_findings(pair, done)),
        ties=ties,
        originals=pair.originals,
        releases=pair.releases,
        tied=tuple(s.tied for s in scores),
        from_ties=tuple(s.from_ties for s in scores),
        skipped=tuple(skipped),
    )


def battery(pair: Pair) -> list[Attack]:
    """Every known attack that fits the table, weakest knowledge first."""
    known = sorted(all_of("attack").values(), key=lambda cls: (cls.priority, cls.__name__))
    chosen = [one for cls in known for one in cls.suited(pair.without_truth())]
    if not chosen:
        raise UsageError(
            "no attack fits these roles; name quasi-identifiers, sensitive columns or a user column"
        )
    return chosen


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


def _row(found: Done) -> dict[str, Any]:
    """A row of the result."""
    scored = found.score
    return {
        "attack": found.label,
        "rate": scored.rate,
        "baseline": scored.baseline,
        "low": scored.low,
        "high": scored.high,
        "gave_up": scored.gave_up,
        "seconds": round(found.seconds, 6),
    }


def _left_out(skipped: Sequence[tuple[str, str]]) -> list[str]:
    return [f"Left out: {'; '.join(f'{name} ({reason})' for name, reason in skipped)}."] if skipped else []


def _drawn(done: Sequence[Done]) -> list[str]:
    return [
        f"{found.label}: estimated from {found.sampled[1]:,.0f} of {found.sampled[0]:,} rows."
        for found in done
        if found.sampled[0] > found.sampled[1]
    ]


def _findings(pair: Pair, done: Sequence[Done]) -> list[str]:
    """What the scores hide, where both tables can be looked at together."""
    from sudare.attacks.cheating import findings

    truth = pair.truth if pair.here else None
    if truth is None:
        return [
            "Not looked for: copied rows that claim to be about others, and rows in the original's order."
        ]
    return findings(pair, truth, {found.label: found.score for found in done})


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
