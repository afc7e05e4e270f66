"""The contest's metrics: utility U1-U6 and safety S1, S2 (P4, Table 1).

The paper names them in a line each. Where a definition had to be reconstructed, the docstring says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sudare.engine.sums import exact_sum
from sudare.registry import metric
from sudare.utility.base import Comparison, Floats, Measured
from sudare.utility.formulas import cell_means, column_means, correlation_gap, gap, spread

Ints = NDArray[np.int64]


@metric
@dataclass(frozen=True, kw_only=True)
class MeanError:
    """U1: the mean over the sensitive columns of the absolute difference of their means (meanMAE).

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> round(sudare.utility(patients, release, MeanError()).rows[0]["value"], 3)
    0.5
    """

    code: ClassVar[str] = "U1"
    meaning: ClassVar[str] = "mean difference of the columns' means"
    better: ClassVar[str] = "lower"
    place: ClassVar[int] = 10
    columns: tuple[str, ...] | None = None

    def measure(self, pair: Comparison) -> Measured:
        columns = self.columns or pair.numeric()
        original, release = pair.numbers(columns)
        gaps = gap(column_means(original), column_means(release))
        return Measured(float(np.nanmean(gaps)), f"{len(columns)} columns")

    @classmethod
    def suited(cls, pair: Comparison) -> Sequence[Self]:
        return [cls()] if pair.numeric() else []


@metric
@dataclass(frozen=True, kw_only=True)
class CrossMean:
    """U2: the mean absolute difference of cell means, over the cells of the cross-tabulation of the
    quasi-identifiers that both tables have, and over the sensitive columns (crossMean).

    `quasi` names the tabulated columns (the paper uses six of thirteen); by default all quasi-identifiers.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> round(sudare.utility(patients, release, CrossMean()).rows[0]["value"], 3)
    1.0
    """

    code: ClassVar[str] = "U2"
    meaning: ClassVar[str] = "mean difference of cell means in the cross-tabulation"
    better: ClassVar[str] = "lower"
    place: ClassVar[int] = 20
    quasi: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None

    def measure(self, pair: Comparison) -> Measured:
        columns = self.columns or pair.numeric()
        first, _, both = _counts(pair, self.quasi, columns)
        if not both.any():
            return Measured(None, "no cell is in both tables")
        original, release = pair.numbers(columns)
        blocks = pair.blocks(_tabulated(pair, self.quasi, columns))
        gaps = [
            gap(cell_means(blocks.original, x, len(first)), cell_means(blocks.release, y, len(first)))[both]
            for x, y in zip(original.T, release.T)
        ]
        return Measured(_mean(np.array(gaps)), _shared(both, first))

    @classmethod
    def suited(cls, pair: Comparison) -> Sequence[Self]:
        return [cls()] if pair.numeric() and pair.quasi(without=pair.numeric()) else []


@metric
@dataclass(frozen=True, kw_only=True)
class CrossCount:
    """U3: the mean absolute difference of cell counts, over the cells of the cross-tabulation of the
    quasi-identifiers that both tables have (crossCnt).

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> round(sudare.utility(patients, release, CrossCount()).rows[0]["value"], 3)
    0.0
    """

    code: ClassVar[str] = "U3"
    meaning: ClassVar[str] = "mean difference of cell counts in the cross-tabulation"
    better: ClassVar[str] = "lower"
    place: ClassVar[int] = 30
    quasi: tuple[str, ...] | None = None

    def measure(self, pair: Comparison) -> Measured:
        first, second, both = _counts(pair, self.quasi, ())
        if not both.any():
            return Measured(None, "no cell is in both tables")
        return Measured(float(np.abs(first - second)[both].mean()), _shared(both, first))

    @classmethod
    def suited(cls, pair: Comparison) -> Sequence[Self]:
        return [cls()] if pair.quasi() else []


@metric
@dataclass(frozen=True, kw_only=True)
class CorrelationError:
    """U4: the mean absolute difference of Pearson correlations over pairs of sensitive columns (corMAE).

    A column without spread has no correlation; it counts as 0, so that losing it is a loss.

    >>> import sudare
    >>> shop = sudare.open("example:purchases", user="user", quasi=["goods"], sensitive=["price", "number"])
    >>> release = sudare.anonymize(shop, sudare.methods.Round(column="price", to=1), key=bytes(range(32)))
    >>> round(sudare.utility(shop, release, CorrelationError()).rows[0]["value"], 3)
    0.004
    """

    code: ClassVar[str] = "U4"
    meaning: ClassVar[str] = "mean difference of correlations between columns"
    better: ClassVar[str] = "lower"
    place: ClassVar[int] = 40
    columns: tuple[str, ...] | None = None

    def measure(self, pair: Comparison) -> Measured:
        columns = self.columns or pair.numeric()
        if len(columns) < 2:
            return Measured(None, "needs two numeric columns")
        upper = np.triu_indices(len(columns), 1)
        gaps = correlation_gap(*pair.points(columns))[upper]
        return Measured(float(gaps.mean()), f"{len(gaps)} pairs")

    @classmethod
    def suited(cls, pair: Comparison) -> Sequence[Self]:
        return [cls()] if len(pair.numeric()) > 1 else []


@metric
@dataclass(frozen=True, kw_only=True)
class RowLoss:
    """U5: the mean over rows and sensitive columns of |x - y| / (sqrt(2) sd(x)), x the original row that
    the release row y is about (IL; the normalisation, Yancey's IL1s, is a reconstruction).

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> round(sudare.utility(patients, release, RowLoss()).rows[0]["value"], 3)
    0.065
    """

    code: ClassVar[str] = "U5"
    meaning: ClassVar[str] = "mean change of a cell, in units of sqrt(2) standard deviations"
    better: ClassVar[str] = "lower"
    place: ClassVar[int] = 50
    columns: tuple[str, ...] | None = None

    def measure(self, pair: Comparison) -> Measured:
        columns = self.columns or pair.numeric()
        rows = pair.aligned(columns)
        if rows is None or not len(rows[0]):
            return Measured(None, "needs the truth: which row is about which")
        original, release = rows
        scale = sqrt(2) * spread(pair.numbers(columns)[0])
        used = scale > 0
        moved = _mean(np.abs(original - release)[:, used] / scale[used])
        return Measured(moved or 0.0, f"{len(original):,} rows")

    @classmethod
    def suited(cls, pair: Comparison) -> Sequence[Self]:
        return [cls()] if pair.numeric() and pair.truth is not None else []


@metric
@dataclass(frozen=True, kw_only=True)
class RowsChanged:
    """U6: the absolute difference of the numbers of rows (nrow).

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, sudare.methods.DeleteRecords(share=0.5), key=bytes(range(32)))
    >>> round(sudare.utility(patients, release, RowsChanged()).rows[0]["value"], 3)
    4.0
    """

    code: ClassVar[str] = "U6"
    meaning: ClassVar[str] = "difference of the numbers of rows"
    better: ClassVar[str] = "lower"
    place: ClassVar[int] = 60

    def measure(self, pair: Comparison) -> Measured:
        return Measured(
            float(abs(pair.originals - pair.releases)), f"{pair.originals:,} and {pair.releases:,}"
        )

    @classmethod
    def suited(cls, pair: Comparison) -> Sequence[Self]:
        return [cls()]


@metric
@dataclass(frozen=True, kw_only=True)
class SmallestClass:
    """S1: the size of the release's smallest class of equal quasi-identifiers (k-anony).

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, sudare.methods.Mondrian(k=2), key=bytes(range(32)))
    >>> round(sudare.utility(patients, release, SmallestClass()).rows[0]["value"], 3)
    2.0
    """

    code: ClassVar[str] = "S1"
    meaning: ClassVar[str] = "smallest class of equal quasi-identifiers (k)"
    better: ClassVar[str] = "higher"
    place: ClassVar[int] = 70
    quasi: tuple[str, ...] | None = None

    def measure(self, pair: Comparison) -> Measured:
        sizes = _class_sizes(pair, self.quasi)
        return Measured(float(sizes.min()), f"{len(sizes):,} classes")

    @classmethod
    def suited(cls, pair: Comparison) -> Sequence[Self]:
        return [cls()] if pair.quasi() else []


@metric
@dataclass(frozen=True, kw_only=True)
class MeanClass:
    """S2: the mean size of the release's classes of equal quasi-identifiers (k-anonyMean).

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, sudare.methods.Mondrian(k=2), key=bytes(range(32)))
    >>> round(sudare.utility(patients, release, MeanClass()).rows[0]["value"], 3)
    2.0
    """

    code: ClassVar[str] = "S2"
    meaning: ClassVar[str] = "mean class of equal quasi-identifiers"
    better: ClassVar[str] = "higher"
    place: ClassVar[int] = 80
    quasi: tuple[str, ...] | None = None

    def measure(self, pair: Comparison) -> Measured:
        sizes = _class_sizes(pair, self.quasi)
        return Measured(float(sizes.mean()), f"{len(sizes):,} classes")

    @classmethod
    def suited(cls, pair: Comparison) -> Sequence[Self]:
        return [cls()] if pair.quasi() else []


def _tabulated(pair: Comparison, quasi: tuple[str, ...] | None, without: Sequence[str]) -> tuple[str, ...]:
    return tuple(quasi) if quasi is not None else pair.quasi(without=without)


def _counts(
    pair: Comparison, quasi: tuple[str, ...] | None, without: Sequence[str]
) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """The records per cell in the original and in the release, and the cells that both have."""
    blocks = pair.blocks(_tabulated(pair, quasi, without))
    first = np.bincount(blocks.original, minlength=blocks.number)
    second = np.bincount(blocks.release, minlength=blocks.number)
    return first, second, (first > 0) & (second > 0)


def _shared(both: NDArray[np.bool_], first: Ints) -> str:
    return f"{int(both.sum()):,} of {int((first > 0).sum()):,} cells"


def _class_sizes(pair: Comparison, quasi: tuple[str, ...] | None) -> Ints:
    sizes = np.bincount(pair.blocks(_tabulated(pair, quasi, ())).release)
    return sizes[sizes > 0]


def _mean(values: Floats) -> float | None:
    """The mean of the known values, if there are any."""
    known = values[~np.isnan(values)]
    return exact_sum(known) / known.size if known.size else None
