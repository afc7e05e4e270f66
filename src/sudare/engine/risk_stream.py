"""Profiles by the single-pass kernel: DuckDB orders the rows by user once, for every set of attributes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.connection import connect, literal, quote
from sudare.data.dataset import Dataset
from sudare.engine.kernels import risk as kernel
from sudare.engine.risk_profile import Profile

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 131_072
START = 1024
NULL = 1 << 40  # no 32-bit number
NARROW = {"TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER"}

Ints = NDArray[np.int64]


def profiles(
    ds: Dataset, subsets: Sequence[tuple[str, ...]], *, every_attacker: bool, memory: int | None = None
) -> list[Profile]:
    """The profile of every set of attributes, in the given order."""
    with _limit(memory):
        if all(len(subset) == 1 for subset in subsets):
            return _single(ds, [subset[0] for subset in subsets], every_attacker)
        from sudare.engine.risk_lattice import lattice_profiles

        return lattice_profiles(ds, subsets, every_attacker)


def ordered(ds: Dataset, columns: Sequence[str]) -> Iterator[tuple[Ints, list[Ints]]]:
    """Batches of rows ordered by user: the users' running numbers from 1, and one array of 64-bit keys per column.

    Small integers are their own keys; everything else is hashed to 64 bits by DuckDB (two of a million different
    texts share a hash with a probability of 3e-8).
    """
    kinds = dict(zip(ds.columns, map(str, connect().table(str(ds.view)).types)))
    keys = [_key(name, kinds[name]) for name in columns]
    user = ds.roles.user
    owner = (
        []
        if user is None
        else [quote(user) if kinds[user] in NARROW | {"BIGINT"} else f"hash({quote(user)})"]
    )
    order = " ORDER BY 1" if owner else ""
    selected = ", ".join(f"{text} AS k{place}" for place, text in enumerate([*owner, *keys]))
    reader = connect().sql(f"SELECT {selected} FROM {quote(str(ds.view))}{order}").to_arrow_reader(BATCH_ROWS)
    number, last = 0, 0
    for batch in reader:
        arrays = [_numbers(column) for column in batch.columns]
        if owner:
            numbers = np.empty(batch.num_rows, np.int64)
            number = kernel.owner_numbers(arrays[0], last, number, numbers)
            last = int(arrays[0][-1]) if batch.num_rows else last
        else:
            numbers = np.arange(number + 1, number + batch.num_rows + 1, dtype=np.int64)
            number += batch.num_rows
        yield numbers, arrays[len(owner) :]


def profile_of_table(attribute: tuple[str, ...], table: Ints, users: int) -> Profile:
    """The profile of a finished table of values (columns as in the kernel)."""
    pairs = histogram(table[:, [kernel.RECORDS, kernel.USERS]])
    if table.shape[1] == 4:
        return Profile.of(pairs, attributes=attribute, users=users)
    return Profile.of(
        pairs,
        attributes=attribute,
        users=users,
        squares=histogram(table[:, [kernel.RECORDS, kernel.SQUARES]]),
        largest=int(table[:, kernel.LARGEST].sum()),
    )


def histogram(pairs: Ints) -> list[tuple[int, int, int]]:
    """How often each pair of numbers occurs.

    >>> histogram(np.array([[1, 1], [2, 1], [1, 1]]))
    [(1, 1, 2), (2, 1, 1)]
    """
    if len(pairs) == 0:
        return []
    width = int(pairs[:, 1].max()) + 1
    if int(pairs[:, 0].max()) >= (1 << 62) // width:
        found, counts = np.unique(pairs, axis=0, return_counts=True)
    else:
        single, counts = np.unique(pairs[:, 0] * width + pairs[:, 1], return_counts=True)
        found = np.stack([single // width, single % width], axis=1)
    return [(int(a), int(b), int(n)) for (a, b), n in zip(found.tolist(), counts.tolist())]


def _single(ds: Dataset, columns: list[str], every_attacker: bool) -> list[Profile]:
    width = 7 if every_attacker else 4
    tables: list[tuple[Any, int]] = [(np.zeros((START, width), np.int64), 0) for _ in columns]
    users = 0
    for owners, keys in ordered(ds, columns):
        users = int(owners[-1]) if len(owners) else users
        tables = [kernel.count(table, used, key, owners) for (table, used), key in zip(tables, keys)]
    return [
        profile_of_table((name,), kernel.finish(table), users) for name, (table, _) in zip(columns, tables)
    ]


def _key(name: str, kind: str) -> str:
    return quote(name) if kind in NARROW else f"hash({quote(name)})"


def _numbers(column: pa.Array) -> Ints:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_uint64(column.type):
        return np.asarray(column).view(np.int64)
    if column.null_count:
        column = pc.fill_null(column.cast(pa.int64()), NULL)
    return np.asarray(column).astype(np.int64, copy=False)


@contextmanager
def _limit(memory: int | None) -> Iterator[None]:
    """DuckDB's memory limit for a while; what does not fit goes to its private folder."""
    if memory is None:
        yield
        return
    connect().execute(f"SET memory_limit = '{int(memory)}B'")
    try:
        yield
    finally:
        usual = os.environ.get("SUDARE_MEMORY")
        connect().execute(f"SET memory_limit = {literal(usual)}" if usual else "RESET memory_limit")
