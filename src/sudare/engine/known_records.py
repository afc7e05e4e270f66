"""How far p records of a person narrow down who it is: over everybody's values, exact or drawn, with interval.

A person is drawn evenly among those who have so many different values, then p of them evenly; beside it the same over
everybody, where people with fewer are known by all they have. The candidates are the people of a table, or the
pseudonyms of a release, that have all p.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, sqrt
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sudare.progress import stage

if TYPE_CHECKING:
    from sudare.engine.kernels.known_records import Lists

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
DRAWS = 40_000  # at most .0098 wide, whatever the risk: 2 * 1.96 * .5 / sqrt(40,000)
ENUMERATED = 200_000  # sets of known values, up to which all of them are looked at
NORMAL = 1.96  # 95%


class Narrowed(NamedTuple):
    """What knowing `known` records of a person leaves.

    `people`: how many people have so many. `risk`: the probability of a right guess among the candidates, with its 95%
    interval; `unique`: the share of sets that leave one candidate, the right one; `sampled`: how many sets were drawn
    (0: all were looked at). `risk_everybody`: the risk over everybody, people with fewer known by all they have.
    """

    known: int
    people: int
    risk: float
    unique: float
    low: float
    high: float
    sampled: int
    risk_everybody: float


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Who has which values, twice: as known to the attacker, and as found in the table that he looks them up in.

    Person u has the values `values[start[u]:start[u+1]]`; value v leads to the candidates
    `holders[holder_start[v]:holder_start[v+1]]`, ascending; `own[own_start[u]:own_start[u+1]]` are those who are u.
    """

    start: Longs
    values: Longs
    holder_start: Longs
    holders: Longs
    candidates: int
    own_start: Longs
    own: Longs

    @classmethod
    def of(cls, people: Longs, values: Longs, n: int) -> Self:
        """Of a table as it is: the (person, value) pairs of its records, people numbered 0..n-1."""
        start, mine = by_first(people, values, n)
        holder_start, holders = by_first(values, people, int(values.max(initial=-1)) + 1)
        return cls(start, mine, holder_start, holders, n, np.arange(n + 1), np.arange(n))

    @property
    def people(self) -> int:
        return len(self.start) - 1

    @cached_property
    def lists(self) -> Lists:
        from sudare.engine.kernels.known_records import lists_of

        return lists_of(self.holder_start, self.holders, self.candidates)

    def narrowed(self, known: Sequence[int], seed: int = 1) -> list[Narrowed]:
        """For each number of known records what it leaves; the same seed draws the same people and values.

        Where nobody has so many the risk is that of everybody.
        """
        found = []
        for p in known:
            stage(f"known records: {p}")
            found.append(self._narrowed(p, seed))
        return found

    def _narrowed(self, p: int, seed: int) -> Narrowed:
        sizes = np.diff(self.start)
        fewer, enough = np.flatnonzero(sizes < p), np.flatnonzero(sizes >= p)
        mean, unique = self._of_all_values(fewer)
        if len(enough) == 0:  # nobody has so many, or there is nobody
            return Narrowed(p, 0, mean, unique, mean, mean, 0, mean)
        every = self._sets(p)
        part = self._every(p, every) if p == 1 or every <= ENUMERATED else self._drawn(p, enough, seed)
        everybody = (part[0] * len(enough) + mean * len(fewer)) / self.people
        return Narrowed(p, len(enough), *part, everybody)

    def _sets(self, p: int) -> int:
        sizes, people = np.unique(np.diff(self.start), return_counts=True)
        return sum(comb(size, p) * n for size, n in zip(sizes.tolist(), people.tolist()))

    def _of_all_values(self, people: Longs) -> tuple[float, float]:
        """The means over people of whom all values are known."""
        from sudare.engine.kernels.known_records import draw_known

        if len(people) == 0:
            return 0.0, 0.0
        most = int(np.diff(self.start)[people].max())
        right, unique = self._guessed(draw_known(self.start, self.values, people, most, 0), people)
        return float(right.mean()), float(unique.mean())

    def _every(self, p: int, sets: int) -> tuple[float, float, float, float, int]:
        """Over all sets of p values; the sets of a person weigh one together."""
        from sudare.engine.kernels.known_records import every_known

        known, whose = every_known(self.start, self.values, p, sets)
        right, unique = self._guessed(known, whose)
        times = np.bincount(whose, minlength=self.people)
        weight = 1 / (times[whose] * np.count_nonzero(times))
        risk = float(right @ weight)
        return risk, float(unique @ weight), risk, risk, 0

    def _drawn(self, p: int, people: Longs, seed: int) -> tuple[float, float, float, float, int]:
        """Over draws: everybody several times, or of very many people some once."""
        from sudare.engine.kernels.known_records import draw_known

        rng = np.random.default_rng([seed, p])
        times = max(2, -(-DRAWS // len(people))) if len(people) <= DRAWS else 1
        chosen = people if times > 1 else np.sort(rng.choice(people, DRAWS, replace=False))
        whose = np.repeat(chosen, times)
        known = draw_known(self.start, self.values, whose, p, int(rng.integers(2**62)))
        right, unique = self._guessed(known, whose)
        low, high = _interval(right, times)
        return float(right.mean()), float(unique.mean()), low, high, len(right)

    def _guessed(self, known: Longs, whose: Longs) -> tuple[Floats, Floats]:
        """The probability of a right guess, and whether the right one alone is left."""
        from sudare.engine.kernels.known_records import candidates, owned

        left = candidates(self.lists, known)
        mine = owned(self.lists, known, whose, self.own_start, self.own)
        return mine / np.maximum(left, 1), ((left == 1) & (mine == 1)).astype(np.float64)


def _interval(right: Floats, times: int) -> tuple[float, float]:
    """The 95% interval of the mean over people of the mean over their draws.

    With everybody drawn only the spread within people counts; with one draw of some the spread between them, which
    holds the other. Three in all draws are added: so many may differ where no draw did.
    """
    people = len(right) // times
    if times > 1:
        variance = float(right.reshape(people, times).var(axis=1, ddof=1).sum()) / (times * people**2)
    else:
        variance = float(right.var(ddof=1)) / people
    mean, half = float(right.mean()), NORMAL * sqrt(variance) + 3 / len(right)
    return max(0.0, mean - half), min(1.0, mean + half)


def by_first(first: Longs, second: Longs, size: int) -> tuple[Longs, Longs]:
    """The different second numbers of every first number: where each list starts, and the lists, ascending.

    >>> [part.tolist() for part in by_first(np.array([1, 0, 1, 1]), np.array([5, 2, 3, 5]), 2)]
    [[0, 1, 3], [2, 3, 5]]
    """
    width = int(second.max(initial=0)) + 1
    pairs = np.sort(first.astype(np.int64) * width + second)
    fresh = np.ones(len(pairs), np.bool_)
    fresh[1:] = pairs[1:] != pairs[:-1]
    pairs = pairs[fresh]
    return np.searchsorted(pairs // width, np.arange(size + 1)).astype(np.int64), pairs % width
