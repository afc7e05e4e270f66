"""Means, spreads and correlations of columns, on arrays; NaN is a missing number."""

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


def cell_means(cell_of: Ints, values: Floats, cells: int) -> Floats:
    """The mean of the known values in every cell.

    >>> cell_means(np.array([0, 0, 1]), np.array([1.0, 2.0, np.nan]), 2).tolist()
    [1.5, nan]
    """
    known = ~np.isnan(values)
    count = np.bincount(cell_of[known], minlength=cells)
    total = sums.cell_sums(cell_of[known], values[known], cells)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
