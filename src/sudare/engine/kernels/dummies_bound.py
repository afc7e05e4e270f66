"""Kernels of the lower bound: the cheapest partners of every user, and what chosen pairs share."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]


@njit(cache=True, nogil=True)
def cheapest_partners(apart: Floats, price: Floats, partners: Longs, popular: Longs) -> float:
    """Every user's cheapest partners at cost apart[u, v] - price[u] - price[v]; the sum of these costs.

    `partners` (users x how many) is filled, and `popular` counts how often a user was chosen.
    """
    n, many = partners.shape
    least = np.empty(many)
    total = 0.0
    for u in range(n):
        popular[u] = 0
    for u in range(n):
        filled = 0
        for v in range(n):
            if v == u:
                continue
            cost = apart[u, v] - price[v]
            if filled == many and cost >= least[many - 1]:
                continue
            place = filled if filled < many else many - 1
            while place > 0 and least[place - 1] > cost:
                least[place] = least[place - 1]
                partners[u, place] = partners[u, place - 1]
                place -= 1
            least[place] = cost
            partners[u, place] = v
            filled = min(filled + 1, many)
        for i in range(many):
            total += least[i] - price[u]
            popular[partners[u, i]] += 1
    return total


@njit(cache=True, nogil=True)
def add_shared(
    indptr: Longs, items: NDArray[np.int32], partners: Longs, shared: Floats, times: float
) -> None:
    """Add `times` to every item for every chosen pair that shares it; the items of a user are sorted."""
    for u in range(partners.shape[0]):
        for place in range(partners.shape[1]):
            v = partners[u, place]
            i, j = indptr[u], indptr[v]
            while i < indptr[u + 1] and j < indptr[v + 1]:
                if items[i] == items[j]:
                    shared[items[i]] += times
                    i += 1
                    j += 1
                elif items[i] < items[j]:
                    i += 1
                else:
                    j += 1
