"""One-to-one assignment in a sparse graph by auction (Bertsekas): rows bid for places, prices settle who
gets which.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True, nogil=True)
def auction(costs: Floats, places: Ints, number: int, alone: Floats, step: float) -> Ints:
    """For every row one of its `places` (columns of equal shape as `costs`), no place twice; -1 = stays
    alone.

    Staying alone costs a row `alone`. The sum of costs is within `step` per row of the least possible
    one.
    """
    rows, width = costs.shape
    price = np.zeros(number)
    owner = np.full(number, -1, np.int64)
    chosen = np.full(rows, -1, np.int64)
    waiting = np.arange(rows)
    top = rows
    while top > 0:
        top -= 1
        row = waiting[top]
        best, second, which = float(-alone[row]), -np.inf, -1
        for i in range(width):
            worth = -costs[row, i] - price[places[row, i]]
            if worth > best:
                second, best, which = best, worth, i
            elif worth > second:
                second = worth
        if which < 0:
            continue
        place = places[row, which]
        price[place] += best - second + step
        loser = owner[place]
        owner[place] = row
        chosen[row] = place
        if loser >= 0:
            chosen[loser] = -1
            waiting[top] = loser
            top += 1
    return chosen
