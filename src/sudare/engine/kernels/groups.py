"""Rows with equal vectors as groups: whole numbers without gaps, found by hashing."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def group_ids(matrices: list[NDArray[np.int32]]) -> tuple[list[Ints], int]:
    """The group of every row of several code matrices (equal vectors, equal group) and the number of groups.

    Groups are numbered in the order of their first row.

    >>> import numpy as np
    >>> ids, groups = group_ids([np.array([[7, 1], [7, 2]], np.int32), np.array([[7, 2]], np.int32)])
    >>> [i.tolist() for i in ids], groups
    ([[0, 1], [1]], 2)
    """
    stacked = np.concatenate(matrices)
    label, count = np.zeros(len(stacked), np.int64), 1
    for column in stacked.T:
        width = int(column.max(initial=0)) + 1
        if count > 2**62 // width:
            label, count = _dense(label)
        label, count = label * width + column, count * width
    label, count = _dense(label)
    ends = np.cumsum([len(matrix) for matrix in matrices])
    return np.split(label, ends[:-1]), int(count)


@njit(cache=True, nogil=True)
def _dense(keys: Ints) -> tuple[Ints, int]:
    """Number the distinct keys in the order in which they come."""
    bits = 4
    while (1 << bits) < 2 * len(keys):
        bits += 1
    mask = (1 << bits) - 1
    slots = np.full(1 << bits, -1, np.int64)
    known = np.empty(len(keys), np.int64)
    ids = np.empty(len(keys), np.int64)
    count = 0
    for i in range(len(keys)):
        slot = mix(np.uint64(keys[i])) & np.uint64(mask)
        while slots[slot] >= 0 and known[slots[slot]] != keys[i]:
            slot = (slot + np.uint64(1)) & np.uint64(mask)
        if slots[slot] < 0:
            slots[slot] = count
            known[count] = keys[i]
            count += 1
        ids[i] = slots[slot]
    return ids, count


@njit(cache=True, nogil=True)
def mix(word: np.uint64) -> np.uint64:
    """Spread a 64-bit word over all its bits (the finaliser of splitmix64)."""
    word ^= word >> np.uint64(30)
    word *= np.uint64(0xBF58476D1CE4E5B9)
    word ^= word >> np.uint64(27)
    word *= np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@njit(cache=True, nogil=True)
def sort_into_groups(group_of: Ints, groups: int) -> tuple[Ints, Ints]:
    """The rows ordered by group (in row order within one) and where each group begins; group -1 is left
    out.
    """
    offsets = np.zeros(groups + 1, np.int64)
    for g in group_of:
        if g >= 0:
            offsets[g + 1] += 1
    for g in range(groups):
        offsets[g + 1] += offsets[g]
    place = offsets[:-1].copy()
    order = np.empty(offsets[groups], np.int64)
    for row in range(len(group_of)):
        g = group_of[row]
        if g >= 0:
            order[place[g]] = row
            place[g] += 1
    return order, offsets
