"""The arithmetic of utility metrics, on arrays; NaN is a missing number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.engine import sums

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def column_means(points: Floats) -> Floats:
    """The mean of every column over the numbers that are there.

    >>> column_means(np.array([[1.0, np.nan], [3.0, 4.0]])).tolist()
    [2.0, 4.0]
    """
    known = ~np.isnan(points)
    count = known.sum(axis=0)
    total = sums.column_sums(np.where(known, points, 0.0))
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def spread(points: Floats) -> Floats:
    """The standard deviation of every column over the numbers that are there.

    >>> spread(np.array([[1.0], [3.0], [np.nan]])).tolist()
    [1.0]
    """
    return np.sqrt(np.maximum(column_means((points - column_means(points)) ** 2), 0.0))


def correlations(points: Floats) -> Floats:
    """Pearson's correlation of every pair of columns; 0 where a column has no spread.

    >>> correlations(np.array([[1.0, 2.0, 5.0], [2.0, 4.0, 5.0]])).round(9).tolist()[0]
    [1.0, 1.0, 0.0]
    """
    centred = points - sums.column_sums(points) / max(len(points), 1)
    scale = np.sqrt(sums.column_sums(centred**2))
    known = scale > 1e-12 * np.maximum(np.abs(points).max(axis=0, initial=0.0) * np.sqrt(len(points)), 1e-300)
    centred = np.where(known, centred / np.where(known, scale, 1.0), 0.0)
    return np.asarray(np.clip(sums.products(centred), -1.0, 1.0))


def gap(first: Floats, second: Floats) -> Floats:
    """The absolute difference; what only the order of summation made (a part in 10^12) is none.

    >>> gap(np.array([0.1 + 0.2, 5.0]), np.array([0.3, 4.0])).tolist()
    [0.0, 1.0]
    """
    apart = np.abs(first - second)
    return np.where(apart <= 1e-12 * np.maximum(np.abs(first), np.abs(second)), 0.0, apart)


def correlation_gap(first: Floats, second: Floats) -> Floats:
    """The absolute difference of every correlation of two tables; below 10^-12 it is rounding."""
    apart = np.abs(correlations(first) - correlations(second))
    return np.where(apart < 1e-12, 0.0, apart)


def cell_means(cell_of: Ints, values: Floats, cells: int) -> Floats:
    """The mean of the known values in every cell.

    >>> cell_means(np.array([0, 0, 1]), np.array([1.0, 2.0, np.nan]), 2).tolist()
    [1.5, nan]
    """
    known = ~np.isnan(values)
    count = np.bincount(cell_of[known], minlength=cells)
    total = sums.cell_sums(cell_of[known], values[known], cells)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def total_variation(first: Ints, second: Ints) -> float:
    """Half the sum of absolute differences of two distributions given as counts: 0 equal, 1 disjoint.

    >>> total_variation(np.array([2, 2]), np.array([1, 0]))
    0.5
    """
    share, other = first / max(first.sum(), 1), second / max(second.sum(), 1)
    return float(np.abs(share - other).sum() / 2)


def quantile_bins(values: Floats, bins: int) -> Floats:
    """The inner cut points of bins that hold about equally many values; fewer where values repeat.

    >>> quantile_bins(np.array([1.0, 2.0, 3.0, 4.0]), 2).tolist()
    [3.0]
    """
    known = np.sort(values[~np.isnan(values)])
    if not len(known):
        return np.empty(0)
    cuts = known[(np.arange(1, bins) * len(known)) // bins]
    return np.unique(cuts[cuts > known[0]])
