"""What an attack is: parameters in a frozen dataclass and one verb, `measure`.

Most attacks match (`sudare.attacks.matching`): they see the original and the release (never the truth) as a `Pair` and
answer with `Candidates`: for every release row the original rows that it holds equally likely. Whether they were right
is decided once, in `sudare.attacks.scoring`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sudare.attacks.case import Case, Finding
    from sudare.engine.pair import Pair

Rows = NDArray[np.int64]
Kind = Literal["linkage", "inference", "membership", "known records"]


class Attack(ABC):
    """An attack on a release: `measure` is its one verb, `suited` proposes it for a table.

    `kind` says what the rate is about: rows or people linked to the original ("linkage"), a value guessed
    ("inference"), whether somebody is in the release at all ("membership"), people found by some of their records
    ("known records"). `target` names the column or the unit that the rate counts; rows and people are never mixed in
    one number. `weight` is the attack's share of a budget beside the others'. `several` marks attacks on what several
    releases say together.
    """

    kind: ClassVar[Kind] = "linkage"
    family: ClassVar[str] = "linkage"
    priority: ClassVar[int] = 1000
    weight: ClassVar[float] = 1.0
    several: ClassVar[bool] = False

    @property
    def target(self) -> str:
        """The column or the unit concerned."""
        return "rows"

    @abstractmethod
    def measure(self, case: Case) -> Finding:
        """What the attack finds; raise `NotRun` with the reason where it fits and cannot be run."""

    def refusal(self, pair: Pair) -> str | None:
        """Why the attack cannot run where the rows are; None if it can."""
        return None

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        """The instances worth running on this table when nobody names attacks; empty when the attack does
        not apply.
        """
        return []


@dataclass(frozen=True)
class Candidates:
    """For every release row a set of original rows, stored as runs so that ties cost no memory.

    `members` lists original rows, each at most once. A run is `members[starts[r]:stops[r]]`, ascending.
    Set s owns the runs `offsets[s]:offsets[s + 1]`, ascending by start and disjoint. `set_of` gives each
    release row its set, -1 = gave up. Without `weights` all members of a set are equally likely; with
    them run r has the probability `weights[r]`, shared equally by its members; what a set's weights lack
    of 1 is the probability that the row gives up. A row without a set looks into `otherwise`, if there is
    one.

    >>> Candidates.of_guesses(np.array([2, -1, 0]), originals=3).sizes
    array([1, 0, 1])
    """

    members: Rows
    set_of: Rows
    offsets: Rows
    starts: Rows
    stops: Rows
    weights: NDArray[np.float64] | None = None
    otherwise: Candidates | None = None

    @classmethod
    def of_guesses(cls, guesses: Rows, originals: int) -> Candidates:
        """One guessed original row for every release row; -1 = gave up."""
        one = np.arange(originals, dtype=np.int64)
        return cls(one, np.asarray(guesses, np.int64), np.arange(originals + 1), one, one + 1)

    @classmethod
    def of_classes(cls, class_of_original: Rows, class_of_release: Rows) -> Candidates:
        """Each release row's candidates are the original rows of its class (-1 or an absent class = gave up).

        >>> Candidates.of_classes(np.array([0, 0, 1]), np.array([1, 0, 5])).sizes
        array([1, 2, 0])
        """
        members = np.argsort(class_of_original, kind="stable").astype(np.int64)
        classes = int(max(class_of_original.max(initial=-1), class_of_release.max(initial=-1))) + 1
        sizes = np.bincount(class_of_original, minlength=classes)
        ends = np.cumsum(sizes).astype(np.int64)
        known = (class_of_release >= 0) & (sizes[class_of_release] > 0)
        set_of = np.where(known, class_of_release, -1).astype(np.int64)
        return cls(members, set_of, np.arange(classes + 1), ends - sizes, ends)

    @classmethod
    def of_pairs(cls, release: Rows, original: Rows, releases: int, originals: int) -> Candidates:
        """Candidates listed one by one: pair i says that `original[i]` is a candidate of `release[i]`.

        >>> Candidates.of_pairs(np.array([1, 1]), np.array([4, 2]), releases=2, originals=5).sizes
        array([0, 2])
        """
        sort = np.lexsort((original, release))
        starts = np.asarray(original, np.int64)[sort]
        counts = np.bincount(release, minlength=releases)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        set_of = np.where(counts > 0, np.arange(releases), -1).astype(np.int64)
        return cls(np.arange(originals, dtype=np.int64), set_of, offsets, starts, starts + 1)

    @classmethod
    def of_scores(cls, scores: NDArray[np.float64], originals: int) -> Candidates:
        """The columns with the largest score of each row, all of them where several share it; a row of
        NaN gives up.
        """
        known = ~np.isnan(scores).all(axis=1)
        best = np.full(len(scores), np.nan)
        best[known] = np.nanmax(scores[known], axis=1)
        release, original = np.nonzero(scores == best[:, None])
        return cls.of_pairs(release, original, len(scores), originals)

    def or_else(self, other: Candidates) -> Candidates:
        """The same candidates, and `other`'s for the rows that give up here."""
        return replace(self, otherwise=other)

    @property
    def sizes(self) -> Rows:
        """The number of candidates of every release row; 0 = gave up."""
        before = np.concatenate([[0], np.cumsum(self.stops - self.starts)])
        sizes = np.append(before[self.offsets[1:]] - before[self.offsets[:-1]], 0).astype(np.int64)[
            self.set_of
        ]
        return sizes if self.otherwise is None else np.where(self.set_of < 0, self.otherwise.sizes, sizes)

    @property
    def answered(self) -> NDArray[np.float64]:
        """The probability that every release row gets a guess; below 1 where equals compete for too few
        original rows.
        """
        if self.weights is None:
            answered = ((self.set_of >= 0) & (self.sizes > 0)).astype(np.float64)
        else:
            before = np.concatenate([[0.0], np.cumsum(self.weights * (self.stops > self.starts))])
            answered = np.append(before[self.offsets[1:]] - before[self.offsets[:-1]], 0.0)[self.set_of]
        return (
            answered
            if self.otherwise is None
            else np.where(self.set_of < 0, self.otherwise.answered, answered)
        )

    def of_row(self, row: int) -> Rows:
        """The candidates of one release row, ascending."""
        chosen = self.set_of[row]
        if chosen < 0:
            return np.empty(0, np.int64) if self.otherwise is None else self.otherwise.of_row(row)
        runs = range(self.offsets[chosen], self.offsets[chosen + 1])
        parts = [self.members[self.starts[r] : self.stops[r]] for r in runs]
        return np.sort(np.concatenate([np.empty(0, np.int64), *parts]))
