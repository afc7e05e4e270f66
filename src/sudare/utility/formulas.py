"""The arithmetic of utility metrics, on arrays; NaN is a missing number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def gap(first: Floats, second: Floats) -> Floats:
    """The absolute difference; what only the order of summation made (a part in 10^12) is none.

    >>> gap(np.array([0.1 + 0.2, 5.0]), np.array([0.3, 4.0])).tolist()
    [0.0, 1.0]
    """
    apart = np.abs(first - second)
    return np.where(apart <= 1e-12 * np.maximum(np.abs(first), np.abs(second)), 0.0, apart)


def correlation_gap(first: Floats, second: Floats) -> Floats:
    """The absolute difference of correlations of two tables; below 10^-12 it is rounding."""
    apart = np.abs(first - second)
    return np.where(apart < 1e-12, 0.0, apart)


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
