"""Which record is which: 128 bits from the values that identify it, the same in every release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sudare.data.roles import Roles
from sudare.keys.draws import Words, words
from sudare.keys.key import Key

if TYPE_CHECKING:
    import pyarrow as pa


def record_ids(table: pa.Table, roles: Roles, key: Key) -> Words:
    """128 bits per record that stay the same in every release under the same key.

    Where record columns are declared, a record is known by its person and these, whatever else changes. Where none
    are, one whose user and identifier columns occur once is known by them; one that shares them, or a table that has
    none, adds the record's content, which is another one in a release with other columns. Records that are equal in
    all this are told apart by their occurrence number.
    """
    owner, content = identity(table.column_names, roles)
    if not owner:
        return number_equal(hash_columns(table, content, key), key)
    ids = hash_columns(table, owner, key)
    shared = shared_ids(ids)
    if shared.any():
        ids[shared] = number_equal(hash_columns(table.filter(shared), content, key), key)
    return ids


def person_ids(table: pa.Table, roles: Roles, key: Key) -> Words:
    """128 bits per record that are those of its person: equal for all records of one; of a table without people, of
    its content.
    """
    return hash_columns(table, person_columns(roles) or identity(table.column_names, roles)[1], key)


def identity(columns: Sequence[str], roles: Roles) -> tuple[list[str], list[str]]:
    """The columns that name a record where they occur once, and those that tell apart records that share them.

    Declared record columns are part of the name, and then nothing else tells records apart.
    """
    person = person_columns(roles)
    if roles.record:
        named = [*person, *roles.record]
        return named, named
    return person, [*person, *sorted(columns)]


def person_columns(roles: Roles) -> list[str]:
    """The columns that name the person of a record."""
    return [c for c in (roles.user, *roles.identifier) if c is not None]


def hash_column(column: pa.ChunkedArray, key: Key, purpose: str = "record") -> Words:
    """The keyed 128-bit hash of every value, of its text form: equal text, equal hash, in any file format."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from sudare.keys import siphash

    k0, k1 = np.frombuffer(key.subkey(purpose, "siphash")[:16], dtype="<u8")
    out = np.empty((len(column), 2), dtype=np.uint64)
    start = 0
    for chunk in column.chunks:
        part = out[start : start + len(chunk)]
        start += len(chunk)
        valid = np.asarray(pc.is_valid(chunk))
        if pa.types.is_integer(chunk.type) and not pa.types.is_uint64(chunk.type):
            numbers = np.asarray(pc.fill_null(chunk, 0).cast(pa.int64()))
            siphash.hash_integers(k0, k1, numbers, valid, part)
        else:
            data, offsets = _text_buffers(chunk)
            siphash.hash_bytes(k0, k1, data, offsets, valid, part)
    return out


def _text_buffers(chunk: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    import pyarrow as pa

    if pa.types.is_list(chunk.type) or pa.types.is_large_list(chunk.type) or pa.types.is_struct(chunk.type):
        chunk = pa.array([None if v is None else repr(v) for v in chunk.to_pylist()], pa.large_string())
    if pa.types.is_timestamp(chunk.type):  # one unit and one zone, whatever the engine keeps
        chunk = chunk.cast(pa.timestamp("us", tz="UTC" if chunk.type.tz else None), safe=False)
    text = chunk.cast(pa.large_string())
    _, offsets, data = text.buffers()
    place = np.frombuffer(offsets, dtype=np.int64)[text.offset : text.offset + len(text) + 1]
    return np.frombuffer(data or b"\0", dtype=np.uint8), place


def hash_columns(table: pa.Table, columns: list[str], key: Key) -> Words:
    """One id per row from several columns: the hash of the columns' hashes."""
    parts = [hash_column(table[name], key) for name in columns]
    if len(parts) == 1:
        return parts[0]
    from sudare.keys import siphash

    rows, width = len(parts[0]), 16 * len(parts)
    joined = np.ascontiguousarray(np.stack(parts, axis=1)).view(np.uint8).reshape(-1)
    k0, k1 = np.frombuffer(key.subkey("record", "row")[:16], dtype="<u8")
    out = np.empty((rows, 2), dtype=np.uint64)
    offsets = np.arange(rows + 1, dtype=np.int64) * width
    siphash.hash_bytes(k0, k1, joined, offsets, np.ones(rows, dtype=np.bool_), out)
    return out


def shared_ids(ids: Words) -> NDArray[np.bool_]:
    """Which ids occur more than once. Sorting one word is fast; the second is looked at only where it must be."""
    words_in_order = np.sort(ids[:, 0])
    repeated = words_in_order[1:][words_in_order[1:] == words_in_order[:-1]]
    suspects = np.flatnonzero(np.isin(ids[:, 0], repeated)) if len(repeated) else np.empty(0, dtype=np.int64)
    by_id = suspects[np.lexsort((ids[suspects, 1], ids[suspects, 0]))]
    same = (ids[by_id[1:]] == ids[by_id[:-1]]).all(axis=1)
    shared = np.zeros(len(ids), dtype=np.bool_)
    shared[by_id[1:][same]] = True
    shared[by_id[:-1][same]] = True
    return shared


def number_equal(ids: Words, key: Key) -> Words:
    """Tell equal ids apart by their occurrence number."""
    equal = np.flatnonzero(shared_ids(ids))
    by_id = equal[np.lexsort((ids[equal, 1], ids[equal, 0]))]
    fresh = np.ones(len(by_id), dtype=np.bool_)
    fresh[1:] = (ids[by_id[1:]] != ids[by_id[:-1]]).any(axis=1)
    first = np.maximum.accumulate(np.where(fresh, np.arange(len(by_id)), 0))
    ids[by_id] = occurrences(ids[by_id], np.arange(len(by_id)) - first, key)
    return ids


def occurrences(ids: Words, number: NDArray[np.int64], key: Key) -> Words:
    """The ids of equal records by how many of them come before: the first keeps its own."""
    marked = ids.copy()
    marked[:, 0] ^= number.astype(np.uint64)
    return np.where((number > 0)[:, None], words(key, "occurrence", "", marked, 2), ids)
