"""What each published form says about the true counts of every group: random sets, anatomy, TP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.values.recoded import SUPPRESSED, plain
from sudare.data.values.sets import SetSchema, from_arrow
from sudare.errors import DataError, UsageError
from sudare.estimate.formulas import (
    expected_mse,
    interval,
    inverse,
    likeliest,
    project,
    variance,
)
from sudare.estimate.groups import Groups, Slice, group

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.engine.counts import SetCounts

Floats = NDArray[np.float64]
FORMS = ("randomized", "anatomy", "tp")


@dataclass(frozen=True)
class Estimates:
    """Estimated counts, groups x domain, with their variance and the ends of their intervals."""

    groups: Groups
    domain: tuple[Any, ...]
    counts: Floats
    variance: Floats
    low: Floats
    high: Floats
    expected_mse: float | None = None
    notes: tuple[str, ...] = field(default=())


def randomized(
    table: pa.Table,
    slices: Sequence[Slice],
    column: str,
    entry: Mapping[str, Any],
    z: float,
    method: str = "projection",
) -> Estimates:
    """Counts from random sets: inverse, its projection on the possible, or the likeliest (EM)."""
    from sudare.engine.kernels.estimate import count_ascending

    schema = schema_of(entry, column)
    sets, groups = read_sets(table[column], schema, column, check=False), group(table, slices)
    members = np.zeros((len(groups.labels), schema.size), np.int64)
    if not count_ascending(sets, groups.of_row, members):
        members[:] = 0
        sets = different(sets, schema.l, column)
        count_ascending(sets, groups.of_row, members)
    found = from_members(members, groups, schema, z, method)
    if method != "em":
        return found
    counts, settled = likeliest(sets, groups.of_row, found.counts, groups.records)
    notes = () if settled else ("EM had not settled after 5,000 rounds in some groups",)
    totals = groups.records[:, None]
    spread = variance(np.clip(counts, 0, totals), totals, schema.size, schema.l)
    return replace(found, counts=counts, variance=spread, notes=(*notes, *found.notes))


def schema_of(entry: Mapping[str, Any], column: str) -> SetSchema:
    """What the sidecar says of a column of random sets; sets of all values are refused."""
    schema = SetSchema.of(entry, column)
    if schema.l >= schema.size:
        raise DataError(
            f"{column}: sets of {schema.l} out of {schema.size} values say nothing; see the sidecar"
        )
    return schema


def counted(
    found: SetCounts, slices: Sequence[Slice], column: str, schema: SetSchema, z: float, method: str
) -> Estimates:
    """Counts from random sets that were counted where the release is."""
    wrong = sum(found.groups["sudare_wrong"].to_pylist())
    if wrong:
        raise DataError(
            f"{column}: {wrong} sets do not have {schema.l} different members; the release was changed"
        )
    groups = group(found.groups, slices).weighing(found.groups["sudare_records"])
    of_members = group(found.members, slices)
    if of_members.labels != groups.labels:
        raise DataError(f"{column}: some sets are empty; the release was changed")
    codes = scalar_codes(found.members["sudare_member"], schema.domain, column)
    members = np.zeros((len(groups.labels), schema.size), np.int64)
    np.add.at(members, (of_members.of_row, codes), np.asarray(found.members["sudare_records"], np.int64))
    return from_members(members, groups, schema, z, method)


def from_members(
    members: NDArray[np.int64], groups: Groups, schema: SetSchema, z: float, method: str
) -> Estimates:
    """Counts from how many sets of each group contain each value: the inverse or its projection."""
    plain_inverse = inverse(members, groups.records, schema.l)
    counts = plain_inverse if method == "inverse" else project(plain_inverse, groups.records)
    totals = groups.records[:, None]
    spread = variance(np.clip(counts, 0, totals), totals, schema.size, schema.l)
    low, high = interval(plain_inverse, totals, schema.size, schema.l, z)
    error = float(np.mean([expected_mse(n, schema.size, schema.l) for n in groups.records]))
    return Estimates(groups, schema.domain, counts, spread, low, high, error, _explain(plain_inverse, method))


def anatomy(
    table: pa.Table, slices: Sequence[Slice], column: str, entry: Mapping[str, Any], z: float
) -> Estimates:
    """COUNT of Anatomy: every record counts for a value with the value's share of its group's list."""
    from sudare.engine.kernels.estimate import count_fractions

    schema = SetSchema.of(entry, column)
    values, offsets = from_arrow(table[column], schema.domain, column)
    groups = group(table, slices)
    counts, spread = count_fractions(values, offsets, groups.of_row, len(groups.labels), schema.size)
    note = "anatomy: the interval assumes that values are independent of the quasi-identifiers within a group"
    return Estimates(groups, schema.domain, counts, spread, *_around(counts, spread, z), notes=(note,))


def tp(
    table: pa.Table, slices: Sequence[Slice], column: str, entry: Mapping[str, Any], z: float
) -> Estimates:
    """COUNT of TP: a starred attribute matches a group with weight b/|A|, everything else exactly."""
    schema = SetSchema.of(entry, column)
    distinct = entry.get("distinct")
    if not isinstance(distinct, Mapping):
        raise DataError(f"{column}: the sidecar lacks the numbers of distinct values; ask for it again")
    starred = is_starred(table, [s.column for s in slices])
    groups = group(table, slices, without=starred)
    if not groups.labels:
        names = ", ".join(s.column for s in slices)
        raise UsageError(
            f"every record is starred on {names}; estimate without it, or publish with another l"
        )
    codes = scalar_codes(table[column], schema.domain, column)
    counts = np.zeros((len(groups.labels), schema.size))
    np.add.at(counts, (groups.of_row[~starred], codes[~starred]), 1)
    rest = np.bincount(codes[starred], minlength=schema.size)
    weight = np.ones(len(groups.labels))
    if starred.any():
        per_column = groups.cells / np.array([distinct.get(s.column, 1) for s in slices], np.float64)
        weight = np.minimum(per_column, 1).prod(axis=1)
    counts += weight[:, None] * rest
    spread = (weight * (1 - weight))[:, None] * rest
    note = f"tp: {int(starred.sum())} starred records count for a group by the share of values it covers"
    groups = replace(groups, records=np.rint(counts.sum(axis=1)).astype(np.int64))
    return Estimates(groups, schema.domain, counts, spread, *_around(counts, spread, z), notes=(note,))


def _around(counts: Floats, spread: Floats, z: float) -> tuple[Floats, Floats]:
    reach = z * np.sqrt(spread)
    return np.maximum(counts - reach, 0), np.minimum(counts + reach, counts.sum(axis=1, keepdims=True))


def read_sets(
    column: pa.ChunkedArray, schema: SetSchema, name: str, check: bool = True
) -> NDArray[np.integer]:
    """The sets of a release as codes, records x l; a set without l different members is a DataError."""
    from sudare.engine.kernels.estimate import ascending

    values, offsets = from_arrow(column, schema.domain, name)
    wrong = int((np.diff(offsets) != schema.l).sum())
    if wrong:
        raise DataError(f"{name}: {wrong} sets do not have {schema.l} members; the release was changed")
    sets = values.reshape(-1, schema.l)
    return sets if not check or ascending(sets) else different(sets, schema.l, name)


def different(sets: NDArray[np.integer], l: int, name: str) -> NDArray[np.integer]:
    """The sets in the order of the domain; a value that is twice in a set is a DataError."""
    from sudare.engine.kernels.estimate import ascending

    ordered = np.sort(sets, axis=1)
    if not ascending(ordered):
        raise DataError(f"{name}: some sets do not have {l} different members; the release was changed")
    return ordered


def scalar_codes(column: pa.ChunkedArray, domain: Sequence[Any], name: str) -> NDArray[np.int64]:
    """The code of every cell in a given domain."""
    import pyarrow as pa

    from sudare.engine.codes import codes

    matrix, (values,) = codes(pa.table({"x": column}), ["x"])
    code_of = {plain(value): code for code, value in enumerate(domain)}
    lookup = np.array([code_of.get(plain(value), -1) for value in values.to_pylist()], np.int64)
    if (lookup < 0).any():
        raise DataError(f"{name}: a value is not in the domain of the sidecar; the release was changed")
    return lookup[matrix[:, 0]]


def is_starred(table: pa.Table, columns: Sequence[str]) -> NDArray[np.bool_]:
    """Which records are starred in any of these columns."""
    import pyarrow as pa
    import pyarrow.compute as pc

    starred = np.zeros(table.num_rows, np.bool_)
    for name in columns:
        kind = table[name].type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            starred |= np.asarray(pc.fill_null(pc.equal(table[name], SUPPRESSED), False))
    return starred


def _explain(counts: Floats, method: str) -> tuple[str, ...]:
    negative = int((counts < 0).sum())
    if not negative:
        return ()
    if method == "inverse":
        return (
            f"{negative} of {counts.size} counts are negative: the inverse is right on average, so rare "
            "values fall below zero half of the time; method projection gives the nearest possible counts",
        )
    return (f"{negative} of {counts.size} counts would be negative without the {method} step",)
