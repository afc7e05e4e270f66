"""The three phases of TP (Xiao, Yi and Tao 2010): which records lose their quasi-identifiers.

Records with equal quasi-identifiers form a group Q; h(Q) is how often its commonest values (its pillars)
occur; Q may stay when |Q| >= l h(Q). What must go is the residue R, published with starred quasi-identifiers,
and R too must satisfy |R| >= l h(R).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


def residue(groups: NDArray[np.integer], values: NDArray[np.integer], l: int, size: int) -> NDArray[np.bool_]:
    """Which records go to the residue; records of a group with equal values go in the order given.

    >>> residue(np.array([0, 0, 1, 2]), np.array([0, 1, 0, 1]), 2, 2).tolist()
    [False, False, True, True]
    """
    order = np.lexsort((values, groups))
    group, value = groups[order].astype(np.int64), values[order].astype(np.int64)
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (group[1:] != group[:-1]) | (value[1:] != value[:-1])
    first = np.flatnonzero(fresh)
    counts = np.diff(np.append(first, len(order)))
    starts = np.append(np.flatnonzero(np.diff(group[first], prepend=-1)), len(first))
    left = _phases(starts, value[first], counts, l, size)
    rank = np.arange(len(order)) - np.repeat(first, counts)
    gone = np.empty(len(order), np.bool_)
    gone[order] = rank >= np.repeat(left, counts)
    return gone


@njit(cache=True, nogil=True)
def _phases(starts, slot_value, counts, l, size):
    """How many records of every (group, value) slot stay; group g owns the slots starts[g]:starts[g+1]."""
    left = counts.copy()
    taken = np.zeros(size, np.int64)
    groups = len(starts) - 1
    for g in range(groups):
        _phase_one(left, slot_value, taken, starts[g], starts[g + 1], l)
    while True:
        for g in range(groups):
            _phase_two(left, slot_value, taken, starts[g], starts[g + 1], l)
        if taken.sum() >= l * taken.max():
            return left
        fewest, chosen = size + 1, -1
        for g in range(groups):
            shared = _shared_pillars(left, slot_value, taken, starts[g], starts[g + 1])
            if 0 <= shared < fewest:
                fewest, chosen = shared, g
        if chosen < 0:
            return left
        _give_pillars(left, slot_value, taken, starts[chosen], starts[chosen + 1])


@njit(cache=True, nogil=True)
def _phase_one(left, slot_value, taken, start, stop, l):
    """Move records of pillars to the residue until the group may stay."""
    while left[start:stop].sum() < l * left[start:stop].max():
        pillar = start + np.argmax(left[start:stop])
        left[pillar] -= 1
        taken[slot_value[pillar]] += 1


@njit(cache=True, nogil=True)
def _phase_two(left, slot_value, taken, start, stop, l):
    """Let the group give to the residue while that is too concentrated, without raising its h.

    At a fixed h(R) its pillars only become more, so a group that cannot give now cannot give later.
    """
    while True:
        height = taken.max()
        total, tall = left[start:stop].sum(), left[start:stop].max()
        if taken.sum() >= l * height or total == 0:
            return
        if total > l * tall:
            rarest = -1
            for slot in range(start, stop):
                here = taken[slot_value[slot]]
                if left[slot] > 0 and here < height and (rarest < 0 or here < taken[slot_value[rarest]]):
                    rarest = slot
            if rarest < 0:
                return
            left[rarest] -= 1
            taken[slot_value[rarest]] += 1
        elif _shared_pillars(left, slot_value, taken, start, stop) == 0:
            _give_pillars(left, slot_value, taken, start, stop)
        else:
            return


@njit(cache=True, nogil=True)
def _shared_pillars(left, slot_value, taken, start, stop):
    """How many pillars of the group are pillars of the residue; -1 for an empty group."""
    tall, height, shared = left[start:stop].max(), taken.max(), 0
    if tall == 0:
        return -1
    for slot in range(start, stop):
        if left[slot] == tall and taken[slot_value[slot]] == height:
            shared += 1
    return shared


@njit(cache=True, nogil=True)
def _give_pillars(left, slot_value, taken, start, stop):
    """Move one record of each pillar of the group to the residue."""
    tall = left[start:stop].max()
    for slot in range(start, stop):
        if left[slot] == tall:
            left[slot] -= 1
            taken[slot_value[slot]] += 1
