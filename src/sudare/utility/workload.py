"""The query workload of P2: many random COUNT questions, and how wrong each release answers them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.data.sets import SetSchema, from_arrow
from sudare.errors import UsageError
from sudare.results import Result
from sudare.utility.estimate import find_column, parts, table_of
from sudare.utility.estimate_formulas import inverse, project, squared_error
from sudare.utility.estimate_models import is_starred, read_sets, scalar_codes

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
    rows, errors, skipped = [], [], 0
    for name, release in releases.items():
        found = errors_of(original, release, names, known, asked, method)
        skipped = queries - len(found)
        rows.append(
            {
                "release": name,
                "queries": len(found),
                "skipped": skipped,
                "mean_mse": float(found.mean()) if len(found) else math.nan,
                "median_mse": float(np.median(found)) if len(found) else math.nan,
            }
        )
        errors.append((name, found))
    note = f"{queries} queries of {dimensions} columns at selectivity {selectivity:g}"
    return WorkloadResult(tuple(rows), (f"{note}; {skipped} matched no record",), tuple(errors))


def values_asked(distinct: int, selectivity: float, dimensions: int) -> int:
    """b = ceil(|A| s^(1/(qd+1))), P2, Eq. (20), guarded against the rounding of the root.

    >>> values_asked(10, 0.001, 2), values_asked(80, 0.07, 3)
    (1, 42)
    """
    return min(distinct, max(1, math.ceil(distinct * selectivity ** (1 / (dimensions + 1)) - 1e-9)))


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


def errors_of(
    original: Dataset,
    release: Any,
    names: Sequence[str],
    known: Sequence[pa.Array],
    asked: Queries,
    method: str,
) -> Floats:
    """The MSE of every query that matches at least one original record."""
    data, schema = parts(release)
    form, column, entry = find_column(schema, None)
    domain = SetSchema.of(entry, column).domain
    source, published = original.to_pyarrow([*names, column]), table_of(data, [*names, column])
    truth = scalar_codes(source[column], domain, column)
    true = answer(_positions(source, names, known), truth, None, asked, len(domain))
    hit = true.sum(axis=1) > 0
    records = true.sum(axis=1).astype(np.int64)[hit]
    answered = _answers(form, published, names, known, column, entry, asked)[hit]
    if form == "randomized":
        answered = inverse(answered.astype(np.int64), records, int(entry["l"]))
        answered = project(answered, records) if method == "projection" else answered
    return squared_error(answered, true[hit], records)


def answer(
    positions: NDArray[np.int32],
    values: NDArray[np.integer],
    offsets: NDArray[np.int64] | None,
    asked: Queries,
    size: int,
    shares: bool = False,
) -> Floats:
    """For every query, how often each value occurs among the matching records: queries x size.

    With `offsets` a record has several values; with `shares` they weigh 1 together, else 1 each. A negative
    position is a star, which matches with the share of values that are asked for.
    """
    from sudare.engine.kernels.estimate import answer_queries

    offsets = np.arange(len(values) + 1) if offsets is None else offsets
    starred = (positions < 0).any(axis=1)
    if starred.any():
        return _answer_starred(positions, values, offsets, starred, asked, size)
    small = positions.T.astype(np.uint16 if positions.max(initial=0) < 2**16 else np.int32)
    found = answer_queries(small, values, offsets, asked.columns, asked.wanted.astype(np.uint8), size, shares)
    return np.asarray(found, np.float64)


def _answer_starred(
    positions: NDArray[np.int32],
    values: NDArray[np.integer],
    offsets: NDArray[np.int64],
    starred: NDArray[np.bool_],
    asked: Queries,
    size: int,
) -> Floats:
    """Records without a star exactly; equal starred records together, with their weight (one value each)."""
    from sudare.engine.codes import classes

    exact = answer(positions[~starred], values[~starred], None, asked, size)
    label, sizes = classes(positions[starred] + 1)
    first = np.unique(label, return_index=True)[1]
    counts = np.zeros((len(sizes), size))
    np.add.at(counts, (label, values[starred]), 1)
    distinct = positions[starred][first]
    weights = np.ones((len(asked.columns), len(sizes)))
    for place in range(asked.columns.shape[1]):
        cells = distinct[:, asked.columns[:, place]].T
        match = np.take_along_axis(asked.wanted[:, place], np.maximum(cells, 0), axis=1)
        weights *= np.where(cells < 0, asked.share[:, place, None], match)
    return np.asarray(exact + weights @ counts, np.float64)


def _answers(
    form: str,
    table: pa.Table,
    names: Sequence[str],
    known: Sequence[pa.Array],
    column: str,
    entry: Mapping[str, Any],
    asked: Queries,
) -> Floats:
    schema, positions = SetSchema.of(entry, column), _positions(table, names, known)
    if form == "tp":
        return answer(positions, scalar_codes(table[column], schema.domain, column), None, asked, schema.size)
    if form == "anatomy":
        return answer(positions, *from_arrow(table[column], schema.domain, column), asked, schema.size, True)
    sets = read_sets(table[column], schema, column)
    offsets = np.arange(len(sets) + 1, dtype=np.int64) * schema.l
    return answer(positions, sets.reshape(-1), offsets, asked, schema.size)


def _positions(table: pa.Table, names: Sequence[str], known: Sequence[pa.Array]) -> NDArray[np.int32]:
    """The code of every quasi-identifier among the original's values; -1 for a star."""
    out = np.empty((table.num_rows, len(names)), np.int32)
    for place, (name, values) in enumerate(zip(names, known)):
        starred = is_starred(table, [name])
        domain = values.to_pylist()
        if starred.any():
            out[starred, place] = -1
            out[~starred, place] = scalar_codes(table[name].filter(~starred), domain, name)
        else:
            out[:, place] = scalar_codes(table[name], domain, name)
    return out
