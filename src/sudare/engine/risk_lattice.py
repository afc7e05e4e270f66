"""Profiles of many sets of attributes from one ordering: each set is measured from a smaller one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudare.data.dataset import Dataset
from sudare.engine.kernels import risk as kernel
from sudare.engine.risk_profile import Profile
from sudare.engine.risk_stream import START, histogram, key_batches, profile_of_table
from sudare.progress import stage

BUCKET_ROWS = 32_768
MOST_BUCKETS = 1024

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Coded:
    """The rows of a table ordered by user: the owners' numbers and, per column, small codes."""

    owners: Codes
    codes: dict[str, Codes]
    widths: dict[str, int]
    users: int


@dataclass(frozen=True)
class _Shared:
    """The rows that share their values with another record, and the number of their value."""

    rows: Codes
    ids: Codes


def lattice_profiles(ds: Dataset, subsets: Sequence[tuple[str, ...]], every_attacker: bool) -> list[Profile]:
    """The profile of every set of attributes, in the given order."""
    columns = list(dict.fromkeys(name for subset in subsets for name in subset))
    found = profiles_of_codes(coded(ds, columns), subsets, every_attacker)
    return [found[subset] for subset in subsets]


def bytes_needed(ds: Dataset, columns: Sequence[str]) -> int:
    """Roughly what the codes of the rows and the sets made from them take."""
    return ds.rows * 4 * (len(columns) + 6)


def coded(ds: Dataset, columns: Sequence[str]) -> Coded:
    """Read the table once, keep four bytes per cell, and bring the rows in the order of their users."""
    rows = ds.rows
    owners = np.arange(1, rows + 1, dtype=np.int32)
    codes = {name: np.empty(rows, np.int32) for name in columns}
    tables = {name: (np.zeros((START, 2), np.int64), 0) for name in columns}
    people, start = (np.zeros((START, 2), np.int64), 0), 0
    for users, keys in key_batches(ds, columns, order=False):
        stage("reading rows", start, rows)
        end = start + len(keys[0])
        if users is not None:
            people = kernel.encode(*people, users, owners[start:end])
        for name, key in zip(columns, keys):
            tables[name] = kernel.encode(*tables[name], key, codes[name][start:end])
        start = end
    widths = {name: used for name, (_, used) in tables.items()}
    if ds.roles.user is None:
        return Coded(owners, codes, widths, rows)
    order, ordered_owners = kernel.by_owner(owners, people[1])
    for name in columns:
        codes[name] = codes[name][order]
    return Coded(ordered_owners, codes, widths, people[1])


def profiles_of_codes(
    data: Coded, subsets: Sequence[tuple[str, ...]], every_attacker: bool
) -> dict[tuple[str, ...], Profile]:
    """Walk the sets depth first, the column with most values first: most records are alone early on."""
    rank = {name: place for place, name in enumerate(sorted(data.widths, key=lambda n: -data.widths[n]))}
    wanted = {tuple(sorted(subset, key=rank.__getitem__)): subset for subset in subsets}
    below: dict[tuple[str, ...], list[str]] = {}
    for part in dict.fromkeys(path[:length] for path in wanted for length in range(1, len(path) + 1)):
        below.setdefault(part[:-1], []).append(part[-1])
    found: dict[tuple[str, ...], Profile] = {}

    def walk(path: tuple[str, ...], parent: _Shared, alone: int) -> None:
        for child in [(*path, name) for name in sorted(below[path], key=rank.__getitem__)]:
            stage("risk of sets of attributes", len(found), len(wanted))
            deeper = child in below
            profile, shared = _refined(data, parent, alone, child, every_attacker, deeper)
            if child in wanted:
                found[wanted[child]] = _named(profile, wanted[child])
            if deeper:
                walk(child, shared, len(data.owners) - len(shared.rows))

    for first in sorted(below[()], key=rank.__getitem__):
        table = kernel.count_codes(data.codes[first], data.owners, data.widths[first], every_attacker)
        if (first,) in wanted:
            found[(first,)] = profile_of_table((first,), table, data.users)
        if (first,) in below:
            shared = _Shared(*kernel.shared_rows(data.codes[first], table))
            walk((first,), shared, len(data.owners) - len(shared.rows))
    return found


def _refined(
    data: Coded, parent: _Shared, alone: int, path: tuple[str, ...], every_attacker: bool, keep: bool
) -> tuple[Profile, _Shared]:
    buckets = 1
    while buckets < MOST_BUCKETS and buckets * BUCKET_ROWS < len(parent.rows):
        buckets *= 2
    name = path[-1]
    rows, ids, small, large = kernel.refine(
        parent.rows,
        parent.ids,
        data.codes[name],
        data.widths[name],
        data.owners,
        buckets,
        every_attacker,
        keep,
    )
    pairs = [(int(r), int(u), int(small[r, u])) for r, u in np.argwhere(small)]
    pairs += [*histogram(large[:, [0, 1]]), *([(1, 1, alone)] if alone else [])]
    squares, largest = None, None
    if every_attacker:
        squares = [*histogram(large[:, [0, 2]]), *([(1, 1, alone)] if alone else [])]
        largest = int(large[:, 3].sum()) + alone
    profile = Profile.of(pairs, attributes=path, squares=squares, largest=largest, users=data.users)
    return profile, _Shared(rows, ids)


def _named(profile: Profile, attributes: tuple[str, ...]) -> Profile:
    from dataclasses import replace

    return replace(profile, attributes=attributes)
