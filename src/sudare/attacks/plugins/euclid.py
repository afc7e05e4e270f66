"""Nearest neighbours by Euclidean distance: P4's EUC1 and EUC2, and two stronger scalings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.base import Candidates
from sudare.attacks.nearest import ROUNDING, chosen_columns, chosen_quasi, nearest
from sudare.attacks.view import View
from sudare.registry import attack

Floats = NDArray[np.float64]


@attack
@dataclass(frozen=True, kw_only=True)
class Euclid:
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

    unit: ClassVar[str] = "row"
    place: ClassVar[int] = 50
    fallback: bool = False
    quasi: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None
    paper: bool = False

    def match(self, view: View) -> Candidates:
        columns = chosen_columns(view, self.columns)
        blocks = view.blocks(chosen_quasi(view, self.quasi, columns))
        found = nearest(*view.points(columns), blocks, fallback=self.fallback)
        return found.or_else(_same_place(view)) if self.paper and not self.fallback else found

    @classmethod
    def suited(cls, view: View) -> Sequence[Self]:
        return [cls(fallback=fallback) for fallback in _fallbacks(view)]


@attack
@dataclass(frozen=True, kw_only=True)
class StandardizedEuclid:
    """Like Euclid, each column divided by its standard deviation in the original: no column drowns the
    others.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> sudare.attack(patients, release, StandardizedEuclid()).rows[0]["rate"]
    1.0
    """

    unit: ClassVar[str] = "row"
    place: ClassVar[int] = 60
    fallback: bool = False
    quasi: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None

    def match(self, view: View) -> Candidates:
        columns = chosen_columns(view, self.columns)
        blocks = view.blocks(chosen_quasi(view, self.quasi, columns))
        original, release = view.points(columns)
        return nearest(
            original, release, blocks, weights=one_over_sd(original), fallback=self.fallback, tol=ROUNDING
        )

    @classmethod
    def suited(cls, view: View) -> Sequence[Self]:
        found = [cls(fallback=fallback) for fallback in _fallbacks(view)[-1:]]
        return [*found, cls(quasi=())] if len(_fallbacks(view)) > 1 else found


@attack
@dataclass(frozen=True, kw_only=True)
class Mahalanobis:
    """Like Euclid, in the coordinates in which the original's columns are uncorrelated and have the
    variance 1.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> sudare.attack(patients, release, Mahalanobis()).rows[0]["rate"]
    1.0
    """

    unit: ClassVar[str] = "row"
    place: ClassVar[int] = 70
    fallback: bool = False
    quasi: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None

    def match(self, view: View) -> Candidates:
        columns = chosen_columns(view, self.columns)
        blocks = view.blocks(chosen_quasi(view, self.quasi, columns))
        original, release = view.points(columns)
        middle, whiten = original.mean(axis=0), _whitening(original)
        return nearest(
            (original - middle) @ whiten,
            (release - middle) @ whiten,
            blocks,
            fallback=self.fallback,
            tol=ROUNDING,
        )

    @classmethod
    def suited(cls, view: View) -> Sequence[Self]:
        return (
            [cls(fallback=fallback) for fallback in _fallbacks(view)[-1:]] if len(view.numeric()) > 1 else []
        )


@attack
@dataclass(frozen=True, kw_only=True)
class RankDistance:
    """Like Euclid on ranks: each column is replaced by its relative rank in its own table.

    It sees through every change that keeps the order of a column: scaling, shifting, top coding, a logarithm.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> sudare.attack(patients, release, RankDistance()).rows[0]["rate"]
    1.0
    """

    unit: ClassVar[str] = "row"
    place: ClassVar[int] = 80
    fallback: bool = False
    quasi: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None

    def match(self, view: View) -> Candidates:
        columns = chosen_columns(view, self.columns)
        blocks = view.blocks(chosen_quasi(view, self.quasi, columns))
        original, release = (_relative_ranks(points) for points in view.points(columns))
        return nearest(original, release, blocks, fallback=self.fallback, tol=ROUNDING)

    @classmethod
    def suited(cls, view: View) -> Sequence[Self]:
        return [cls(fallback=fallback) for fallback in _fallbacks(view)[-1:]]


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
    for place, column in enumerate(points.T):
        _, index, counts = np.unique(column, return_inverse=True, return_counts=True)
        ranks[:, place] = (np.cumsum(counts) - counts / 2)[index] / len(column)
    return ranks


def _same_place(view: View) -> Candidates:
    """Row i of the published file is guessed to be row i of the original."""
    return Candidates.of_guesses(
        np.where(view.published < view.originals, view.published, -1), view.originals
    )


def _fallbacks(view: View) -> list[bool]:
    """Whether to give up or to fall back matters only where there are quasi-identifiers to compare first."""
    if not view.numeric():
        return []
    return [False, True] if view.quasi(without=view.numeric()) else [False]
