"""Which weighted set of another table is most like each set of this one, by postings lists: no pair is visited
that shares nothing."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def most_alike(
    indptr: Longs,
    items: Longs,
    weights: Floats,
    norms: Floats,
    owner_start: Longs,
    owners: Longs,
    owner_weights: Floats,
    owner_norms: Floats,
    cosine: bool,
) -> tuple[Longs, Longs]:
    """The pairs (set, other) with the largest likeness of each set, every tie listed; a set that shares nothing
    with anybody has none.

    `owners[owner_start[g]:owner_start[g+1]]` are the others that hold item g. The likeness is the product of
    the weights summed over shared items, divided by the norms (cosine) or by the sum of both norms less the
    shared weight (Jaccard, with weights 1 and norms the set sizes).
    """
    n, others = indptr.size - 1, owner_norms.size
    shared = np.zeros(others)
    touched = np.empty(others, np.int64)
    size = 1024
    left, right, found = np.empty(size, np.int64), np.empty(size, np.int64), 0
    for u in range(n):
        many = 0
        for e in range(indptr[u], indptr[u + 1]):
            for p in range(owner_start[items[e]], owner_start[items[e] + 1]):
                v = owners[p]
                if shared[v] == 0.0:
                    touched[many] = v
                    many += 1
                shared[v] += weights[e] * owner_weights[p]
        best = 0.0
        for i in range(many):
            v = touched[i]
            bottom = norms[u] * owner_norms[v] if cosine else norms[u] + owner_norms[v] - shared[v]
            shared[v] /= bottom
            best = max(best, shared[v])
        while found + many > size:
            left, right = np.concatenate((left, left)), np.concatenate((right, right))
            size *= 2
        for i in range(many):
            v = touched[i]
            if shared[v] >= best * (1.0 - 1e-12):
                left[found], right[found] = u, v
                found += 1
            shared[v] = 0.0
    return left[:found], right[:found]


@njit(cache=True, nogil=True)
def possible_owners(
    indptr: Longs,
    items: Longs,
    certain_indptr: Longs,
    certain_items: Longs,
    owner_start: Longs,
    owners: Longs,
    owner_sizes: Longs,
) -> tuple[Longs, Longs]:
    """The pairs (set, other) where the other set is a part of the set and holds all its certain items.

    `owners[owner_start[g]:owner_start[g+1]]` are the others that hold item g, `owner_sizes` how many items they hold.
    """
    n, others = indptr.size - 1, owner_sizes.size
    shared, sure = np.zeros(others, np.int64), np.zeros(others, np.int64)
    touched = np.empty(others, np.int64)
    size = 1024
    left, right, found = np.empty(size, np.int64), np.empty(size, np.int64), 0
    for u in range(n):
        many = 0
        for e in range(indptr[u], indptr[u + 1]):
            for p in range(owner_start[items[e]], owner_start[items[e] + 1]):
                v = owners[p]
                if shared[v] == 0:
                    touched[many] = v
                    many += 1
                shared[v] += 1
        for e in range(certain_indptr[u], certain_indptr[u + 1]):
            for p in range(owner_start[certain_items[e]], owner_start[certain_items[e] + 1]):
                sure[owners[p]] += 1
        while found + many > size:
            left, right = np.concatenate((left, left)), np.concatenate((right, right))
            size *= 2
        wanted = certain_indptr[u + 1] - certain_indptr[u]
        for i in range(many):
            v = touched[i]
            if shared[v] == owner_sizes[v] and sure[v] == wanted:
                left[found], right[found] = u, v
                found += 1
            shared[v], sure[v] = 0, 0
    return left[:found], right[:found]
