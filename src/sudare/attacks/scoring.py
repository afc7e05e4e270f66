"""Scoring: how often an attack's candidates are right, by one of three rules for ties."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum, sqrt
from typing import Annotated, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.base import Candidates, Rows

Ties = Annotated[Literal["expected", "first", "fail"], "rule for ties"]
ROUNDING = 1e-9


class Score(NamedTuple):
    """The rate of right guesses over all release rows, its interval, and what a blind guess would have
    got.
    """

    rate: float
    baseline: float
    low: float
    high: float
    gave_up: int
    tied: int
    from_ties: float


class Tally(NamedTuple):
    """Sums over release rows, from which a score is made wherever the rows are."""

    rows: float
    real: float
    hits: float
    gave_up: float
    tied: float
    from_ties: float

    @classmethod
    def of(cls, candidates: Candidates, truth: Rows, ties: Ties) -> Tally:
        """The sums of some rows; `truth` is the original row of each, -1 = a dummy, below = a row elsewhere."""
        hits, several = hit_probability(candidates, np.maximum(truth, -1), ties), candidates.sizes > 1
        gave_up = float((1.0 - candidates.answered).sum())
        real, tied = int((truth != -1).sum()), int(several.sum())
        return cls(len(truth), real, float(hits.sum()), gave_up, tied, float(hits[several].sum()))

    @classmethod
    def total(cls, parts: Iterable[Sequence[float]]) -> Tally:
        """The sums of all parts together."""
        return cls(*map(fsum, zip(*parts)))

    def times(self, weight: float) -> Tally:
        """The sums of as many rows as these stand for."""
        return self if weight == 1 else Tally(*(weight * value for value in self))

    def looking_again(self, found: Tally, rows: int) -> Tally:
        """With what a second look at so many of its rows found; the look may have been at a sample of them."""
        more = found.times(rows / found.rows)
        return Tally(
            self.rows,
            self.real,
            self.hits + more.hits,
            self.gave_up - rows + more.gave_up,
            self.tied + more.tied,
            self.from_ties + more.from_ties,
        )

    def score(self, originals: int, sampled: tuple[int, float] = (0, 0.0)) -> Score:
        """The score; `sampled` says of how many rows how many were drawn, which widens the interval."""
        of, drawn = sampled
        unseen = (of / self.rows) ** 2 * (1 / drawn - 1 / of) if of > drawn else 0.0
        rate = self.hits / self.rows
        low, high = wilson(rate, self.rows / (1 + self.rows * unseen))
        baseline = self.real / self.rows / originals
        return Score(
            rate, baseline, low, high, round(self.gave_up), round(self.tied), self.from_ties / self.rows
        )


def score(candidates: Candidates, truth: Rows, originals: int, ties: Ties = "expected") -> Score:
    """Score candidates against the truth (the original row of each release row, -1 = a dummy).

    Rates are over all release rows: giving up is a miss, and so is any guess about a dummy. `from_ties`
    is the part of the rate that comes from rows with more than one candidate.

    >>> one = Candidates.of_classes(np.array([0, 0, 1]), np.array([0, 0, 1]))
    >>> score(one, np.array([0, 1, 2]), 3).rate
    0.6666666666666666
    """
    return Tally.of(candidates, truth, ties).score(originals)


def hit_probability(candidates: Candidates, truth: Rows, ties: Ties = "expected") -> NDArray[np.float64]:
    """The probability that each release row is re-identified.

    expected: 1/(number of candidates) if the truth is among them (or its weight, where the attack gives
    weights); first: 1 if the truth is the candidate with the lowest row number; fail: 1 only for a single
    candidate that no equal release row competes for.
    """
    hits = _hits_here(candidates, truth, ties)
    if candidates.otherwise is None:
        return hits
    return np.where(candidates.set_of < 0, hit_probability(candidates.otherwise, truth, ties), hits)


def _hits_here(candidates: Candidates, truth: Rows, ties: Ties) -> NDArray[np.float64]:
    run = _run_of_truth(candidates, truth)
    found = run >= 0
    if ties == "first":
        return np.asarray(found & (truth == _first(candidates)), np.float64)
    sizes = np.maximum(candidates.sizes, 1)
    if ties == "fail":
        return np.asarray(found & (sizes == 1) & (candidates.answered > 1 - ROUNDING), np.float64)
    if candidates.weights is None:
        return np.where(found, 1.0 / sizes, 0.0)
    share = candidates.weights / np.maximum(candidates.stops - candidates.starts, 1)
    return np.where(found, np.append(share, 0.0)[run], 0.0)


def wilson(rate: float, rows: float, z: float = 1.959963984540054) -> tuple[float, float]:
    """Wilson's 95% interval for a rate observed on `rows` rows.

    >>> wilson(0.5, 4)
    (0.15003898915214947, 0.8499610108478506)
    """
    spread = z * z / rows
    middle = (rate + spread / 2) / (1 + spread)
    half = z * sqrt(rate * (1 - rate) / rows + spread / (4 * rows)) / (1 + spread)
    return max(0.0, min(rate, middle - half)), min(1.0, max(rate, middle + half))


def _run_of_truth(candidates: Candidates, truth: Rows) -> Rows:
    """The run that holds the true row of each release row, -1 if none does."""
    if not len(candidates.starts):
        return np.full(len(truth), -1, np.int64)
    highest = int(max(candidates.members.max(initial=-1), truth.max(initial=-1)))
    position = np.full(highest + 2, -1, np.int64)
    position[candidates.members] = np.arange(len(candidates.members))
    at, chosen = position[truth], np.maximum(candidates.set_of, 0)
    run = np.minimum(candidates.offsets[chosen], len(candidates.starts) - 1)
    several = np.flatnonzero(candidates.offsets[chosen + 1] - candidates.offsets[chosen] > 1)
    run[several] = _search_runs(candidates, chosen[several], at[several])
    inside = (at >= candidates.starts[run]) & (at < candidates.stops[run])
    inside &= (
        (candidates.set_of >= 0)
        & (run >= candidates.offsets[chosen])
        & (run < candidates.offsets[chosen + 1])
    )
    return np.where(inside, run, -1)


def _search_runs(candidates: Candidates, chosen: Rows, at: Rows) -> Rows:
    """The last run of each chosen set that begins at or before a position."""
    width = len(candidates.members) + 1
    set_of_run = np.repeat(np.arange(len(candidates.offsets) - 1), np.diff(candidates.offsets))
    found = np.searchsorted(set_of_run * width + candidates.starts, chosen * width + at, side="right") - 1
    return np.maximum(found, 0)


def _first(candidates: Candidates) -> Rows:
    """The lowest original row among the candidates of each release row, -1 = gave up."""
    nobody = np.iinfo(np.int64).max
    lowest = np.full(len(candidates.offsets), nobody)
    full = np.diff(candidates.offsets) > 0
    if full.any():
        first_of_run = candidates.members[np.minimum(candidates.starts, len(candidates.members) - 1)]
        first_of_run = np.where(candidates.stops > candidates.starts, first_of_run, nobody)
        lowest[:-1][full] = np.minimum.reduceat(first_of_run, candidates.offsets[:-1][full])
    lowest[-1] = -1
    return lowest[candidates.set_of]
