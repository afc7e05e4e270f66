"""Counting the users that two values have in common, and the guesses that remain in a release."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sudare.engine.kernels.risk import _mixed

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


@njit(cache=True, nogil=True)
def owned_values(owners: Codes, codes: Codes) -> tuple[Ints, Codes, Codes]:
    """Of rows ordered by owner: where each owner's different values start, the values, and their records."""
    users = owners[-1] if len(owners) else 0
    start = np.zeros(users + 1, np.int64)
    values, records = np.empty(len(codes), np.int32), np.empty(len(codes), np.int32)
    place, row = 0, 0
    for user in range(users):
        end = row
        while end < len(owners) and owners[end] == user + 1:
            end += 1
        mine = np.sort(codes[row:end])
        for i in range(len(mine)):
            if i > 0 and mine[i] == mine[i - 1]:
                records[place - 1] += 1
            else:
                values[place] = mine[i]
                records[place] = 1
                place += 1
        row = end
        start[user + 1] = place
    return start, values[:place].copy(), records[:place].copy()


@njit(cache=True, nogil=True)
def pairs_of(a_start: Ints, a_values: Codes, b_start: Ints, parts: int, part: int) -> int:
    """How many pairs of an own A-value and an own B-value there are, over all users, in one part of the A-values."""
    total = 0
    for user in range(len(a_start) - 1):
        mine = 0
        for i in range(a_start[user], a_start[user + 1]):
            mine += a_values[i] % parts == part
        total += mine * (b_start[user + 1] - b_start[user])
    return total


@njit(cache=True, nogil=True)
def cross_part(
    a_start: Ints,
    a_values: Codes,
    a_records: Codes,
    b_start: Ints,
    b_values: Codes,
    b_records: Codes,
    width: int,
    capacity: int,
    parts: int,
    part: int,
) -> tuple[float, int]:
    """Sum over users of the mean of 1/|U_a & U_b| times their records, for one part of the A-values.

    The first pass counts the users of every pair (a, b), the second weighs the pairs of every user by the records
    behind them. Returns the sum and the number of different pairs.
    """
    mask = np.uint64(capacity - 1)
    keys, users = np.empty(capacity, np.int64), np.zeros(capacity, np.int32)
    different, total = 0, 0.0
    for turn in range(2):
        for user in range(len(a_start) - 1):
            mine = 0
            for i in range(a_start[user], a_start[user + 1]):
                mine += a_records[i]
            subtotal = 0.0
            for i in range(a_start[user], a_start[user + 1]):
                if a_values[i] % parts != part:
                    continue
                for j in range(b_start[user], b_start[user + 1]):
                    key = np.int64(a_values[i]) * width + b_values[j]
                    slot = _mixed(key) & mask
                    while users[slot] != 0 and keys[slot] != key:
                        slot = (slot + np.uint64(1)) & mask
                    if turn == 0:
                        different += users[slot] == 0
                        keys[slot] = key
                        users[slot] += 1
                    else:
                        subtotal += a_records[i] * np.float64(b_records[j]) / users[slot]
            total += subtotal / mine
    return total, different


@njit(cache=True, nogil=True)
def consistent(
    true: Ints, shown: Ints, near_start: Ints, near: Ints, holder_start: Ints, holders: Ints
) -> tuple[Ints, Ints]:
    """Per true vector the published vectors that are near in every column: where each list starts, and the lists.

    `near` lists, per column and true value, the published values near it, ascending; `holders`, per column and
    published value, the published vectors with it. A vector is looked up by the column that leaves the fewest.
    """
    columns, values = near_start.shape[0], near_start.shape[1] - 1
    costs = np.zeros((columns, values), np.int64)
    for c in range(columns):
        for value in range(values):
            for i in range(near_start[c, value], near_start[c, value + 1]):
                costs[c, value] += holder_start[c, near[i] + 1] - holder_start[c, near[i]]
    starts, found, size = np.zeros(len(true) + 1, np.int64), np.empty(1024, np.int64), 0
    for row in range(len(true)):
        by = 0
        for c in range(columns):
            by = c if costs[c, true[row, c]] < costs[by, true[row, by]] else by
        while size + costs[by, true[row, by]] > len(found):
            found = np.concatenate((found, found))
        for i in range(near_start[by, true[row, by]], near_start[by, true[row, by] + 1]):
            for j in range(holder_start[by, near[i]], holder_start[by, near[i] + 1]):
                found[size] = holders[j]
                size += _near_everywhere(true[row], shown[holders[j]], near_start, near)
        found[starts[row] : size] = np.sort(found[starts[row] : size])
        starts[row + 1] = size
    return starts, found[:size]


@njit(cache=True, nogil=True)
def _near_everywhere(true: Ints, shown: Ints, near_start: Ints, near: Ints) -> bool:
    for c in range(len(true)):
        end = near_start[c, true[c] + 1]
        place = near_start[c, true[c]] + np.searchsorted(near[near_start[c, true[c]] : end], shown[c])
        if place == end or near[place] != shown[c]:
            return False
    return True


@njit(cache=True, nogil=True)
def hits(
    near_start: Ints,
    near: Ints,
    holder_start: Ints,
    holders: Ints,
    owner: Ints,
    known_start: Ints,
    known_users: Ints,
    known_records: Ints,
    users: int,
) -> float:
    """Expected right guesses of attackers who know a true value and match it with the published ones.

    For every group of original values: `near` lists the published values consistent with it, `holders` the published
    people of each published value, `owner` the true user of each published person (-1: nobody), and `known` the users
    and numbers of the original records.
    """
    seen = np.full(len(owner), -1, np.int64)
    stamp, mine = np.full(users, -1, np.int64), np.zeros(users, np.int64)
    total = 0.0
    for group in range(len(near_start) - 1):
        candidates = 0
        for i in range(near_start[group], near_start[group + 1]):
            for j in range(holder_start[near[i]], holder_start[near[i] + 1]):
                person = holders[j]
                if seen[person] != group:
                    seen[person] = group
                    candidates += 1
                    user = owner[person]
                    if user >= 0:
                        if stamp[user] != group:
                            stamp[user] = group
                            mine[user] = 0
                        mine[user] += 1
        for i in range(known_start[group], known_start[group + 1]):
            if candidates and stamp[known_users[i]] == group:
                total += known_records[i] * mine[known_users[i]] / candidates
    return total
