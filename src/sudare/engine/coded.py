"""What is computed from everybody's values as small codes: profiles of sets, knowledge of other records or blurred."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sudare.engine.kernels import risk as kernel
from sudare.engine.kernels import risk_blur, risk_cross
from sudare.engine.profile import Profile
from sudare.progress import stage

PAIRS_AT_ONCE = 1 << 25
BUCKET_ROWS = 32_768
MOST_BUCKETS = 1024

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Coded:
    """The rows of a table ordered by user: the owners' numbers and, per column, small codes."""

    owners: Codes
    codes: dict[str, Codes]
    widths: dict[str, int]
    users: int


@dataclass(frozen=True)
class Cross:
    """R_cross of two attributes, and over how many records, users and pairs of values."""

    risk: float = 0.0
    records: int = 0
    users: int = 0
    values: int = 0


def cross_of_codes(data: Coded, first: str, second: str, pairs_at_once: int = PAIRS_AT_ONCE) -> Cross:
    """Sum over users of (|R_u|/m) times the mean over their pairs of records of 1/|U_a & U_b|.

    The pairs of values are counted in parts when there are more than `pairs_at_once`: memory stays bounded.
    """
    a = risk_cross.owned_values(data.owners, data.codes[first])
    b = risk_cross.owned_values(data.owners, data.codes[second])
    parts = 1 + risk_cross.pairs_of(a[0], a[1], b[0], 1, 0) // pairs_at_once
    total, different = 0.0, 0
    for part in range(parts):
        capacity = 16
        while capacity < 2 * risk_cross.pairs_of(a[0], a[1], b[0], parts, part):
            capacity *= 2
        partial, count = risk_cross.cross_part(*a, *b, data.widths[second], capacity, parts, part)
        total, different = total + partial, different + count
    records = len(data.owners)
    return Cross(total / records, records, data.users, different)


def ranged_risk(data: Coded, attribute: str, low: Ints, high: Ints, seen: int) -> float:
    """R_K = (1/m) sum over records of the mean over the things z seen of x of 1/|C(z)|; never above R."""
    start, values, _ = risk_cross.owned_values(data.owners, data.codes[attribute])
    size = risk_blur.candidates(start, values, low, high, seen)
    inverse = np.divide(1.0, size, out=np.zeros(seen), where=size > 0)
    total = np.concatenate([[0.0], np.cumsum(inverse)])
    records = np.bincount(data.codes[attribute], minlength=len(low))
    mean = (total[high] - total[low]) / (high - low)
    return math.fsum((records * mean).tolist()) / len(data.owners)


def lucky_of_codes(data: Coded, attribute: str) -> float:
    """Sum over users and their values of their records with other values over the owners of the value."""
    start, values, owned = risk_cross.owned_values(data.owners, data.codes[attribute])
    users = np.bincount(values, minlength=data.widths[attribute])
    holder = np.repeat(np.arange(len(start) - 1), np.diff(start))
    mine = np.bincount(holder, weights=owned, minlength=len(start) - 1)
    return math.fsum(((mine[holder] - owned) / users[values]).tolist())


@dataclass(frozen=True)
class _Shared:
    """The rows that share their values with another record, and the number of their value."""

    rows: Codes
    ids: Codes


def profiles_of_codes(
    data: Coded, subsets: Sequence[tuple[str, ...]], every_attacker: bool
) -> dict[tuple[str, ...], Profile]:
    """Walk the sets depth first, the column with most values first: most records are alone early on."""
    rank = {name: index for index, name in enumerate(sorted(data.widths, key=lambda n: -data.widths[n]))}
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
                found[wanted[child]] = replace(profile, attributes=wanted[child])
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


def profile_of_table(attributes: tuple[str, ...], table: Ints, users: int) -> Profile:
    """The profile of a finished table of values (columns as in the kernel)."""
    wide = table.shape[1] > kernel.NARROW
    return Profile.of(
        histogram(table[:, [kernel.RECORDS, kernel.USERS]]),
        attributes=attributes,
        users=users,
        squares=histogram(table[:, [kernel.RECORDS, kernel.SQUARES]]) if wide else None,
        largest=int(table[:, kernel.LARGEST].sum()) if wide else None,
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
