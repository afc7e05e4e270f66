"""Nearest rows by Gower's distance over mixed columns: a full search that stops a pair as soon as it has
lost.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

EQUAL = 1e-12


@njit(cache=True, nogil=True)
def nearest(
    numbers: Floats, codes: Codes, others: Floats, labels: Codes, apart: Floats, begins: Ints
) -> tuple[Ints, Ints]:
    """The original rows at the least distance, release row after release row, and where each one's begin.

    The distance is Gower's times the number of columns. A number counts as the difference over the
    column's range (the numbers come divided by it), a missing release number as nothing, a missing
    original number as 1; a label counts `apart[begins[c] + label, code]`.
    """
    offsets = np.zeros(len(others) + 1, np.int64)
    rows = np.empty(max(2 * len(others), 16), np.int64)
    costs = np.empty((codes.shape[1], apart.shape[1]))
    there = np.empty(numbers.shape[1])
    place = 0
    for b in range(len(others)):
        for c in range(codes.shape[1]):
            costs[c] = apart[begins[c] + labels[b, c]]
        there[:] = others[b]
        near, first = np.inf, place
        for a in range(len(numbers)):
            total = 0.0
            for c in range(codes.shape[1]):
                total += costs[c, codes[a, c]]
                if total > near + EQUAL:
                    break
            for c in range(numbers.shape[1]):
                if total > near + EQUAL:
                    break
                gap = abs(numbers[a, c] - there[c])
                if gap == gap:
                    total += gap
                elif there[c] == there[c]:
                    total += 1.0
            if total > near + EQUAL:
                continue
            if total < near - EQUAL:
                near, place = total, first
            if place == len(rows):
                rows = np.append(rows, np.empty(len(rows), np.int64))
            rows[place] = a
            place += 1
        offsets[b + 1] = place
    return offsets, rows[:place].copy()
