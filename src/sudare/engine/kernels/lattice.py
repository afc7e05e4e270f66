"""How many rows a vector of levels leaves in classes smaller than k."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


@njit(cache=True)
def small_classes(
    nodes: Codes, first: Ints, levels: Ints, rows: Codes, counts: Ints, k: int, marked: NDArray[np.bool_]
) -> int:
    """Mark the distinct rows whose class has fewer than k rows; returns how many rows that are.

    nodes[first[c] + level, code] is what a code becomes on a level; `counts` are rows per distinct row.
    """
    n, q = rows.shape
    size = 16
    while size < 2 * n:
        size *= 2
    head, slot = np.full(size, -1), np.empty(n, np.int64)
    total = np.zeros(size, np.int64)
    for i in range(n):
        h = np.uint64(0x9E3779B97F4A7C15)
        for c in range(q):
            h = (h ^ np.uint64(nodes[first[c] + levels[c], rows[i, c]])) * np.uint64(0xBF58476D1CE4E5B9)
            h ^= h >> np.uint64(29)
        s = np.int64(h & np.uint64(size - 1))
        while head[s] >= 0 and not _equal(nodes, first, levels, rows, head[s], i):
            s = (s + 1) & (size - 1)
        if head[s] < 0:
            head[s] = i
        total[s] += counts[i]
        slot[i] = s
    lost = 0
    for i in range(n):
        marked[i] = total[slot[i]] < k
        if marked[i]:
            lost += counts[i]
    return lost


@njit(cache=True)
def _equal(nodes: Codes, first: Ints, levels: Ints, rows: Codes, i: int, j: int) -> bool:
    for c in range(rows.shape[1]):
        level = first[c] + levels[c]
        if nodes[level, rows[i, c]] != nodes[level, rows[j, c]]:
            return False
    return True
