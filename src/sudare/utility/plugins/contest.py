"""The contest's metrics: utility U1-U6 and safety S1, S2 (P4, Table 1).

The paper names them in a line each. Where a definition had to be reconstructed, the docstring says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, Self

import numpy as np

from sudare.engine.answers import Crossed
from sudare.engine.pair import Pair
from sudare.engine.sums import exact_sum
from sudare.registry import metric
from sudare.utility.base import Measured, Metric, Scope
from sudare.utility.formulas import correlation_gap, gap


@metric
@dataclass(frozen=True, kw_only=True)
class MeanError(Metric):
    """U1: the mean over the sensitive columns of the absolute difference of their means (meanMAE).

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> round(sudare.utility(patients, release, MeanError()).rows[0]["value"], 3)
    0.5
    """

    code: ClassVar[str] = "U1"
    meaning: ClassVar[str] = "mean difference of the columns' means"
    family: ClassVar[str] = "contest"
    scope: ClassVar[Scope] = "sums"
    priority: ClassVar[int] = 10
    columns: tuple[str, ...] | None = None

    def measure(self, pair: Pair) -> Measured:
        columns = self.columns or pair.numeric()
        return Measured(float(np.nanmean(gap(*pair.means(columns)))), f"{len(columns)} columns")

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls()] if pair.numeric() else []


@metric
@dataclass(frozen=True, kw_only=True)
class CrossMean(Metric):
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
    family: ClassVar[str] = "contest"
    scope: ClassVar[Scope] = "sums"
    priority: ClassVar[int] = 20
    quasi: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None

    def measure(self, pair: Pair) -> Measured:
        columns = self.columns or pair.numeric()
        found = pair.crossed(_tabulated(pair, self.quasi, columns), columns)
        if not found.both.any():
            return Measured(None, "no cell is in both tables")
        gaps = gap(found.original_means, found.release_means)[:, found.both]
        known = gaps[~np.isnan(gaps)]
        return Measured(exact_sum(known) / known.size if known.size else None, _shared(found))

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls()] if pair.numeric() and pair.quasi(without=pair.numeric()) else []


@metric
@dataclass(frozen=True, kw_only=True)
class CrossCount(Metric):
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
    family: ClassVar[str] = "contest"
    scope: ClassVar[Scope] = "sums"
    priority: ClassVar[int] = 30
    quasi: tuple[str, ...] | None = None

    def measure(self, pair: Pair) -> Measured:
        found = pair.crossed(_tabulated(pair, self.quasi, ()))
        if not found.both.any():
            return Measured(None, "no cell is in both tables")
        return Measured(float(np.abs(found.original - found.release)[found.both].mean()), _shared(found))

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls()] if pair.quasi() else []


@metric
@dataclass(frozen=True, kw_only=True)
class CorrelationError(Metric):
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
    family: ClassVar[str] = "contest"
    scope: ClassVar[Scope] = "sums"
    priority: ClassVar[int] = 40
    columns: tuple[str, ...] | None = None

    def measure(self, pair: Pair) -> Measured:
        columns = self.columns or pair.numeric()
        if len(columns) < 2:
            return Measured(None, "needs two numeric columns")
        upper = np.triu_indices(len(columns), 1)
        gaps = correlation_gap(*pair.correlations(columns))[upper]
        return Measured(float(gaps.mean()), f"{len(gaps)} pairs")

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls()] if len(pair.numeric()) > 1 else []


@metric
@dataclass(frozen=True, kw_only=True)
class RowLoss(Metric):
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
    family: ClassVar[str] = "contest"
    scope: ClassVar[Scope] = "sums"
    priority: ClassVar[int] = 50
    columns: tuple[str, ...] | None = None

    def measure(self, pair: Pair) -> Measured:
        columns = self.columns or pair.numeric()
        scale = sqrt(2) * pair.spreads(columns) if pair.has_truth else np.empty(0)
        found = pair.change(columns, np.where(scale > 0, scale, np.nan))
        if found is None or not found.rows:
            return Measured(None, "needs the truth: which row is about which")
        return Measured(found.total / found.cells if found.cells else 0.0, f"{found.rows:,} rows")

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls()] if pair.numeric() and pair.has_truth else []


@metric
@dataclass(frozen=True, kw_only=True)
class RowsChanged(Metric):
    """U6: the absolute difference of the numbers of rows (nrow).

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, sudare.methods.DeleteRecords(share=0.5), key=bytes(range(32)))
    >>> round(sudare.utility(patients, release, RowsChanged()).rows[0]["value"], 3)
    4.0
    """

    code: ClassVar[str] = "U6"
    meaning: ClassVar[str] = "difference of the numbers of rows"
    family: ClassVar[str] = "contest"
    scope: ClassVar[Scope] = "sums"
    priority: ClassVar[int] = 60

    def measure(self, pair: Pair) -> Measured:
        return Measured(
            float(abs(pair.originals - pair.releases)), f"{pair.originals:,} and {pair.releases:,}"
        )

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls()]


@metric
@dataclass(frozen=True, kw_only=True)
class SmallestClass(Metric):
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
    family: ClassVar[str] = "contest"
    scope: ClassVar[Scope] = "sums"
    priority: ClassVar[int] = 70
    quasi: tuple[str, ...] | None = None

    def measure(self, pair: Pair) -> Measured:
        sizes = pair.sizes(_tabulated(pair, self.quasi, ()))
        return Measured(float(sizes.min()), f"{len(sizes):,} classes")

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls()] if pair.quasi() else []


@metric
@dataclass(frozen=True, kw_only=True)
class MeanClass(Metric):
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
    family: ClassVar[str] = "contest"
    scope: ClassVar[Scope] = "sums"
    priority: ClassVar[int] = 80
    quasi: tuple[str, ...] | None = None

    def measure(self, pair: Pair) -> Measured:
        sizes = pair.sizes(_tabulated(pair, self.quasi, ()))
        return Measured(float(sizes.mean()), f"{len(sizes):,} classes")

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls()] if pair.quasi() else []


def _tabulated(pair: Pair, quasi: tuple[str, ...] | None, without: Sequence[str]) -> tuple[str, ...]:
    return tuple(quasi) if quasi is not None else pair.quasi(without=without)


def _shared(found: Crossed) -> str:
    return f"{int(found.both.sum()):,} of {int((found.original > 0).sum()):,} cells"
