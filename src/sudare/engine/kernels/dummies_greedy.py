"""A greedy clustering of many sets: one pass over users sorted by set size, looking ahead in a window."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Longs = NDArray[np.int64]


@njit(cache=True, nogil=True)
def greedy(indptr: Longs, items: NDArray[np.int32], order: Longs, values: int, k: int, window: int) -> Longs:
    """A cluster label per user: the next user in `order` takes, k - 1 times, whoever of the next `window`
    users needs the fewest dummy records with the cluster so far. The last n mod k users join the last cluster.

    Memory is one mark per value and the window, whatever the number of users.
    """
    n = order.size
    clusters = n // k
    label = np.full(n, clusters - 1, np.int64)
    mark = np.full(values, -1, np.int64)
    pool = np.empty(window, np.int64)
    filled, head = 0, 0
    for cluster in range(clusters):
        width = 0
        for taken in range(k):
            while filled < window and head < n:
                pool[filled] = order[head]
                filled += 1
                head += 1
            place = 0
            if taken > 0:
                place = _cheapest(indptr, items, pool, filled, mark, cluster, taken, width)
            u = pool[place]
            label[u] = cluster
            for e in range(indptr[u], indptr[u + 1]):
                if mark[items[e]] != cluster:
                    mark[items[e]] = cluster
                    width += 1
            filled -= 1
            for i in range(place, filled):
                pool[i] = pool[i + 1]
    return label


@njit(cache=True, nogil=True)
def _cheapest(
    indptr: Longs,
    items: NDArray[np.int32],
    pool: Longs,
    filled: int,
    mark: Longs,
    cluster: int,
    taken: int,
    width: int,
) -> int:
    """The place in the pool of the user who adds the fewest dummies: taken * new values + values it lacks."""
    best, least = 0, np.int64(1) << 60
    for place in range(filled):
        v = pool[place]
        shared = 0
        for e in range(indptr[v], indptr[v + 1]):
            shared += mark[items[e]] == cluster
        cost = taken * (indptr[v + 1] - indptr[v] - shared) + width - shared
        if cost < least:
            best, least = place, cost
    return best
