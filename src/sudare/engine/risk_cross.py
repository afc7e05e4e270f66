"""The risk of two values known from different records of the same person."""

from __future__ import annotations

from dataclasses import dataclass

from sudare.data.dataset import Dataset
from sudare.engine import risk_ibis
from sudare.engine.kernels import risk_cross as kernel
from sudare.engine.risk import count_records, count_values
from sudare.engine.risk_lattice import Coded, coded
from sudare.engine.risk_rows import at_hand

PAIRS_AT_ONCE = 1 << 25


@dataclass(frozen=True)
class Cross:
    """R_cross of two attributes, and over how many records, users and pairs of values."""

    risk: float
    records: int
    users: int
    values: int


def cross_risks(
    ds: Dataset, pairs: list[tuple[str, str]], *, missing: str, pairs_at_once: int = PAIRS_AT_ONCE
) -> list[Cross]:
    """R_cross of every pair of attributes; the two may be the same attribute."""
    return [_cross(ds, first, second, missing, pairs_at_once) for first, second in pairs]


def _cross(ds: Dataset, first: str, second: str, missing: str, pairs_at_once: int) -> Cross:
    columns = list(dict.fromkeys((first, second)))
    if not count_records(ds, columns, missing=missing):
        return Cross(0.0, 0, 0, 0)
    if ds.view is not None:
        data = coded(at_hand(ds, columns, missing=missing), columns)
        return cross_of_codes(data, first, second, pairs_at_once)
    if ds.roles.user is None:  # a person's only record is the other record too
        values, records, users = count_values(ds, columns, missing=missing)
        return Cross(values / records, records, users, values)
    return Cross(*risk_ibis.cross(ds, first, second, missing=missing))


def cross_of_codes(data: Coded, first: str, second: str, pairs_at_once: int = PAIRS_AT_ONCE) -> Cross:
    """Sum over users of (|R_u|/m) times the mean over their pairs of records of 1/|U_a & U_b|.

    The pairs of values are counted in parts when there are more than `pairs_at_once`: memory stays bounded.
    """
    a = kernel.owned_values(data.owners, data.codes[first])
    b = kernel.owned_values(data.owners, data.codes[second])
    parts = 1 + kernel.pairs_of(a[0], a[1], b[0], 1, 0) // pairs_at_once
    total, different = 0.0, 0
    for part in range(parts):
        capacity = 16
        while capacity < 2 * kernel.pairs_of(a[0], a[1], b[0], parts, part):
            capacity *= 2
        partial, count = kernel.cross_part(*a, *b, data.widths[second], capacity, parts, part)
        total, different = total + partial, different + count
    records = len(data.owners)
    return Cross(total / records, records, data.users, different)
