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
from sudare.progress import stage

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 131_072
START = 1024
CODED_ROWS = 20_000_000  # beyond, jumping through the codes costs more than DuckDB's ordering
NULL = 1 << 40  # no 32-bit number
NARROW = {"TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER"}

Ints = NDArray[np.int64]


def profiles(
    ds: Dataset, subsets: Sequence[tuple[str, ...]], *, every_attacker: bool, memory: int | None = None
) -> list[Profile]:
    """The profile of every set of attributes, in the given order.

    If four bytes per cell fit into half the memory, the rows are coded and ordered here: this takes half the memory of
    DuckDB's ordering. Single attributes of larger tables are counted while DuckDB delivers the rows ordered, on disk if
    need be, and the tables of values are all that is kept.
    """
    from sudare.engine import risk_lattice, risk_sql

    with _limit(memory):
        columns = list(dict.fromkeys(name for subset in subsets for name in subset))
        single = all(len(subset) == 1 for subset in subsets)
        fits = 2 * risk_lattice.bytes_needed(ds, columns) <= memory_limit()
        if fits and not (single and ds.rows > CODED_ROWS):
            return risk_lattice.lattice_profiles(ds, subsets, every_attacker)
        if single:
            return single_profiles(ds, columns, every_attacker)
        return [risk_sql.profile(ds, s, missing="value", every_attacker=every_attacker) for s in subsets]


def ordered(ds: Dataset, columns: Sequence[str]) -> Iterator[tuple[Ints, list[Ints]]]:
    """Batches of rows ordered by user: the users' running numbers from 1, and one array of 64-bit keys per column."""
    number, last = 0, 0
    for users, keys in key_batches(ds, columns, order=True):
        rows = len(keys[0])
        if users is not None:
            numbers = np.empty(rows, np.int64)
            number = kernel.owner_numbers(users, last, number, numbers)
            last = int(users[-1]) if rows else last
        else:
            numbers = np.arange(number + 1, number + rows + 1, dtype=np.int64)
            number += rows
        yield numbers, keys


def key_batches(
    ds: Dataset, columns: Sequence[str], *, order: bool
) -> Iterator[tuple[Ints | None, list[Ints]]]:
    """Batches of rows as 64-bit keys: of the user, if there is one, and of every column.

    Small integers are their own keys; everything else is hashed to 64 bits by DuckDB (two of a million different
    texts share a hash with a probability of 3e-8).
    """
    kinds = dict(zip(ds.columns, map(str, connect().table(str(ds.view)).types)))
    keys = [_key(name, kinds[name]) for name in columns]
    user = ds.roles.user
    owner = []
    if user is not None:
        whole = kinds[user] in NARROW | {"BIGINT"}
        owner = [quote(user) if whole else hashed(user, kinds[user])]
    ending = " ORDER BY 1" if owner and order else ""
    selected = ", ".join(f"{text} AS k{place}" for place, text in enumerate([*owner, *keys]))
    reader = (
        connect().sql(f"SELECT {selected} FROM {quote(str(ds.view))}{ending}").to_arrow_reader(BATCH_ROWS)
    )
    for batch in reader:
        arrays = [_numbers(column) for column in batch.columns]
        yield (arrays[0] if owner else None), arrays[len(owner) :]


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


def single_profiles(ds: Dataset, columns: list[str], every_attacker: bool) -> list[Profile]:
    """The profiles of single attributes, with DuckDB's ordering: memory for the values, not for the rows."""
    width = 7 if every_attacker else 4
    tables: list[tuple[Any, int]] = [(np.zeros((START, width), np.int64), 0) for _ in columns]
    users = 0
    stage("ordering rows by user")
    for owners, keys in ordered(ds, columns):
        users = int(owners[-1]) if len(owners) else users
        tables = [kernel.count(table, used, key, owners) for (table, used), key in zip(tables, keys)]
    return [
        profile_of_table((name,), kernel.finish(table), users) for name, (table, _) in zip(columns, tables)
    ]


def _key(name: str, kind: str) -> str:
    return quote(name) if kind in NARROW else hashed(name, kind)


def hashed(name: str, kind: str) -> str:
    """The 64-bit hash of a column. Of a list or a struct the text is hashed: DuckDB gives an empty one null's hash."""
    nested = kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION"))
    return f"hash({quote(name)}::VARCHAR)" if nested else f"hash({quote(name)})"


def _numbers(column: pa.Array) -> Ints:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_uint64(column.type):
        return np.asarray(column).view(np.int64)
    if column.null_count:
        column = pc.fill_null(column.cast(pa.int64()), NULL)
    return np.asarray(column).astype(np.int64, copy=False)


def memory_limit() -> float:
    """What DuckDB may take, in bytes."""
    text = str(connect().sql("SELECT current_setting('memory_limit')").fetchall()[0][0])
    number, _, unit = text.partition(" ")
    powers = {"bytes": 0, "KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40}
    return float(number) * float(1 << powers.get(unit, 0))


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
