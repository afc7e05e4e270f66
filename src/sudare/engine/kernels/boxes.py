"""The rows that share a vector of generalised values, taken when there are at least k of them."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sudare.engine.kernels.recoding import Codes, Ints


@njit(cache=True)
def fill_boxes(
    nodes: NDArray[np.int64],
    first: Ints,
    vectors: NDArray[np.int64],
    rows: Codes,
    counts: Ints,
    k: int,
) -> tuple[Ints, int]:
    """The group of every distinct row, -1 for rows left over; groups are complete boxes of a vector.

    `vectors` are levels per column, cheap ones first; nodes[first[c] + level, code] is what the code becomes.
    Whatever shares its box with k rows is taken at once: every row pays the least that was to be had.
    """
    n = rows.shape[0]
    size = 16
    while size < 2 * n + 2:
        size *= 2
    key, total = np.zeros(size, np.uint64), np.zeros(size, np.int64)
    group, stamp = np.zeros(size, np.int64), np.full(size, -1)
    slot = np.empty(n, np.int64)
    group_of, alive = np.full(n, -1), np.arange(n)
    groups = 0
    for turn in range(vectors.shape[0]):
        for a in range(alive.shape[0]):
            h = _box(nodes, first, vectors[turn], rows, alive[a])
            s = np.int64(h & np.uint64(size - 1))
            while stamp[s] == turn and key[s] != h:
                s = (s + 1) & (size - 1)
            if stamp[s] != turn:
                stamp[s], key[s], total[s], group[s] = turn, h, 0, -1
            total[s] += counts[alive[a]]
            slot[a] = s
        kept = 0
        for a in range(alive.shape[0]):
            s = slot[a]
            if total[s] < k:
                alive[kept] = alive[a]
                kept += 1
                continue
            if group[s] < 0:
                group[s] = groups
                groups += 1
            group_of[alive[a]] = group[s]
        alive = alive[:kept]
        if kept == 0:
            break
    return group_of, groups


@njit(cache=True)
def _box(nodes: NDArray[np.int64], first: Ints, levels: Ints, rows: Codes, row: int) -> np.uint64:
    """64 mixed bits of the generalised row. Should two boxes ever share them, they become one larger group."""
    h = np.uint64(0x9E3779B97F4A7C15)
    for c in range(rows.shape[1]):
        h = (h ^ np.uint64(nodes[first[c] + levels[c], rows[row, c]])) * np.uint64(0xBF58476D1CE4E5B9)
        h ^= h >> np.uint64(29)
    h *= np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(32))
