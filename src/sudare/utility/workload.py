"""The query workload of P2: many random COUNT questions, and how wrong each release answers them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sudare.data.sets import SetSchema, from_arrow
from sudare.errors import UsageError
from sudare.registry import metric
from sudare.results import Result
from sudare.utility.base import Comparison, Measured
from sudare.utility.estimate import find_column, parts, table_of
from sudare.utility.estimate_formulas import inverse, project, squared_error
from sudare.utility.estimate_models import FORMS, is_starred, read_sets, scalar_codes

if TYPE_CHECKING:
    import altair
    import pyarrow as pa

    from sudare.data import Dataset

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class WorkloadResult(Result):
    """One row per release: the mean and the median over the queries of the MSE of Eq. (2)."""

    command: ClassVar[str] = "workload"

    errors: tuple[tuple[str, Floats], ...] = ()

    def chart(self) -> altair.Chart:
        from sudare.utility.estimate_charts import workload_chart

        return workload_chart(self)


@dataclass(frozen=True)
class Queries:
    """Random conditions: query i asks columns[i] for the values marked in wanted[i]; share[i] = b / |A|."""

    columns: NDArray[np.int64]
    wanted: NDArray[np.bool_]
    share: Floats


def workload(
    original: Dataset,
    releases: Mapping[str, Any],
    *,
    dimensions: int = 3,
    selectivity: float = 0.07,
    queries: int = 1000,
    method: str = "projection",
    quasi: Sequence[str] | None = None,
    seed: int = 0,
) -> WorkloadResult:
    """Ask every release the same random queries (P2, section 6.2) and compare with the original.

    A query picks `dimensions` quasi-identifiers and, for each, b random values, b from the expected
    selectivity by Eq. (20); the answer is the distribution of the sensitive column among the records that
    match. Queries that match no original record are skipped and counted.
    """
    from sudare.engine.codes import codes

    if not releases:
        raise UsageError("workload: give at least one release")
    names = list(quasi if quasi is not None else original.roles.quasi)
    if not 1 <= dimensions <= len(names):
        raise UsageError(
            f"workload: dimensions is from 1 to the {len(names)} quasi-identifiers, not {dimensions}"
        )
    if not 0 < selectivity <= 1:
        raise UsageError(f"workload: selectivity is above 0 and at most 1, not {selectivity:g}")
    _, known = codes(original.to_pyarrow(names), names)
    asked = random_queries(
        [len(v) for v in known], dimensions, selectivity, queries, np.random.default_rng(seed)
    )
    truths: dict[tuple[Any, ...], Floats] = {}
    rows, errors = [], []
    for name, release in releases.items():
        data, schema = parts(release)
        form, column, entry = find_column(schema, None)
        known_set = SetSchema.of(entry, column)
        if (column, known_set.domain) not in truths:
            source = original.to_pyarrow([*names, column])
            plain = collapse(source, names, known, column, "original", known_set)
            truths[column, known_set.domain] = plain.answer(asked)
        published = collapse(table_of(data, [*names, column]), names, known, column, form, known_set)
        true = truths[column, known_set.domain]
        found = errors_of(published.answer(asked), true, form, known_set.l, method)
        rows.append(_row(name, queries, found))
        errors.append((name, found))
    note = f"{queries} queries of {dimensions} columns at selectivity {selectivity:g}"
    return WorkloadResult(tuple(rows), (note,), tuple(errors))


def _row(name: str, queries: int, errors: Floats) -> dict[str, Any]:
    return {
        "release": name,
        "queries": len(errors),
        "skipped": queries - len(errors),
        "mean_mse": float(errors.mean()) if len(errors) else math.nan,
        "median_mse": float(np.median(errors)) if len(errors) else math.nan,
    }


@metric
@dataclass(frozen=True, kw_only=True)
class QueryWorkload:
    """The mean error of random COUNT queries on a release of randomized addition, Anatomy or TP."""

    code: ClassVar[str] = ""
    meaning: ClassVar[str] = "mean MSE of random queries about the sensitive column"
    better: ClassVar[str] = "lower"
    place: ClassVar[int] = 150
    dimensions: int = 2
    selectivity: float = 0.07
    queries: int = 200

    def measure(self, pair: Comparison) -> Measured:
        quasi = pair.quasi()
        found = workload(
            pair.original,
            {"release": pair.release},
            dimensions=min(self.dimensions, len(quasi)),
            selectivity=self.selectivity,
            queries=self.queries,
            quasi=quasi,
        )
        row = found.rows[0]
        value = row["mean_mse"] if row["queries"] else None
        return Measured(value, f"median {row['median_mse']:.3g} over {row['queries']} queries")

    @classmethod
    def suited(cls, pair: Comparison) -> Sequence[Self]:
        _, schema = parts(pair.release)
        columns = [name for form in FORMS for name in schema.get(form, {})]
        fits = len(columns) == 1 and columns[0] in pair.original.columns and columns[0] not in pair.quasi()
        return [cls()] if fits and pair.quasi() else []


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


def errors_of(answered: Floats, true: Floats, form: str, l: int, method: str) -> Floats:
    """The MSE of every query that matches at least one original record (P2, Eq. 2)."""
    hit = true.sum(axis=1) > 0
    records = np.rint(true[hit].sum(axis=1)).astype(np.int64)
    found = answered[hit]
    if form == "randomized":
        found = inverse(np.rint(found).astype(np.int64), records, l)
        found = project(found, records) if method == "projection" else found
    return squared_error(found, true[hit], records)


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
