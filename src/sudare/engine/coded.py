"""What is computed from everybody's values as small codes: knowledge of other records, blurred and wrong knowledge."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudare.engine.kernels import risk_blur, risk_cross

PAIRS_AT_ONCE = 1 << 25

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
