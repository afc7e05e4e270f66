"""sudare.attack: run attacks on a release and score them all by the same rules, wherever the rows are."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.base import Attack
from sudare.attacks.scoring import TIES, Score, Tally, Ties
from sudare.data.dataset import Dataset
from sudare.data.published import original_and_published
from sudare.engine.pair import Pair, Visited, pair_of
from sudare.errors import UsageError, nearest, warn
from sudare.parameters import checked
from sudare.progress import stage
from sudare.registry import all_of, find, name_of
from sudare.results import Result

if TYPE_CHECKING:
    import altair

Ints = NDArray[np.int64]
DRAWN = 20_000  # release rows that are compared with all originals, where not all rows are in this process
ALL_ROWS = "compares with all rows and cannot run on Spark"


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
    """
    if ties not in TIES:
        raise UsageError(f"unknown rule for ties '{ties}'; {nearest(str(ties), TIES)}")
    pair = pair_of(*original_and_published(original, release, truth, "attack"))
    if not pair.has_truth:
        raise UsageError(
            "attack: a Dataset needs truth= (for every row its row number in the original) to be scored"
        )
    pair.check_truth()
    pair = _in_hidden_order(pair)
    chosen = battery(pair) if attacks is None else [_attack_of(one) for one in _listed(attacks)]
    done, skipped = _run_all(chosen, pair, ties, by_name=attacks is not None)
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


@dataclass(frozen=True)
class _Done:
    """An attack that was run, its score, and of how many rows how many were drawn (0 where none was left out)."""

    label: str
    score: Score
    seconds: float
    sampled: tuple[int, float]


def _run_all(
    chosen: Sequence[Attack], pair: Pair, ties: Ties, *, by_name: bool
) -> tuple[list[_Done], list[tuple[str, str]]]:
    """What was run, and what could not run here; what was asked for by name must run."""
    done: list[_Done] = []
    reasons = [(label(one), ALL_ROWS) for one in chosen if one.scope == "table" and not pair.here]
    if reasons and (by_name or len(reasons) == len(chosen)):
        raise UsageError(f"{', '.join(name for name, _ in reasons)}: {ALL_ROWS}; open a sample with DuckDB")
    for one in chosen:
        if one.scope == "table" and not pair.here:
            continue
        try:
            done.append(_run(one, pair, ties))
        except UsageError as error:
            if by_name or pair.here:
                raise
            reasons.append((label(one), str(error)))
    if not done:
        raise UsageError("; ".join(f"{name}: {reason}" for name, reason in reasons))
    return done, reasons


def _run(one: Attack, pair: Pair, ties: Ties) -> _Done:
    stage(f"attack {label(one)}")
    begin = time.perf_counter()
    originals, sampled = pair.originals, (0, 0.0)
    if one.unit == "user":
        tally, originals = _of_users(one, pair, ties), pair.users().originals
    elif one.scope == "group" and (pair.here or one.reads(pair).equal):
        tally, sampled = _within_groups(one, pair, ties)
    else:
        drawn = pair.drawn(DRAWN)
        tally = Tally.of(one.match(drawn.pair), drawn.truth, ties)
        sampled = drawn.drawn_from, tally.rows
        tally = tally.times(drawn.drawn_from / tally.rows)
    return _Done(label(one), tally.score(originals, sampled), time.perf_counter() - begin, sampled)


def _within_groups(one: Attack, pair: Pair, ties: Ties) -> tuple[Tally, tuple[int, float]]:
    """The rows of every group among each other; who finds nobody there is looked for otherwise."""
    other = one.otherwise(pair.without_truth())
    met = pair.met(*one.reads(pair.without_truth()), partial(_visit, one, ties, other is not None), DRAWN)
    tally = Tally.total(met.sums)
    if other is None or met.lost is None:
        return tally, (0, 0.0)
    rest, truth, lost = met.lost
    found = Tally.of(other.match(rest), truth, ties)
    return tally.looking_again(found, lost), (lost, found.rows)


def _visit(one: Attack, ties: Ties, look_again: bool, part: Pair, truth: Ints) -> Visited:
    candidates = one.match(part)
    lost = np.flatnonzero(candidates.sizes == 0) if look_again else np.empty(0, np.int64)
    return Visited(Tally.of(candidates, truth, ties), lost)


def _of_users(one: Attack, pair: Pair, ties: Ties) -> Tally:
    _, truth, _ = pair.drawn(DRAWN)
    return Tally.of(one.match(pair.without_truth()), _true_users(pair, truth), ties)


def label(one: Attack) -> str:
    """The attack's name with the parameters that differ from the default.

    >>> from sudare.attacks.plugins.euclid import Euclid
    >>> label(Euclid()), label(Euclid(fallback=True))
    ('euclid', 'euclid(fallback)')
    """
    changed = [(f.name, getattr(one, f.name)) for f in fields(one) if _differs(one, f)]  # type: ignore[arg-type]
    words = [name if value is True else f"{name}={_shown(value)}" for name, value in changed]
    return name_of(one) + (f"({', '.join(words)})" if words else "")


def _differs(one: Attack, field: Any) -> bool:
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    return bool(getattr(one, field.name) != default)


def _shown(value: Any) -> str:
    if not isinstance(value, (list, tuple)):
        return str(value)
    return "+".join(map(str, value)) if 0 < len(value) <= 3 else str(len(value) or "none")


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


def _row(found: _Done) -> dict[str, Any]:
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


def _drawn(done: Sequence[_Done]) -> list[str]:
    return [
        f"{found.label}: estimated from {found.sampled[1]:,.0f} of {found.sampled[0]:,} rows."
        for found in done
        if found.sampled[0] > found.sampled[1]
    ]


def _findings(pair: Pair, done: Sequence[_Done]) -> list[str]:
    """What the scores hide, where both tables can be looked at together."""
    from sudare.attacks.cheating import findings

    truth = pair.truth if pair.here else None
    if truth is None:
        return [
            "Not looked for: copied rows that claim to be about others, and rows in the original's order."
        ]
    return findings(pair, truth, {found.label: found.score for found in done})


def _true_users(pair: Pair, truth: Ints) -> Ints:
    """The original user of every release user: the one whom most of its rows are about, -1 if all are
    dummies.
    """
    users = pair.users()
    real = truth >= 0
    pairs = users.of_release[real] * users.originals + users.of_original[truth[real]]
    found, counts = np.unique(pairs, return_counts=True)
    by_count = found[np.argsort(counts, kind="stable")]
    owner = np.full(users.releases, -1, np.int64)
    owner[by_count // users.originals] = by_count % users.originals
    return owner


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
