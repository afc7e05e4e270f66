"""Nearest neighbours by Euclidean distance: P4's EUC1 and EUC2, and two stronger scalings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.base import Candidates
from sudare.attacks.matching import Matching, Reads, Scope
from sudare.attacks.nearest import ROUNDING, chosen_columns, chosen_quasi, nearest
from sudare.engine.pair import Pair
from sudare.registry import attack

Floats = NDArray[np.float64]


@attack
@dataclass(frozen=True, kw_only=True)
class Euclid(Matching):
    """Nearest by Euclidean distance among equal quasi-identifiers, else give up (P4, EUC1).

    With `fallback`, rows without an equal row look among all rows (EUC2). `quasi=()` ignores
    quasi-identifiers altogether; subsets of `quasi` and `columns` are the q and s of P4, Figs. 1-4.
    `paper` guesses row i for a release row i that is given up, as printed: a free hit on a file that was
    not shuffled.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> sudare.attack(patients, release, Euclid(fallback=True)).rows[0]["rate"]
    1.0
    """

    priority: ClassVar[int] = 50
    fallback: bool = False
    quasi: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None
    paper: bool = False

    @property
    def scope(self) -> Scope:
        return "table" if self.paper and not self.fallback else "group"

    def match(self, pair: Pair) -> Candidates:
        equal, columns = self.reads(pair)
        found = nearest(*pair.points(columns), pair.blocks(equal))
        return found.or_else(_same_row(pair)) if self.paper and not self.fallback else found

    def reads(self, pair: Pair) -> Reads:
        columns = chosen_columns(pair, self.columns)
        return Reads(chosen_quasi(pair, self.quasi, columns), columns)

    def otherwise(self, pair: Pair) -> Matching | None:
        return Euclid(quasi=(), columns=self.reads(pair).compared) if self.fallback else None

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls(fallback=fallback) for fallback in _fallbacks(pair)]


@attack
@dataclass(frozen=True, kw_only=True)
class StandardizedEuclid(Matching):
    """Like Euclid, each column divided by its standard deviation in the original: no column drowns the
    others.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> sudare.attack(patients, release, StandardizedEuclid()).rows[0]["rate"]
    1.0
    """

    priority: ClassVar[int] = 60
    scope: ClassVar[Scope] = "row"
    fallback: bool = False
    quasi: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None

    def match(self, pair: Pair) -> Candidates:
        columns = chosen_columns(pair, self.columns)
        blocks = pair.blocks(chosen_quasi(pair, self.quasi, columns))
        original, release = pair.points(columns)
        return nearest(
            original, release, blocks, weights=one_over_sd(original), fallback=self.fallback, tol=ROUNDING
        )

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        found = [cls(fallback=fallback) for fallback in _fallbacks(pair)[-1:]]
        return [*found, cls(quasi=())] if len(_fallbacks(pair)) > 1 else found


@attack
@dataclass(frozen=True, kw_only=True)
class Mahalanobis(Matching):
    """Like Euclid, in the coordinates in which the original's columns are uncorrelated and have the
    variance 1.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> sudare.attack(patients, release, Mahalanobis()).rows[0]["rate"]
    1.0
    """

    priority: ClassVar[int] = 70
    scope: ClassVar[Scope] = "row"
    fallback: bool = False
    quasi: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None

    def match(self, pair: Pair) -> Candidates:
        columns = chosen_columns(pair, self.columns)
        blocks = pair.blocks(chosen_quasi(pair, self.quasi, columns))
        original, release = pair.points(columns)
        middle, whiten = original.mean(axis=0), _whitening(original)
        return nearest(
            (original - middle) @ whiten,
            (release - middle) @ whiten,
            blocks,
            fallback=self.fallback,
            tol=ROUNDING,
        )

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return (
            [cls(fallback=fallback) for fallback in _fallbacks(pair)[-1:]] if len(pair.numeric()) > 1 else []
        )


@attack
@dataclass(frozen=True, kw_only=True)
class RankDistance(Matching):
    """Like Euclid on ranks: each column is replaced by its relative rank in its own table.

    It sees through every change that keeps the order of a column: scaling, shifting, top coding, a logarithm.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> sudare.attack(patients, release, RankDistance()).rows[0]["rate"]
    1.0
    """

    priority: ClassVar[int] = 80
    fallback: bool = False
    quasi: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None

    def match(self, pair: Pair) -> Candidates:
        columns = chosen_columns(pair, self.columns)
        blocks = pair.blocks(chosen_quasi(pair, self.quasi, columns))
        original, release = (_relative_ranks(points) for points in pair.points(columns))
        return nearest(original, release, blocks, fallback=self.fallback, tol=ROUNDING)

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls(fallback=fallback) for fallback in _fallbacks(pair)[-1:]]


def one_over_sd(points: Floats) -> Floats:
    """The weight of each column in a standardised distance; a constant column says nothing and weighs
    nothing.

    >>> one_over_sd(np.array([[0.0, 7.0], [2.0, 7.0]])).tolist()
    [1.0, 0.0]
    """
    spread = points.std(axis=0)
    weights: Floats = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    return weights


def _whitening(points: Floats) -> Floats:
    """The matrix that turns points into uncorrelated coordinates of variance 1; directions without spread
    are left out.
    """
    scale = one_over_sd(points)
    values, vectors = np.linalg.eigh(
        np.cov(points * scale, rowvar=False, bias=True).reshape(points.shape[1], -1)
    )
    kept = values > values.max() * 1e-10
    return np.asarray(scale[:, None] * (vectors[:, kept] / np.sqrt(values[kept])))


def _relative_ranks(points: Floats) -> Floats:
    """The middle rank of each value in its column, divided by the number of rows."""
    ranks = np.empty_like(points)
    for index, column in enumerate(points.T):
        _, value_of, counts = np.unique(column, return_inverse=True, return_counts=True)
        ranks[:, index] = (np.cumsum(counts) - counts / 2)[value_of] / len(column)
    return ranks


def _same_row(pair: Pair) -> Candidates:
    """Row i of the published file is guessed to be row i of the original."""
    rows = pair.release.positions
    return Candidates.of_guesses(np.where(rows < pair.originals, rows, -1), pair.originals)


def _fallbacks(pair: Pair) -> list[bool]:
    """Whether to give up or to fall back matters only where there are quasi-identifiers to compare first."""
    if not pair.numeric():
        return []
    return [False, True] if pair.quasi(without=pair.numeric()) else [False]
