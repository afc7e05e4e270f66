"""MDAV: groups of at least k near rows, Euclidean distance, every step as published."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True)
def mdav(values: Floats, k: int) -> Ints:
    """The group of every row (Domingo-Ferrer & Torra 2005, MDAV-generic).

    While at least 3k rows are left: the row r furthest from their mean and its k-1 nearest rows are
    a group, and so are the row s furthest from r and its k-1 nearest. Of 2k to 3k-1 rows r and its
    nearest are one group and the others another; fewer than 2k rows are one group. Among equals
    the first row counts.
    """
    n = values.shape[0]
    data = values.T.copy()
    rows = np.arange(n)
    out = np.full(n, -1)
    total = np.zeros(data.shape[0])
    for c in range(data.shape[0]):
        total[c] = data[c].sum()
    square = np.empty(n)
    near = np.empty(k, np.int64)
    group = 0
    while n >= 2 * k:
        three = n >= 3 * k
        _squares(data, n, total / n, square)
        r = _furthest(square, rows, n)
        _squares(data, n, data[:, r].copy(), square)
        around = data[:, _furthest(square, rows, n)].copy()
        _nearest(square, rows, n, near)
        n = _take(data, rows, n, near, group, out, total)
        group += 1
        if three:
            _squares(data, n, around, square)
            _nearest(square, rows, n, near)
            n = _take(data, rows, n, near, group, out, total)
            group += 1
    for i in range(n):
        out[rows[i]] = group
    return out


@njit(cache=True)
def _squares(data: Floats, n: int, point: Floats, square: Floats) -> None:
    """Squared distances of the first n rows from the point; columns are contiguous."""
    for i in range(n):
        gap = data[0, i] - point[0]
        square[i] = gap * gap
    for c in range(1, data.shape[0]):
        for i in range(n):
            gap = data[c, i] - point[c]
            square[i] += gap * gap


@njit(cache=True)
def _furthest(square: Floats, rows: Ints, n: int) -> int:
    best, at = -1.0, 0
    for i in range(n):
        if square[i] >= best and (square[i] > best or rows[i] < rows[at]):
            best, at = square[i], i
    return at


@njit(cache=True)
def _nearest(square: Floats, rows: Ints, n: int, near: Ints) -> None:
    """Fill `near` with the positions of as many nearest rows."""
    k = near.shape[0]
    held = 0
    worst = np.inf
    for i in range(n):
        d = square[i]
        if held == k and d > worst:
            continue
        j = held if held < k else k - 1
        if held == k and d == worst and rows[i] > rows[near[j]]:
            continue
        while j > 0 and (
            square[near[j - 1]] > d or (square[near[j - 1]] == d and rows[near[j - 1]] > rows[i])
        ):
            near[j] = near[j - 1]
            j -= 1
        near[j] = i
        held = min(held + 1, k)
        worst = square[near[held - 1]]


@njit(cache=True)
def _take(data: Floats, rows: Ints, n: int, near: Ints, group: int, out: Ints, total: Floats) -> int:
    """Give the rows in `near` their group and fill their places with the last rows."""
    for i in np.sort(near)[::-1]:
        n -= 1
        out[rows[i]] = group
        rows[i] = rows[n]
        for c in range(data.shape[0]):
            total[c] -= data[c, i]
            data[c, i] = data[c, n]
    return n
