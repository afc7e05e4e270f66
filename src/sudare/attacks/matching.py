"""Attacks that match: whom is a published row, or a published person, about?"""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.base import Attack, Candidates
from sudare.attacks.case import Case, Finding, NotRun
from sudare.attacks.scoring import Tally, Ties
from sudare.engine.pair import Pair, Visited

Ints = NDArray[np.int64]
Scope = Literal["row", "group", "table"]
DRAWN = 20_000  # release rows that are compared with all originals by an attack that looks each of them up
ALL_ROWS = "compares with all rows and cannot run on Spark"
NO_TRUTH = "needs the truth (the linkage file) to be scored"


class Reads(NamedTuple):
    """The columns that an attack within groups reads: those that must be equal, and those compared beside, then or
    by `otherwise`.
    """

    equal: tuple[str, ...]
    compared: tuple[str, ...] = ()


class Matching(Attack):
    """An attack that answers with candidates: `match` is what it must say.

    `unit` says what is matched: "row" (release rows to original rows) or "user" (the distinct release
    users to the distinct original users, both numbered in the sorted order of `Pair.users`).

    `scope` says what it must have in one place, and so where it can run: "row" = any release rows, each beside all
    originals; "group" = the rows with equal values in the columns that `reads` names; "table" = both tables.
    """

    unit: ClassVar[str] = "row"

    @property
    def scope(self) -> Scope:
        return "table"

    @property
    def target(self) -> str:
        return "rows" if self.unit == "row" else "people"

    @abstractmethod
    def match(self, pair: Pair) -> Candidates:
        """The candidates of every release row (or user)."""

    def measure(self, case: Case) -> Finding:
        """The score of the candidates."""
        if not case.pair.has_truth:
            raise NotRun(NO_TRUTH)
        return _measured(self, case.pair, case.ties)

    def refusal(self, pair: Pair) -> str | None:
        return ALL_ROWS if not pair.here and (self.scope == "table" or self.unit == "user") else None

    def reads(self, pair: Pair) -> Reads:
        """Of an attack within groups: what must be equal, and what it compares; if nothing, it looks among all."""
        return Reads(())

    def otherwise(self, pair: Pair) -> Matching | None:
        """Of an attack within groups: the attack of scope "row" on the rows that found nobody in their group."""
        return None


def finding(tally: Tally, originals: int, of: int, drawn: tuple[int, float] = (0, 0.0)) -> Finding:
    """The finding of a tally; `drawn` says of how many rows how many were drawn, which widens the interval."""
    score = tally.score(originals, drawn)
    hidden = tally.real < tally.rows
    return Finding(
        rate=score.rate,
        baseline=score.baseline,
        low=score.low,
        high=score.high,
        rate_real=tally.hits / tally.real if hidden and tally.real else None,
        attacked=round(min(drawn[1] or of, of)),
        of=of,
        gave_up=score.gave_up,
        tied=score.tied,
        from_ties=score.from_ties,
    )


def _measured(one: Matching, pair: Pair, ties: Ties) -> Finding:
    if one.unit == "user":
        users = pair.users()
        return finding(_of_users(one, pair, ties), users.originals, users.releases)
    if one.scope == "group" and (pair.here or one.reads(pair).equal):
        tally, drawn = _within_groups(one, pair, ties)
        return finding(tally, pair.originals, pair.releases, drawn)
    if one.scope == "table":
        truth = pair.truth
        assert truth is not None
        tally = Tally.of(one.match(pair.without_truth()), truth, ties)
        return finding(tally, pair.originals, pair.releases)
    some = pair.drawn(DRAWN)
    tally = Tally.of(one.match(some.pair), some.truth, ties)
    whole = tally.times(some.drawn_from / tally.rows)
    return finding(whole, pair.originals, pair.releases, (some.drawn_from, tally.rows))


def _within_groups(one: Matching, pair: Pair, ties: Ties) -> tuple[Tally, tuple[int, float]]:
    """The rows of every group among each other; who finds nobody there is looked for otherwise."""
    other = one.otherwise(pair.without_truth())
    met = pair.met(*one.reads(pair.without_truth()), partial(_visit, one, ties, other is not None), DRAWN)
    tally = Tally.total(met.sums)
    if other is None or met.lost is None:
        return tally, (0, 0.0)
    rest, truth, lost = met.lost
    found = Tally.of(other.match(rest), truth, ties)
    return tally.looking_again(found, lost), (lost, found.rows)


def _visit(one: Matching, ties: Ties, look_again: bool, part: Pair, truth: Ints) -> Visited:
    candidates = one.match(part)
    lost = np.flatnonzero(candidates.sizes == 0) if look_again else np.empty(0, np.int64)
    return Visited(Tally.of(candidates, truth, ties), lost)


def _of_users(one: Matching, pair: Pair, ties: Ties) -> Tally:
    truth = pair.truth
    assert truth is not None
    return Tally.of(one.match(pair.without_truth()), true_users(pair, truth), ties)


def true_users(pair: Pair, truth: Ints) -> Ints:
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
