"""Random queries, and how a table answers them: records with equal quasi-identifiers are one class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sudare.data.values.sets import SetSchema, from_arrow
from sudare.estimate.models import is_starred, read_sets, scalar_codes

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Queries:
    """Random conditions: query i asks columns[i] for the values marked in wanted[i]; share[i] = b / |A|."""

    columns: NDArray[np.int64]
    wanted: NDArray[np.bool_]
    share: Floats


def values_asked(distinct: int, selectivity: float, dimensions: int) -> int:
    """b = ceil(|A| s^(1/(qd+1))), P2, Eq. (20), guarded against the rounding of the root.

    >>> values_asked(10, 0.001, 2), values_asked(80, 0.07, 3)
    (1, 42)
    """
    wanted: float = distinct * selectivity ** (1 / (dimensions + 1))
    return min(distinct, max(1, math.ceil(wanted - 1e-9)))


def random_queries(
    distinct: Sequence[int], dimensions: int, selectivity: float, queries: int, rng: np.random.Generator
) -> Queries:
    """Random columns and random values for every query."""
    columns = np.empty((queries, dimensions), np.int64)
    wanted = np.zeros((queries, dimensions, max(distinct)), np.bool_)
    share = np.empty((queries, dimensions))
    for query in range(queries):
        columns[query] = rng.choice(len(distinct), dimensions, replace=False)
        for place, column in enumerate(columns[query]):
            b = values_asked(distinct[column], selectivity, dimensions)
            wanted[query, place, rng.choice(distinct[column], b, replace=False)] = True
            share[query, place] = b / distinct[column]
    return Queries(columns, wanted, share)


@dataclass(frozen=True)
class Collapsed:
    """Records with equal quasi-identifiers as one class: its codes, its values and how much each weighs."""

    positions: NDArray[np.integer]
    offsets: NDArray[np.int64]
    values: NDArray[np.int64]
    weights: Floats
    size: int

    @classmethod
    def of(
        cls,
        positions: NDArray[np.int32],
        values: NDArray[np.integer],
        lengths: NDArray[np.int64],
        shares: bool,
        size: int,
    ) -> Collapsed:
        """`lengths` says how many values a record has; with `shares` they weigh 1 together, else 1 each."""
        from sudare.engine.codes import classes

        label, sizes = classes(positions)
        first = np.unique(label, return_index=True)[1]
        pair = np.repeat(label, lengths) * size + values
        weight = np.repeat(1 / lengths, lengths) if shares else np.ones(len(pair))
        if len(sizes) * size <= 4 * len(pair) + 1_000_000:
            table = np.bincount(pair, weight, len(sizes) * size)
            found = np.flatnonzero(table)
            total = np.asarray(table[found], np.float64)
        else:
            found, place = np.unique(pair, return_inverse=True)
            total = np.asarray(np.bincount(place, weight), np.float64)
        offsets = np.searchsorted(found // size, np.arange(len(sizes) + 1))
        return cls(np.ascontiguousarray(positions[first].T), offsets, found % size, total, size)

    def answer(self, asked: Queries) -> Floats:
        """For every query, how much each value weighs among the classes that match: queries x size."""
        from sudare.engine.kernels.estimate import answer_queries

        wanted = np.ones((*asked.wanted.shape[:2], asked.wanted.shape[2] + 1), np.uint8)
        wanted[:, :, 1:] = asked.wanted
        found = answer_queries(
            self.positions,
            self.offsets,
            self.values,
            self.weights,
            asked.columns,
            wanted,
            asked.share,
            self.size,
        )
        return np.asarray(found, np.float64)


def collapse(
    table: pa.Table,
    names: Sequence[str],
    known: Sequence[pa.Array],
    column: str,
    form: str,
    schema: SetSchema,
) -> Collapsed:
    """A published table (or the original: form "original") as classes."""
    positions, one = _positions(table, names, known), np.ones(table.num_rows, np.int64)
    if form in ("original", "tp"):
        values = scalar_codes(table[column], schema.domain, column)
        return Collapsed.of(positions, values, one, False, schema.size)
    if form == "anatomy":
        members, offsets = from_arrow(table[column], schema.domain, column)
        return Collapsed.of(positions, members, np.diff(offsets), True, schema.size)
    sets = read_sets(table[column], schema, column)
    return Collapsed.of(positions, sets.reshape(-1), one * schema.l, False, schema.size)


def _positions(table: pa.Table, names: Sequence[str], known: Sequence[pa.Array]) -> NDArray[np.int32]:
    """The place of every quasi-identifier among the original's values, from 1; 0 for a star."""
    out = np.zeros((table.num_rows, len(names)), np.int32)
    for place, (name, values) in enumerate(zip(names, known)):
        kept = ~is_starred(table, [name])
        column = table[name] if kept.all() else table[name].filter(kept)
        out[kept, place] = scalar_codes(column, values.to_pylist(), name) + 1
    return out
