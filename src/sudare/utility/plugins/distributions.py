"""How far the release's distributions are from the original's: columns, pairs of columns, correlations."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from sudare.engine.pair import Pair
from sudare.registry import metric
from sudare.utility.base import Measured, Metric, Scope
from sudare.utility.columns import coded, compared_columns, counts, mean_shift, quantile_shift
from sudare.utility.formulas import correlation_gap, total_variation

PAIR_BINS = 8
DENSE = 1 << 20


@metric
@dataclass(frozen=True, kw_only=True)
class MarginalDistance(Metric):
    """The mean over columns of the total variation distance of their distributions; numbers in 20 bins.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> round(sudare.utility(patients, release, MarginalDistance()).rows[0]["value"], 3)
    0.125
    """

    meaning: ClassVar[str] = "mean total variation of single columns"
    priority: ClassVar[int] = 110
    columns: tuple[str, ...] | None = None

    def measure(self, pair: Pair) -> Measured:
        names = self.columns or compared_columns(pair)
        found = {name: total_variation(*counts(*coded(pair, name))) for name in names}
        worst = max(found, key=lambda name: found[name])
        return Measured(float(np.mean(list(found.values()))), f"largest in {worst}: {found[worst]:.3f}")

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls()] if compared_columns(pair) else []


@metric
@dataclass(frozen=True, kw_only=True)
class PairwiseDistance(Metric):
    """The mean over pairs of columns of the total variation distance of their joint distribution; numbers in
    8 bins.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> round(sudare.utility(patients, release, PairwiseDistance()).rows[0]["value"], 3)
    0.292
    """

    meaning: ClassVar[str] = "mean total variation of pairs of columns"
    priority: ClassVar[int] = 120
    columns: tuple[str, ...] | None = None

    def measure(self, pair: Pair) -> Measured:
        names = self.columns or compared_columns(pair)
        if len(names) < 2:
            return Measured(None, "needs two columns")
        codes = {name: coded(pair, name, PAIR_BINS) for name in names}
        found = {
            (a, b): total_variation(*counts(*_joint(codes[a], codes[b])))
            for a, b in itertools.combinations(names, 2)
        }
        worst = max(found, key=lambda both: found[both])
        return Measured(
            float(np.mean(list(found.values()))), f"largest in {' and '.join(worst)}: {found[worst]:.3f}"
        )

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls()] if len(compared_columns(pair)) > 1 else []


@metric
@dataclass(frozen=True, kw_only=True)
class CorrelationShift(Metric):
    """The largest absolute difference of Pearson correlations over all pairs of numeric columns.

    >>> import sudare
    >>> shop = sudare.open("example:purchases", user="user", quasi=["goods"], sensitive=["price", "number"])
    >>> release = sudare.anonymize(shop, sudare.methods.Round(column="price", to=1), key=bytes(range(32)))
    >>> round(sudare.utility(shop, release, CorrelationShift()).rows[0]["value"], 3)
    0.004
    """

    meaning: ClassVar[str] = "largest difference of correlations"
    scope: ClassVar[Scope] = "sums"
    priority: ClassVar[int] = 130
    columns: tuple[str, ...] | None = None

    def measure(self, pair: Pair) -> Measured:
        names = self.columns or pair.numeric_columns(compared_columns(pair))
        if len(names) < 2:
            return Measured(None, "needs two numeric columns")
        gaps = correlation_gap(*pair.correlations(names))
        a, b = np.unravel_index(int(gaps.argmax()), gaps.shape)
        return Measured(float(gaps[a, b]), f"between {names[a]} and {names[b]}" if gaps[a, b] > 0 else "")

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls()] if len(pair.numeric_columns(compared_columns(pair))) > 1 else []


@metric
@dataclass(frozen=True, kw_only=True)
class MeanShift(Metric):
    """The mean over numeric columns of the difference of means in standard deviations.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> round(sudare.utility(patients, release, MeanShift()).rows[0]["value"], 3)
    0.037
    """

    meaning: ClassVar[str] = "mean shift of the means, in standard deviations"
    scope: ClassVar[Scope] = "sums"
    priority: ClassVar[int] = 140
    columns: tuple[str, ...] | None = None

    def measure(self, pair: Pair) -> Measured:
        names = self.columns or pair.numeric_columns(compared_columns(pair))
        return _mean_of(mean_shift(pair, names), names)

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls()] if pair.numeric_columns(compared_columns(pair)) else []


@metric
@dataclass(frozen=True, kw_only=True)
class QuantileShift(Metric):
    """The mean over numeric columns of the mean difference of their deciles in standard deviations.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> round(sudare.utility(patients, release, QuantileShift()).rows[0]["value"], 3)
    0.071
    """

    meaning: ClassVar[str] = "mean shift of the deciles, in standard deviations"
    priority: ClassVar[int] = 150
    columns: tuple[str, ...] | None = None

    def measure(self, pair: Pair) -> Measured:
        names = self.columns or pair.numeric_columns(compared_columns(pair))
        return _mean_of(quantile_shift(*pair.numbers(names)), names)

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls()] if pair.numeric_columns(compared_columns(pair)) else []


def _joint(
    a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Two coded columns as one, without gaps in the numbering where there would be too many."""
    width = int(max(b[0].max(initial=0), b[1].max(initial=0))) + 1
    first, second = a[0] * width + b[0], a[1] * width + b[1]
    if max(first.max(initial=0), second.max(initial=0)) < DENSE:
        return first, second
    _, label = np.unique(np.concatenate([first, second]), return_inverse=True)
    return label[: len(first)], label[len(first) :]


def _mean_of(values: np.ndarray, names: Sequence[str]) -> Measured:
    known = values[~np.isnan(values)]
    return Measured(float(known.mean()) if len(known) else None, f"{len(known)} of {len(names)} columns")
