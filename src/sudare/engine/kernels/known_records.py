"""Who is left when several values of one person are known: inverted lists of people per value, intersected."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sudare.engine.kernels.bitsets import popcount
from sudare.engine.kernels.dummies import _below

Longs = NDArray[np.int64]
Words = NDArray[np.uint64]


class Lists(NamedTuple):
    """The people of value v, ascending: `people[start[v]:start[v+1]]`; of a value that more than one person in 64 has
    also as bits (`bits[row[v]]`; row -1: none). The bits of all take no more than eight bytes per entry of a list.
    """

    start: Longs
    people: Longs
    row: Longs
    bits: Words


def lists_of(start: Longs, people: Longs, n: int) -> Lists:
    """The lists with the bits of long ones; n is the number of people."""
    words = max(1, (n + 63) // 64)
    long = np.diff(start) > words
    row = np.where(long, np.cumsum(long) - 1, -1)
    return Lists(start, people, row, _packed(start, people, np.flatnonzero(long), words))


@njit(cache=True, nogil=True)
def _packed(start: Longs, people: Longs, chosen: Longs, words: int) -> Words:
    bits = np.zeros((len(chosen), words), np.uint64)
    for i in range(len(chosen)):
        for e in range(start[chosen[i]], start[chosen[i] + 1]):
            bits[i, people[e] >> 6] |= np.uint64(1) << np.uint64(people[e] & 63)
    return bits


@njit(cache=True, nogil=True)
def draw_known(start: Longs, values: Longs, people: Longs, p: int, seed: int) -> Longs:
    """For every one of `people` p of their values, drawn evenly; all of them, then -1, where they have fewer."""
    drawn = np.full((len(people), p), -1, np.int64)
    state = np.array([np.uint64(seed)])
    widest = 0
    for person in people:
        widest = max(widest, start[person + 1] - start[person])
    mine = np.empty(widest, np.int64)
    for i in range(len(people)):
        first, size = start[people[i]], start[people[i] + 1] - start[people[i]]
        mine[:size] = values[first : first + size]
        for j in range(min(p, size)):
            other = j + _below(state, size - j)
            mine[j], mine[other] = mine[other], mine[j]
            drawn[i, j] = mine[j]
    return drawn


@njit(cache=True, nogil=True)
def every_known(start: Longs, values: Longs, p: int, sets: int) -> tuple[Longs, Longs]:
    """Every set of p values of every person who has so many, and whose it is."""
    known, whose = np.full((sets, p), -1, np.int64), np.empty(sets, np.int64)
    found = 0
    chosen = np.empty(p, np.int64)
    for person in range(len(start) - 1):
        size = start[person + 1] - start[person]
        for i in range(p):
            chosen[i] = i
        going = size >= p
        while going:
            for i in range(p):
                known[found, i] = values[start[person] + chosen[i]]
            whose[found] = person
            found += 1
            last = p - 1
            while last >= 0 and chosen[last] == size - p + last:
                last -= 1
            going = last >= 0
            if going:
                chosen[last] += 1
                for i in range(last + 1, p):
                    chosen[i] = chosen[i - 1] + 1
    return known, whose


@njit(cache=True, nogil=True)
def _holds(lists: Lists, value: int, person: int) -> bool:
    row = lists.row[value]
    if row >= 0:
        word = lists.bits[row, person >> 6]
        return bool((word >> np.uint64(person & 63)) & np.uint64(1))
    low, high = lists.start[value], lists.start[value + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if lists.people[middle] < person:
            low = middle + 1
        else:
            high = middle
    return bool(low < end and lists.people[low] == person)


@njit(cache=True, nogil=True)
def _rarest_first(lists: Lists, values: Longs) -> Any:
    """Sort the values by how many have them, and say how many values there are (-1 is none)."""
    count = 0
    for i in range(len(values)):
        value, place = values[i], count
        if value < 0:
            continue
        size = lists.start[value + 1] - lists.start[value]
        while place > 0 and lists.start[values[place - 1] + 1] - lists.start[values[place - 1]] > size:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value
        count += 1
    return count


@njit(cache=True, nogil=True)
def _common(lists: Lists, values: Longs, count: int) -> Any:
    """How many people have all these common values, by their bits."""
    total = np.int64(0)
    for w in range(lists.bits.shape[1]):
        word = lists.bits[lists.row[values[0]], w]
        for i in range(1, count):
            word &= lists.bits[lists.row[values[i]], w]
        total += np.int64(popcount(word))
    return total


@njit(cache=True, nogil=True)
def candidates(lists: Lists, known: Longs) -> Longs:
    """How many people have all the values of each row (-1 is none).

    Values are intersected from the rarest on: where it is rare its people are looked up among those of the others,
    where even the rarest is common the bits are. So a row costs at most people / 64 words or look-ups per value.
    """
    left = np.zeros(len(known), np.int64)
    values = np.empty(known.shape[1], np.int64)
    for d in range(len(known)):
        values[:] = known[d]
        count = _rarest_first(lists, values)
        if count == 0:
            continue
        first, end = lists.start[values[0]], lists.start[values[0] + 1]
        if count == 1:
            left[d] = end - first
        elif lists.row[values[0]] >= 0:
            left[d] = _common(lists, values, count)
        else:
            for e in range(first, end):
                still = True
                for i in range(1, count):
                    still = still and _holds(lists, values[i], lists.people[e])
                left[d] += still
    return left


@njit(cache=True, nogil=True)
def owned(lists: Lists, known: Longs, whose: Longs, own_start: Longs, own: Longs) -> Longs:
    """How many of the candidates are the person whose values are known.

    `own[own_start[u]:own_start[u+1]]` are the numbers under which person u is in the lists.
    """
    right = np.zeros(len(known), np.int64)
    for d in range(len(known)):
        for e in range(own_start[whose[d]], own_start[whose[d] + 1]):
            still = True
            for value in known[d]:
                still = still and (value < 0 or _holds(lists, value, own[e]))
            right[d] += still
    return right
