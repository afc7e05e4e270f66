"""Candidates of blurred values, when each true value may be seen as any of a range of things."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


@njit(cache=True, nogil=True)
def candidates(start: Ints, values: Codes, low: Ints, high: Ints, seen: int) -> Ints:
    """|C(z)| for every thing z: the users who own a value whose range holds z.

    A user's ranges are joined first, so that nobody counts twice.
    """
    change = np.zeros(seen + 1, np.int64)
    for user in range(len(start) - 1):
        mine = values[start[user] : start[user + 1]]
        by_low = np.argsort(low[mine])
        reach = -1
        for i in by_low:
            first, last = max(low[mine[i]], reach), high[mine[i]]
            if last > first:
                change[first] += 1
                change[last] -= 1
                reach = last
    return np.cumsum(change)[:seen]
