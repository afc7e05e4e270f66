"""Running attacks where the rows are: groups meet there, or rows of the release are drawn, as each attack declares."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.base import Attack
from sudare.attacks.scoring import Score, Tally, Ties
from sudare.engine.pair import Pair, Visited
from sudare.errors import UsageError
from sudare.progress import stage
from sudare.registry import name_of

Ints = NDArray[np.int64]
DRAWN = 20_000  # release rows that are compared with all originals, where not all rows are in this process
ALL_ROWS = "compares with all rows and cannot run on Spark"


@dataclass(frozen=True)
class Done:
    """An attack that was run, its score, and of how many rows how many were drawn (0 where none was left out)."""

    label: str
    score: Score
    seconds: float
    sampled: tuple[int, float]


def run_all(
    chosen: Sequence[Attack], pair: Pair, ties: Ties, *, by_name: bool
) -> tuple[list[Done], list[tuple[str, str]]]:
    """What was run, and what could not run here; what was asked for by name must run."""
    done: list[Done] = []
    tables = [one for one in chosen if one.scope == "table" or one.unit == "user"]
    reasons = [(label(one), ALL_ROWS) for one in tables if not pair.here]
    if reasons and (by_name or len(reasons) == len(chosen)):
        raise UsageError(f"{', '.join(name for name, _ in reasons)}: {ALL_ROWS}; open a sample with DuckDB")
    for one in chosen:
        if one in tables and not pair.here:
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


def _run(one: Attack, pair: Pair, ties: Ties) -> Done:
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
    return Done(label(one), tally.score(originals, sampled), time.perf_counter() - begin, sampled)


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
