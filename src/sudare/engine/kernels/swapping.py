"""Rank swapping over sorted places."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@njit(cache=True)
def partners(drawn: Floats, reach: int) -> Ints:
    """For every place the one it changes with, at most `reach` places away.

    From the lowest place up, a place without a partner takes one at random among those without a partner
    within reach above it (`drawn` in (0, 1), one number per place); itself when there is none.
    """
    n = drawn.shape[0]
    partner = np.full(n, -1)
    free = np.empty(reach, np.int64)
    for i in range(n):
        if partner[i] >= 0:
            continue
        count = 0
        for j in range(i + 1, min(i + reach + 1, n)):
            if partner[j] < 0:
                free[count] = j
                count += 1
        j = free[int(drawn[i] * count)] if count else i
        partner[i], partner[j] = j, i
    return partner
