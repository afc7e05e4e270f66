"""Counting who owns what in one pass over rows ordered by user.

With the rows of a user together, the number of users of a value needs only the last user seen with it, and the counts
of different users add up. `count` holds one table of values and forgets the rows; `encode` and `refine` keep small
codes of the rows, so that every set of attributes is measured from a smaller set: a record that is alone with its
values stays alone when more is known of it, and need not be looked at again.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

KEY, RECORDS, USERS, LAST, OWNED, SQUARES, LARGEST = range(7)
SMALL = 64  # values with up to so many records are counted in a dense histogram


@njit(cache=True, nogil=True)
def owner_numbers(users: Ints, last_user: int, last_number: int, out: Ints) -> int:
    """Number the users of ordered rows: the number grows by one where the user changes; returns the last."""
    for i in range(len(users)):
        if users[i] != last_user or last_number == 0:
            last_number += 1
            last_user = users[i]
        out[i] = last_number
    return last_number


@njit(cache=True, nogil=True)
def count(table: Ints, used: int, keys: Ints, owners: Ints) -> tuple[Ints, int]:
    """Add rows to a table of values; returns the table, larger if need be, and its number of values.

    A table has a power of two rows and the columns key, records, users, last user, and for the stronger attackers
    the last user's records, the sum of squares and the largest owner.
    """
    wide = table.shape[1] > 4
    for i in range(len(keys)):
        if 2 * used >= table.shape[0]:
            table = _grown(table)
        slot = _slot(table, keys[i])
        row = table[slot]
        if row[RECORDS] == 0:
            row[KEY] = keys[i]
            used += 1
        row[RECORDS] += 1
        if row[LAST] != owners[i]:
            if wide:
                _close(row)
                row[OWNED] = 0
            row[USERS] += 1
            row[LAST] = owners[i]
        if wide:
            row[OWNED] += 1
    return table, used


@njit(cache=True, nogil=True)
def finish(table: Ints) -> Ints:
    """The rows of a table that hold a value, their last owner closed."""
    used = 0
    for slot in range(table.shape[0]):
        used += table[slot, RECORDS] > 0
    out = np.empty((used, table.shape[1]), np.int64)
    place = 0
    for slot in range(table.shape[0]):
        if table[slot, RECORDS] > 0:
            out[place] = table[slot]
            if table.shape[1] > 4:
                _close(out[place])
            place += 1
    return out


@njit(cache=True, nogil=True)
def encode(table: Ints, used: int, keys: Ints, out: Codes) -> tuple[Ints, int]:
    """The code of every key, in order of first appearance; `table` holds key and code + 1."""
    for i in range(len(keys)):
        if 2 * used >= table.shape[0]:
            table = _grown(table)
        slot = _slot(table, keys[i])
        if table[slot, 1] == 0:
            used += 1
            table[slot, 0] = keys[i]
            table[slot, 1] = used
        out[i] = table[slot, 1] - 1
    return table, used


@njit(cache=True, nogil=True)
def count_codes(codes: Codes, owners: Codes, width: int, wide: bool) -> Ints:
    """The table of values of one coded column: row c counts code c."""
    table = np.zeros((width, 7 if wide else 4), np.int64)
    for i in range(len(codes)):
        row = table[codes[i]]
        row[RECORDS] += 1
        if row[LAST] != owners[i]:
            if wide:
                _close(row)
                row[OWNED] = 0
            row[USERS] += 1
            row[LAST] = owners[i]
        if wide:
            row[OWNED] += 1
    if wide:
        for c in range(width):
            _close(table[c])
    return table


@njit(cache=True, nogil=True)
def shared_rows(codes: Codes, table: Ints) -> tuple[Codes, Codes]:
    """The rows whose value has more than one record, and their codes."""
    kept = 0
    for i in range(len(codes)):
        kept += table[codes[i], RECORDS] > 1
    rows, ids = np.empty(kept, np.int32), np.empty(kept, np.int32)
    place = 0
    for i in range(len(codes)):
        if table[codes[i], RECORDS] > 1:
            rows[place] = i
            ids[place] = codes[i]
            place += 1
    return rows, ids


@njit(cache=True, nogil=True)
def refine(
    rows: Codes, ids: Codes, codes: Codes, width: int, owners: Codes, buckets: int, wide: bool, keep: bool
) -> tuple[Codes, Codes, Ints, Ints]:
    """Count the pairs (id, code) of the rows; returns the rows still shared, their new ids, and the counts.

    The rows are first spread over buckets by a hash of the pair, in order, so that the table of a bucket fits the
    cache; rows with the same pair stay together and ordered by user. Counts come as a dense histogram of small
    values (records x users) and a list of large ones: records, users, squares, largest. With `wide` all values are
    in the list.
    """
    place, key, row = _spread(rows, ids, codes, width, buckets)
    small = np.zeros((SMALL + 1, SMALL + 1), np.int64)
    large = np.empty((len(rows) + 1 if wide else len(rows) // SMALL + 1, 4), np.int64)
    out_rows = np.empty(len(rows) if keep else 0, np.int32)
    out_ids = np.empty(len(rows) if keep else 0, np.int32)
    listed, kept, fresh, biggest = 0, 0, 0, 1
    for b in range(buckets):
        biggest = max(biggest, place[b + 1] - place[b])
    capacity = 4
    while capacity < 2 * biggest:
        capacity *= 2
    slots = np.zeros(capacity, np.int32)
    local = np.empty(biggest, np.int32)
    found = np.empty(biggest, np.int64)
    table = np.empty((biggest, 7 if wide else 4), np.int64)
    for b in range(buckets):
        start, end = place[b], place[b + 1]
        size = 4
        while size < 2 * (end - start):
            size *= 2
        slots[:size] = 0
        used = 0
        for i in range(start, end):
            slot = (_mixed(key[i]) >> np.uint64(16)) & np.uint64(size - 1)
            while slots[slot] != 0 and found[slots[slot] - 1] != key[i]:
                slot = (slot + np.uint64(1)) & np.uint64(size - 1)
            if slots[slot] == 0:
                found[used] = key[i]
                table[used] = 0
                used += 1
                slots[slot] = used
            c = slots[slot] - 1
            local[i - start] = c
            entry = table[c]
            entry[RECORDS] += 1
            owner = owners[row[i]]
            if entry[LAST] != owner:
                if wide:
                    _close(entry)
                    entry[OWNED] = 0
                entry[USERS] += 1
                entry[LAST] = owner
            if wide:
                entry[OWNED] += 1
        for c in range(used):
            entry = table[c]
            if wide:
                _close(entry)
            if wide or entry[RECORDS] > SMALL:
                large[listed, 0] = entry[RECORDS]
                large[listed, 1] = entry[USERS]
                large[listed, 2] = entry[SQUARES] if wide else 0
                large[listed, 3] = entry[LARGEST] if wide else 0
                listed += 1
            else:
                small[entry[RECORDS], entry[USERS]] += 1
            if entry[RECORDS] > 1:
                entry[KEY] = fresh
                fresh += 1
        if keep:
            for i in range(start, end):
                entry = table[local[i - start]]
                if entry[RECORDS] > 1:
                    out_rows[kept] = row[i]
                    out_ids[kept] = entry[KEY]
                    kept += 1
    return out_rows[:kept].copy(), out_ids[:kept].copy(), small, large[:listed].copy()


@njit(cache=True, nogil=True)
def _spread(rows: Codes, ids: Codes, codes: Codes, width: int, buckets: int) -> tuple[Ints, Ints, Codes]:
    place = np.zeros(buckets + 1, np.int64)
    bucket = np.empty(len(rows), np.uint16)
    for i in range(len(rows)):
        pair = np.int64(ids[i]) * width + codes[rows[i]]
        bucket[i] = (_mixed(pair) >> np.uint64(40)) & np.uint64(buckets - 1)
        place[bucket[i] + 1] += 1
    for b in range(buckets):
        place[b + 1] += place[b]
    at = place[:-1].copy()
    key, row = np.empty(len(rows), np.int64), np.empty(len(rows), np.int32)
    for i in range(len(rows)):
        to = at[bucket[i]]
        at[bucket[i]] += 1
        key[to] = np.int64(ids[i]) * width + codes[rows[i]]
        row[to] = rows[i]
    return place, key, row


@njit(cache=True, nogil=True)
def _close(row: Ints) -> None:
    row[SQUARES] += row[OWNED] * row[OWNED]
    row[LARGEST] = max(row[LARGEST], row[OWNED])


@njit(cache=True, nogil=True)
def _slot(table: Ints, key: int) -> int:
    """Where the key is, or the empty row where it belongs; column 1 is 0 in an empty row."""
    mask = np.uint64(table.shape[0] - 1)
    slot = _mixed(key) & mask
    while table[slot, 1] != 0 and table[slot, 0] != key:
        slot = (slot + np.uint64(1)) & mask
    return np.int64(slot)


@njit(cache=True, nogil=True)
def _grown(table: Ints) -> Ints:
    larger = np.zeros((2 * table.shape[0], table.shape[1]), np.int64)
    for old in range(table.shape[0]):
        if table[old, 1] != 0:
            larger[_slot(larger, table[old, 0])] = table[old]
    return larger


@njit(cache=True, nogil=True, inline="always")
def _mixed(key: int) -> np.uint64:
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(32))
