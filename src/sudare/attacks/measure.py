"""sudare.attack: run attacks on a release and score them all by the same rules."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.base import Attack
from sudare.attacks.scoring import Score, Ties, score
from sudare.attacks.view import View
from sudare.data.dataset import Dataset
from sudare.data.published import original_and_published
from sudare.errors import UsageError, warn
from sudare.parameters import checked
from sudare.progress import stage
from sudare.registry import all_of, find, name_of
from sudare.results import Result

if TYPE_CHECKING:
    import altair

Ints = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class AttackResult(Result):
    """One row per attack: the rate of re-identified release rows beside what a blind guess would get."""

    ties: Ties = "expected"
    originals: int = 0
    releases: int = 0
    tied: tuple[int, ...] = ()
    from_ties: tuple[float, ...] = ()

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
    roles are run.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, sudare.methods.Mondrian(k=4), key=bytes(range(32)))
    >>> sudare.attack(patients, release, "identify-rand").worst
    0.0
    """
    from sudare.attacks.cheating import findings

    original, published = original_and_published(original, release, truth, "attack")
    if original.engine == "pyspark" and published.data.engine == "pyspark" and published.has_truth:
        from sudare.attacks.spark import attack_on_spark

        named = None if attacks is None else [_attack_of(one) for one in _listed(attacks)]
        return attack_on_spark(original, published, named, ties)
    known = published.rows_among(original.rows)
    if known is None:
        raise UsageError(
            "attack: a Dataset needs truth= (for every row its row number in the original) to be scored"
        )
    order = _hidden_order(known)
    view = View(original, published.data, order)
    known = known if order is None else known[order]
    chosen = battery(view) if attacks is None else [_attack_of(one) for one in _listed(attacks)]
    scores, seconds = zip(*(_run(one, view, known, ties) for one in chosen))
    return AttackResult(
        rows=tuple(result_row(one, s, t) for one, s, t in zip(chosen, scores, seconds)),
        notes=tuple(findings(view, known, {label(one): s for one, s in zip(chosen, scores)})),
        ties=ties,
        originals=view.originals,
        releases=view.releases,
        tied=tuple(s.tied for s in scores),
        from_ties=tuple(s.from_ties for s in scores),
    )


def battery(view: View) -> list[Attack]:
    """Every known attack that fits the table, weakest knowledge first."""
    known = sorted(all_of("attack").values(), key=lambda cls: (getattr(cls, "place", 1000), cls.__name__))
    chosen = [one for cls in known for one in cls.suited(view)]
    if not chosen:
        raise UsageError(
            "no attack fits these roles; name quasi-identifiers, sensitive columns or a user column"
        )
    return chosen


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
    if isinstance(made, type) or not hasattr(made, "match"):
        raise UsageError("attacks: give attacks such as sudare.attacks.Euclid(), or their names")
    return made


def _run(one: Attack, view: View, truth: Ints, ties: Ties) -> tuple[Score, float]:
    stage(f"attack {label(one)}")
    begin = time.perf_counter()
    candidates = one.match(view)
    seconds = time.perf_counter() - begin
    if one.unit == "user":
        users = view.users()
        return score(candidates, _true_users(view, truth), users.originals, ties), seconds
    return score(candidates, truth, view.originals, ties), seconds


def result_row(one: Attack, scored: Score, seconds: float) -> dict[str, Any]:
    """A row of the result."""
    return {
        "attack": label(one),
        "rate": scored.rate,
        "baseline": scored.baseline,
        "low": scored.low,
        "high": scored.high,
        "gave_up": scored.gave_up,
        "seconds": round(seconds, 6),
    }


def _true_users(view: View, truth: Ints) -> Ints:
    """The original user of every release user: the one whom most of its rows are about, -1 if all are
    dummies.
    """
    users = view.users()
    real = truth >= 0
    pairs = users.of_release[real] * users.originals + users.of_original[truth[real]]
    found, counts = np.unique(pairs, return_counts=True)
    by_count = found[np.argsort(counts, kind="stable")]
    owner = np.full(users.releases, -1, np.int64)
    owner[by_count // users.originals] = by_count % users.originals
    return owner


def _hidden_order(truth: Ints) -> Ints | None:
    """An order that hides the row order of a release that was published unshuffled; None where it was
    shuffled.
    """
    real = truth[truth >= 0]
    if len(real) < 2 or np.mean(np.diff(real) > 0) < 0.95:
        return None
    warn(
        "S-ORDER",
        "the release's rows are in the original's order and shuffled before scoring; publish them shuffled",
    )
    return np.random.default_rng(0).permutation(len(truth)).astype(np.int64)
