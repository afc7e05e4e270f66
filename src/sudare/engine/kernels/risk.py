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
NARROW, WIDE = 4, 7  # columns of a table of values: for the uniform attacker, for all of them
START = 1024
SMALL = 64  # values with up to so many records are counted in a dense histogram


def new_table(columns: int) -> Ints:
    """An empty table; it grows where it is filled."""
    return np.zeros((START, columns), np.int64)


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
    done = 0
    while True:
        if table.shape[1] > 4:
            used, done = _count_wide(table, used, keys, owners, done)
        else:
            used, done = _count(table, used, keys, owners, done)
        if done == len(keys):
            return table, used
        table = _grown(table)


@njit(cache=True, nogil=True)
def _count(table: Ints, used: int, keys: Ints, owners: Ints, start: int) -> tuple[int, int]:
    """Count until the table is half full. Cells are addressed one by one: a view of a row costs more than the rest."""
    half, mask = table.shape[0] // 2, np.uint64(table.shape[0] - 1)
    for i in range(start, len(keys)):
        key = keys[i]
        slot = _mixed(key) & mask
        while table[slot, RECORDS] != 0 and table[slot, KEY] != key:
            slot = (slot + np.uint64(1)) & mask
        if table[slot, RECORDS] == 0:
            if used == half:
                return used, i
            table[slot, KEY] = key
            used += 1
        table[slot, RECORDS] += 1
        if table[slot, LAST] != owners[i]:
            table[slot, USERS] += 1
            table[slot, LAST] = owners[i]
    return used, len(keys)


@njit(cache=True, nogil=True)
def _count_wide(table: Ints, used: int, keys: Ints, owners: Ints, start: int) -> tuple[int, int]:
    half = table.shape[0] // 2
    for i in range(start, len(keys)):
        slot = _slot(table, keys[i])
        if table[slot, RECORDS] == 0:
            if used == half:
                return used, i
            table[slot, KEY] = keys[i]
            used += 1
        _own(table, slot, owners[i], True)
    return used, len(keys)


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
            for column in range(table.shape[1]):
                out[place, column] = table[slot, column]
            if table.shape[1] > 4:
                _close(out, place)
            place += 1
    return out


@njit(cache=True, nogil=True)
def encode(table: Ints, used: int, keys: Ints, out: Codes) -> tuple[Ints, int]:
    """The code of every key, in order of first appearance; `table` holds key and code + 1."""
    done = 0
    while True:
        used, done = _encode(table, used, keys, out, done)
        if done == len(keys):
            return table, used
        table = _grown(table)


@njit(cache=True, nogil=True)
def _encode(table: Ints, used: int, keys: Ints, out: Codes, start: int) -> tuple[int, int]:
    half = table.shape[0] // 2
    for i in range(start, len(keys)):
        slot = _slot(table, keys[i])
        if table[slot, 1] == 0:
            if used == half:
                return used, i
            used += 1
            table[slot, 0] = keys[i]
            table[slot, 1] = used
        out[i] = table[slot, 1] - 1
    return used, len(keys)


@njit(cache=True, nogil=True)
def by_owner(owners: Codes, people: int) -> tuple[Codes, Codes]:
    """The rows in the order of their owners (codes from 0), and the owners in that order, numbered from 1."""
    place = np.zeros(people + 1, np.int64)
    for i in range(len(owners)):
        place[owners[i] + 1] += 1
    for u in range(people):
        place[u + 1] += place[u]
    order, ordered = np.empty(len(owners), np.int32), np.empty(len(owners), np.int32)
    for i in range(len(owners)):
        to = place[owners[i]]
        place[owners[i]] += 1
        order[to] = i
        ordered[to] = owners[i] + 1
    return order, ordered


@njit(cache=True, nogil=True)
def count_codes(codes: Codes, owners: Codes, width: int, wide: bool) -> Ints:
    """The table of values of one coded column: row c counts code c."""
    table = np.zeros((width, 7 if wide else 4), np.int64)
    for i in range(len(codes)):
        _own(table, codes[i], owners[i], wide)
    if wide:
        for c in range(width):
            _close(table, c)
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
                for column in range(table.shape[1]):
                    table[used, column] = 0
                used += 1
                slots[slot] = used
            c = slots[slot] - 1
            local[i - start] = c
            _own(table, c, owners[row[i]], wide)
        for c in range(used):
            if wide:
                _close(table, c)
            if wide or table[c, RECORDS] > SMALL:
                large[listed, 0] = table[c, RECORDS]
                large[listed, 1] = table[c, USERS]
                large[listed, 2] = table[c, SQUARES] if wide else 0
                large[listed, 3] = table[c, LARGEST] if wide else 0
                listed += 1
            else:
                small[table[c, RECORDS], table[c, USERS]] += 1
            if table[c, RECORDS] > 1:
                table[c, KEY] = fresh
                fresh += 1
        if keep:
            for i in range(start, end):
                if table[local[i - start], RECORDS] > 1:
                    out_rows[kept] = row[i]
                    out_ids[kept] = table[local[i - start], KEY]
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
def _own(table: Ints, slot: int, owner: int, wide: bool) -> None:
    """One more record of the owner with the value of this row."""
    table[slot, RECORDS] += 1
    if table[slot, LAST] != owner:
        if wide:
            _close(table, slot)
            table[slot, OWNED] = 0
        table[slot, USERS] += 1
        table[slot, LAST] = owner
    if wide:
        table[slot, OWNED] += 1


@njit(cache=True, nogil=True)
def _close(table: Ints, slot: int) -> None:
    table[slot, SQUARES] += table[slot, OWNED] * table[slot, OWNED]
    table[slot, LARGEST] = max(table[slot, LARGEST], table[slot, OWNED])


@njit(cache=True, nogil=True)
def _slot(table: Ints, key: int) -> np.int64:
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
            slot = _slot(larger, table[old, 0])
            for column in range(table.shape[1]):
                larger[slot, column] = table[old, column]
    return larger


@njit(cache=True, nogil=True)
def _mixed(key: int) -> np.uint64:
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(32))
