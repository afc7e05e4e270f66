"""Counting and fitting over published sets: kernels on arrays of codes."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


def count_members(
    sets: NDArray[np.integer], groups: NDArray[np.integer], n_groups: int, size: int
) -> NDArray[np.int64]:
    """How many sets of each group contain each value: W of P2, Eq. (4), groups x size.

    >>> count_members(np.array([[0, 1], [1, 2]], np.uint8), np.array([0, 0]), 1, 3).tolist()
    [[1, 2, 1]]
    """
    counts = np.zeros((n_groups, size), np.int64)
    if not count_ascending(sets, groups, counts):
        counts[:] = 0
        count_ascending(np.sort(sets, axis=1), groups, counts)
    return counts


@njit(cache=True, nogil=True)
def count_ascending(sets, groups, counts):
    """Add every member to its group's counts, in one pass with the check of `ascending`."""
    rows, width = sets.shape
    fine = True
    for row in range(rows):
        group = groups[row]
        counts[group, sets[row, 0]] += 1
        for j in range(1, width):
            fine &= sets[row, j] > sets[row, j - 1]
            counts[group, sets[row, j]] += 1
    return fine


@njit(cache=True, nogil=True)
def ascending(sets):
    """Whether every row of codes ascends strictly: then it has as many members as columns."""
    rows, width = sets.shape
    for row in range(rows):
        for j in range(1, width):
            if sets[row, j] <= sets[row, j - 1]:
                return False
    return True


def masks(sets: NDArray[np.integer], size: int) -> NDArray[np.uint64]:
    """Every set as a bit mask: rows x ceil(size / 64) words.

    >>> masks(np.array([[0, 2], [1, 65]]), 66).tolist()
    [[5, 0], [2, 2]]
    """
    bits = np.zeros((len(sets), (size + 63) // 64), np.uint64)
    _set_bits(sets, bits)
    return bits


@njit(cache=True, nogil=True)
def _set_bits(sets, bits):
    rows, width = sets.shape
    for row in range(rows):
        for j in range(width):
            value = np.int64(sets[row, j])
            bits[row, value >> 6] |= np.uint64(1) << np.uint64(value & 63)


def count_fractions(
    values: NDArray[np.integer],
    offsets: NDArray[np.integer],
    groups: NDArray[np.integer],
    n_groups: int,
    size: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per group and value the sum over its records of f and of f(1-f), f = the value's share of the list.

    The lists are `values[offsets[r]:offsets[r+1]]`, sorted.

    >>> f, v = count_fractions(np.array([0, 0, 1, 2]), np.array([0, 4]), np.array([0]), 1, 3)
    >>> f.tolist(), v.tolist()
    ([[0.5, 0.25, 0.25]], [[0.25, 0.1875, 0.1875]])
    """
    sums, variances = np.zeros((n_groups, size)), np.zeros((n_groups, size))
    _fractions(values, offsets, groups, sums, variances)
    return sums, variances


@njit(cache=True, nogil=True)
def _fractions(values, offsets, groups, sums, variances):
    for row in range(len(groups)):
        start, stop = offsets[row], offsets[row + 1]
        at = start
        while at < stop:
            run = at
            while run < stop and values[run] == values[at]:
                run += 1
            share = (run - at) / (stop - start)
            sums[groups[row], values[at]] += share
            variances[groups[row], values[at]] += share * (1.0 - share)
            at = run


@njit(cache=True, nogil=True)
def fit_em(sets, weights, start, tolerance, rounds):
    """The shares that maximise prod_r (sum of p over R_r)^weight_r, by EM from `start`.

    Returns the shares and the number of rounds; `rounds` means that it had not settled.
    """
    size, (rows, width) = len(start), sets.shape
    shares, total = start.copy(), weights.sum()
    for step in range(rounds):
        fresh = np.zeros(size)
        for row in range(rows):
            mass = 0.0
            for j in range(width):
                mass += shares[sets[row, j]]
            if mass > 0:
                scale = weights[row] / mass
                for j in range(width):
                    fresh[sets[row, j]] += scale * shares[sets[row, j]]
        change = 0.0
        for value in range(size):
            fresh[value] /= total
            change = max(change, abs(fresh[value] - shares[value]))
        shares = fresh
        if change < tolerance:
            return shares, step + 1
    return shares, rounds


@njit(cache=True, nogil=True)
def answer_queries(positions, offsets, values, weights, columns, wanted, share, size):
    """The weight of each value among the classes of records that match each query: queries x size.

    Class c has the codes positions[:, c] (0 = starred, which matches with the query's share of values) and
    the values values[offsets[c]:offsets[c + 1]] with their weights. The matching classes are listed without
    a branch, because whether a class matches cannot be predicted.
    """
    queries, dimensions = columns.shape
    classes = positions.shape[1]
    out = np.zeros((queries, size))
    hits = np.empty(classes + 1, np.int64)
    for query in range(queries):
        hits[: classes + 1] = np.arange(classes + 1)
        found = classes
        for place in range(dimensions):
            codes, asked, kept = positions[columns[query, place]], wanted[query, place], 0
            for i in range(found):
                row = hits[i]
                hits[kept] = row
                kept += asked[codes[row]]
            found = kept
        for i in range(found):
            row, weight = hits[i], 1.0
            for place in range(dimensions):
                if positions[columns[query, place], row] == 0:
                    weight *= share[query, place]
            for at in range(offsets[row], offsets[row + 1]):
                out[query, values[at]] += weight * weights[at]
    return out
