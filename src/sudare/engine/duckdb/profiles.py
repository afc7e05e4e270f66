"""One pass over the rows by a kernel: DuckDB's batches as 64-bit keys, columns as small codes, profiles from either."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.data import connection
from sudare.data.connection import connect, fresh_name, quote
from sudare.data.dataset import BATCH_ROWS, Dataset
from sudare.engine.coded import Coded, profile_of_table, profiles_of_codes
from sudare.engine.codes import MISSING_KEY, codes
from sudare.engine.counts import Counts
from sudare.engine.duckdb.sql import rows
from sudare.engine.kernels import risk as kernel
from sudare.engine.profile import Profile
from sudare.progress import stage

if TYPE_CHECKING:
    import pyarrow as pa

CODED_ROWS = 20_000_000  # beyond, jumping through the codes costs more than DuckDB's ordering
SMALL_NUMBERS = {"TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER"}

Ints = NDArray[np.int64]


def profiles(
    counts: Counts, subsets: Sequence[tuple[str, ...]], *, every_attacker: bool, memory: int | None = None
) -> list[Profile]:
    """The profile of every set of attributes, in the given order.

    If four bytes per cell fit into half the memory, the rows are coded and ordered here: this takes half the memory of
    DuckDB's ordering. Single attributes of larger tables are counted while DuckDB delivers the rows ordered, on disk if
    need be, and the tables of values are all that is kept; sets of them take a query each.
    """
    ds = counts.ds
    with connection.limited(memory):
        columns = list(dict.fromkeys(name for subset in subsets for name in subset))
        single = all(len(subset) == 1 for subset in subsets)
        fits = 2 * bytes_needed(ds, columns) <= connection.memory_limit()
        if fits and not (single and ds.rows > CODED_ROWS):
            return coded_profiles(ds, subsets, every_attacker)
        if single:
            return single_profiles(ds, columns, every_attacker)
        return [counts.profile(s, missing="value", every_attacker=every_attacker) for s in subsets]


def coded_profiles(ds: Dataset, subsets: Sequence[tuple[str, ...]], every_attacker: bool) -> list[Profile]:
    """The profiles of sets of attributes, with the rows as codes in memory."""
    columns = list(dict.fromkeys(name for subset in subsets for name in subset))
    found = profiles_of_codes(coded(ds, columns), subsets, every_attacker)
    return [found[subset] for subset in subsets]


def single_profiles(ds: Dataset, columns: list[str], every_attacker: bool) -> list[Profile]:
    """The profiles of single attributes, with DuckDB's ordering: memory for the values, not for the rows."""
    tables = [(kernel.new_table(kernel.WIDE if every_attacker else kernel.NARROW), 0) for _ in columns]
    users = 0
    stage("ordering rows by user")
    for owners, keys in _ordered(ds, columns):
        users = int(owners[-1]) if len(owners) else users
        tables = [kernel.count(table, used, key, owners) for (table, used), key in zip(tables, keys)]
    return [
        profile_of_table((name,), kernel.finish(table), users) for name, (table, _) in zip(columns, tables)
    ]


def _ordered(ds: Dataset, columns: Sequence[str]) -> Iterator[tuple[Ints, list[Ints]]]:
    """Batches of rows ordered by user: the users' running numbers from 1, and one array of 64-bit keys per column."""
    number, last = 0, 0
    for users, keys in key_batches(ds, columns, order=True):
        size = len(keys[0])
        if users is not None:
            numbers = np.empty(size, np.int64)
            number = kernel.owner_numbers(users, last, number, numbers)
            last = int(users[-1]) if size else last
        else:
            numbers = np.arange(number + 1, number + size + 1, dtype=np.int64)
            number += size
        yield numbers, keys


