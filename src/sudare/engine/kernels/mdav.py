"""MDAV: groups of at least k near rows, of numbers or of numbers and categories together."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True)
def _furthest(data: Floats, n: int, point: Floats) -> int:
    """The position of the row furthest from the point; the first one among equals."""
    best, at = -1.0, 0
    for i in range(n):
        d = 0.0
        for c in range(data.shape[1]):
            gap = data[i, c] - point[c]
            d += gap * gap
        if d > best:
            best, at = d, i
    return at


@njit(cache=True)
def _nearest_and_furthest(data: Floats, n: int, point: Floats, near: Ints, far: Floats) -> int:
    """Fill `near` with the positions of its length's nearest rows; return the furthest row's."""
    k = near.shape[0]
    far[:] = np.inf
    worst, best, at = np.inf, -1.0, 0
    for i in range(n):
        d = 0.0
        for c in range(data.shape[1]):
            gap = data[i, c] - point[c]
            d += gap * gap
        if d > best:
            best, at = d, i
        if d < worst:
            j = k - 1
            while j > 0 and far[j - 1] > d:
                far[j] = far[j - 1]
                near[j] = near[j - 1]
                j -= 1
            far[j] = d
            near[j] = i
            worst = far[k - 1]
    return at


@njit(cache=True)
def _take(data: Floats, rows: Ints, n: int, near: Ints, group: int, out: Ints, total: Floats) -> int:
    """Give the rows in `near` their group, remove them and close the gaps in order."""
    chosen = np.sort(near)
    for i in chosen:
        out[rows[i]] = group
        for c in range(data.shape[1]):
            total[c] -= data[i, c]
    write, skip = chosen[0], 0
    for i in range(chosen[0], n):
        if skip < chosen.shape[0] and chosen[skip] == i:
            skip += 1
            continue
        rows[write] = rows[i]
        for c in range(data.shape[1]):
            data[write, c] = data[i, c]
        write += 1
    return write


@njit(cache=True)
def mdav(values: Floats, k: int) -> Ints:
    """The group of every row (Domingo-Ferrer & Torra 2005, MDAV-generic), Euclidean distance.

    While at least 3k rows are left: the row r furthest from their mean and its k-1 nearest rows are
    a group, and so are the row s furthest from r and its k-1 nearest. Of 2k to 3k-1 rows r and its
    nearest are one group and the others another; fewer than 2k rows are one group.
    """
    data = values.copy()
    n = data.shape[0]
    rows = np.arange(n)
    out = np.full(n, -1)
    total = np.zeros(data.shape[1])
    for i in range(n):
        for c in range(data.shape[1]):
            total[c] += data[i, c]
    near = np.empty(k, np.int64)
    far = np.empty(k, np.float64)
    group = 0
    while n >= 2 * k:
        three = n >= 3 * k
        r = _furthest(data, n, total / n)
        s = _nearest_and_furthest(data, n, data[r].copy(), near, far)
        around = data[s].copy()
        n = _take(data, rows, n, near, group, out, total)
        group += 1
        if three:
            _nearest_and_furthest(data, n, around, near, far)
            n = _take(data, rows, n, near, group, out, total)
            group += 1
    for i in range(n):
        out[rows[i]] = group
    return out
