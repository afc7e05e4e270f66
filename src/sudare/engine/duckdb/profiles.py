"""Profiles by the single-pass kernel: DuckDB delivers the rows once, for every set of attributes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sudare.data import connection
from sudare.data.dataset import Dataset
from sudare.engine.attribute_sets import profile_of_table, profiles_of_codes
from sudare.engine.duckdb.coded import bytes_needed, coded, key_batches
from sudare.engine.duckdb.values import Values
from sudare.engine.kernels import risk as kernel
from sudare.engine.profile import Profile
from sudare.progress import stage

CODED_ROWS = 20_000_000  # beyond, jumping through the codes costs more than DuckDB's ordering

Ints = NDArray[np.int64]


def profiles(
    counts: Values, subsets: Sequence[tuple[str, ...]], *, every_attacker: bool, memory: int | None = None
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
        rows = len(keys[0])
        if users is not None:
            numbers = np.empty(rows, np.int64)
            number = kernel.owner_numbers(users, last, number, numbers)
            last = int(users[-1]) if rows else last
        else:
            numbers = np.arange(number + 1, number + rows + 1, dtype=np.int64)
            number += rows
        yield numbers, keys