def coded(ds: Dataset, columns: Sequence[str]) -> Coded:
    """Read the table once, keep four bytes per cell, and bring the rows in the order of their users."""
    owners = np.arange(1, ds.rows + 1, dtype=np.int32)
    cells = {name: np.empty(ds.rows, np.int32) for name in columns}
    tables = {name: (kernel.new_table(2), 0) for name in columns}
    people, start = (kernel.new_table(2), 0), 0
    for users, keys in key_batches(ds, columns, order=False):
        stage("reading rows", start, ds.rows)
        end = start + len(keys[0])
        if users is not None:
            people = kernel.encode(*people, users, owners[start:end])
        for name, key in zip(columns, keys):
            tables[name] = kernel.encode(*tables[name], key, cells[name][start:end])
        start = end
    widths = {name: used for name, (_, used) in tables.items()}
    if ds.roles.user is None:
        return Coded(owners, cells, widths, ds.rows)
    order, ordered_owners = kernel.by_owner(owners, people[1])
    for name in columns:
        cells[name] = cells[name][order]
    return Coded(ordered_owners, cells, widths, people[1])


def bytes_needed(ds: Dataset, columns: Sequence[str]) -> int:
    """Roughly what the codes of the rows and the sets made from them take."""
    return ds.rows * 4 * (len(columns) + 6)


def coded_values(ds: Dataset, columns: Sequence[str], missing: str) -> tuple[Coded, dict[str, list[Any]]]:
    """The rows as codes ordered by user, and per column the values by code."""
    user = ds.roles.user
    wanted = list(dict.fromkeys([*([user] if user else []), *columns]))
    table = with_values(ds, columns, missing).to_pyarrow(wanted)
    matrix, values = codes(table, wanted)
    index = {name: number for number, name in enumerate(wanted)}
    owners = matrix[:, index[user]] if user else np.arange(table.num_rows, dtype=np.int32)
    order = np.argsort(owners, kind="stable")
    found = Coded(
        owners=(owners[order] + 1).astype(np.int32),
        codes={name: np.ascontiguousarray(matrix[order, index[name]]) for name in columns},
        widths={name: len(values[index[name]]) for name in columns},
        users=int(owners.max()) + 1 if len(owners) else 0,
    )
    return found, {name: values[index[name]].to_pylist() for name in columns}


def with_values(ds: Dataset, columns: Sequence[str], missing: str) -> Dataset:
    """The table without the records that lack a value, if these do not count."""
    if missing == "value":
        return ds
    view = fresh_name()
    connect().execute(f"CREATE TEMP VIEW {view} AS SELECT * {rows(ds, columns, missing)}")
    return replace(ds, view=view, parquet=())


def key_batches(
    ds: Dataset, columns: Sequence[str], *, order: bool
) -> Iterator[tuple[Ints | None, list[Ints]]]:
    """Batches of rows as 64-bit keys: of the user, if there is one, and of every column.

    Small integers are their own keys; everything else is hashed to 64 bits by DuckDB (two of a million different
    texts share a hash with a probability of 3e-8).
    """
    kinds = dict(zip(ds.columns, map(str, connect().table(str(ds.view)).types)))
    keys = [_key(name, kinds[name], SMALL_NUMBERS) for name in columns]
    user = ds.roles.user
    owner = [] if user is None else [_key(user, kinds[user], SMALL_NUMBERS | {"BIGINT"})]
    ending = " ORDER BY 1" if owner and order else ""
    selected = ", ".join(f"{text} AS k{index}" for index, text in enumerate([*owner, *keys]))
    query = f"SELECT {selected} FROM {quote(str(ds.view))}{ending}"
    for batch in connect().sql(query).to_arrow_reader(BATCH_ROWS):
        arrays = [_numbers(column) for column in batch.columns]
        yield (arrays[0] if owner else None), arrays[len(owner) :]


def _key(name: str, kind: str, own: set[str]) -> str:
    """A cell itself or its hash. Of a list or a struct the text is hashed: DuckDB gives an empty one null's hash."""
    if kind in own:
        return quote(name)
    nested = kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION"))
    return f"hash({quote(name)}::VARCHAR)" if nested else f"hash({quote(name)})"


def _numbers(column: pa.Array) -> Ints:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_uint64(column.type):
        return np.asarray(column).view(np.int64)
    if column.null_count:
        column = pc.fill_null(column.cast(pa.int64()), MISSING_KEY)
    return np.asarray(column).astype(np.int64, copy=False)
