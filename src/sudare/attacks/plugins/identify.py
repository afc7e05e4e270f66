"""The four attacks of the contest: identify-rand, identify-sa, identify-sort, identify-sa21 (P4, section
2.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from sudare.attacks.base import Candidates
from sudare.attacks.matching import Matching, Reads, Scope
from sudare.attacks.nearest import chosen_columns, chosen_quasi, nearest
from sudare.engine.pair import Pair
from sudare.registry import attack


@attack
@dataclass(frozen=True, kw_only=True)
class IdentifyRand(Matching):
    """E1: any of the original rows with equal quasi-identifiers; none, give up (P4, E1).

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> sudare.attack(patients, release, IdentifyRand()).rows[0]["rate"]
    0.5
    """

    priority: ClassVar[int] = 10
    scope: ClassVar[Scope] = "group"
    quasi: tuple[str, ...] | None = None

    def match(self, pair: Pair) -> Candidates:
        blocks = pair.blocks(self.reads(pair).equal)
        return Candidates.of_classes(blocks.original, blocks.release)

    def reads(self, pair: Pair) -> Reads:
        return Reads(chosen_quasi(pair, self.quasi, ()))

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls()] if pair.quasi() else []


@attack
@dataclass(frozen=True, kw_only=True)
class IdentifySa(Matching):
    """E2: nearest in one sensitive column among equal quasi-identifiers, else among all rows (P4, E2).

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> sudare.attack(patients, release, IdentifySa()).rows[0]["rate"]
    1.0
    """

    priority: ClassVar[int] = 20
    scope: ClassVar[Scope] = "group"
    column: str | None = None
    quasi: tuple[str, ...] | None = None

    def match(self, pair: Pair) -> Candidates:
        equal, column = self.reads(pair)
        return nearest(*pair.points(column), pair.blocks(equal))

    def reads(self, pair: Pair) -> Reads:
        column = _one_column(pair, self.column)
        return Reads(chosen_quasi(pair, self.quasi, column), column)

    def otherwise(self, pair: Pair) -> Matching:
        return IdentifySa21(column=_one_column(pair, self.column)[0])

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls()] if pair.numeric() and pair.quasi(without=pair.numeric()[:1]) else []


@attack
@dataclass(frozen=True, kw_only=True)
class IdentifySort(Matching):
    """E3: the original row with the same rank of the sum of the sensitive columns (P4, E3).

    Rows with equal sums share their ranks: each is as likely at any of them, so the row order says
    nothing. In files of unequal length ranks are compared as they are (the paper's rule) or, with
    `relative`, as shares of the length.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> sudare.attack(patients, release, IdentifySort()).rows[0]["rate"]
    0.5
    """

    priority: ClassVar[int] = 30
    columns: tuple[str, ...] | None = None
    relative: bool = False

    def match(self, pair: Pair) -> Candidates:
        original, release = pair.points(chosen_columns(pair, self.columns))
        stretch = len(original) / len(release) if self.relative else 1.0
        return _same_rank(original.sum(axis=1), release.sum(axis=1), stretch)

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        if not pair.numeric():
            return []
        return [cls()] if pair.originals == pair.releases else [cls(), cls(relative=True)]


@attack
@dataclass(frozen=True, kw_only=True)
class IdentifySa21(Matching):
    """E4: nearest in one sensitive column among all rows (P4, E4).

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> sudare.attack(patients, release, IdentifySa21()).rows[0]["rate"]
    0.5
    """

    priority: ClassVar[int] = 40
    scope: ClassVar[Scope] = "row"
    column: str | None = None

    def match(self, pair: Pair) -> Candidates:
        return nearest(*pair.points(_one_column(pair, self.column)), pair.blocks(()))

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls()] if pair.numeric() else []


def _one_column(pair: Pair, column: str | None) -> tuple[str, ...]:
    return (column,) if column is not None else chosen_columns(pair, None)[:1]


def _same_rank(original: np.ndarray, release: np.ndarray, stretch: float) -> Candidates:
    """Candidates by rank: a group of equal release sums meets the groups of equal original sums that
    share its ranks.
    """
    members, begin, end, _ = _groups(original)
    _, first, last, group_of = _groups(release)
    first, last = first * stretch, last * stretch
    low = np.searchsorted(end, first, side="right")
    high = np.maximum(np.searchsorted(begin, last, side="left"), low)
    offsets = np.concatenate([[0], np.cumsum(high - low)]).astype(np.int64)
    group = np.repeat(np.arange(len(first)), high - low)
    met = np.arange(offsets[-1]) - offsets[group] + low[group]
    overlap = np.minimum(end[met], last[group]) - np.maximum(begin[met], first[group])
    weights = overlap / (last - first)[group]
    set_of = np.where((high > low)[group_of], group_of, -1)
    return Candidates(members, set_of, offsets, begin[met], end[met], weights)


def _groups(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The rows sorted by sum, the ranks at which each group of equal sums begins and ends, and the group
    of each row.
    """
    members = np.argsort(sums, kind="stable").astype(np.int64)
    ordered = sums[members]
    begin = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])).astype(np.int64)
    end = np.append(begin[1:], len(sums))
    group_of = np.empty(len(sums), np.int64)
    group_of[members] = np.repeat(np.arange(len(begin)), end - begin)
    return members, begin, end, group_of
