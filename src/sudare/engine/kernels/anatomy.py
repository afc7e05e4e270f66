"""Grouping records so that no value of the sensitive column fills more than 1/l of a group (Anatomy)."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


def anatomize(values: NDArray[np.integer], l: int, size: int, noise: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The group of every record (Xiao and Tao 2006), for records that come in a random order.

    While at least l values have records left, one record of each of the l commonest forms a group (ties are
    broken by `noise`); each record left over joins a random group that does not hold its value.

    >>> groups = anatomize(np.array([0, 1, 0, 1, 0, 2]), 2, 3, np.arange(6, dtype=np.uint64))
    >>> groups.tolist()
    [0, 0, 1, 1, 2, 2]
    """
    by_value = np.argsort(values, kind="stable")
    counts = np.bincount(values, minlength=size).astype(np.int64)
    return np.asarray(_anatomize(values.astype(np.int64), by_value, counts, l, noise), np.int64)


@njit(cache=True, nogil=True)
def _anatomize(values, by_value, counts, l, noise):
    size, rows = len(counts), len(values)
    following = np.cumsum(counts) - counts
    left = counts.copy()
    group_of = np.full(rows, -1, np.int64)
    filled = np.zeros(size, np.int64)
    groups, remaining = 0, rows
    while remaining >= l:
        shift = int(noise[groups] % np.uint64(size))
        for _ in range(l):
            best = -1
            for i in range(size):
                value = i + shift if i + shift < size else i + shift - size
                if filled[value] <= groups and left[value] > 0 and (best < 0 or left[value] > left[best]):
                    best = value
            if best < 0:
                return _leftovers(values, group_of, groups, noise)
            filled[best] = groups + 1
            group_of[by_value[following[best]]] = groups
            following[best] += 1
            left[best] -= 1
            remaining -= 1
        groups += 1
    return _leftovers(values, group_of, groups, noise)


@njit(cache=True, nogil=True)
def _leftovers(values, group_of, groups, noise):
    """Send every record without a group to a random one that does not hold its value."""
    rows = len(values)
    for row in range(rows):
        if 0 <= group_of[row] < groups:
            continue
        holds = np.zeros(groups, np.bool_)
        for other in range(rows):
            if other != row and 0 <= group_of[other] < groups and values[other] == values[row]:
                holds[group_of[other]] = True
        start = int(noise[row] % np.uint64(max(groups, 1)))
        for i in range(groups):
            group = (start + i) % groups
            if not holds[group]:
                group_of[row] = group
                break
    return group_of
