"""The query workload of P2: many random COUNT questions, and how wrong each release answers them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sudare.constraints import Above, AtLeast, AtMost, Within
from sudare.data.values.sets import SetSchema
from sudare.errors import UsageError
from sudare.estimate.formulas import inverse, project, squared_error
from sudare.estimate.measure import find_column, parts, table_of
from sudare.estimate.workload_answers import collapse, random_queries
from sudare.parameters import checked
from sudare.results import Result

if TYPE_CHECKING:
    import altair

    from sudare.data import Dataset

Floats = NDArray[np.float64]
MOST_QUERIES = 100_000  # all are held at a time
Selectivity = Annotated[float, Above(0), AtMost(1)]
Queries = Annotated[int, Within(1, MOST_QUERIES)]


@dataclass(frozen=True, repr=False)
class WorkloadResult(Result):
    """One row per release: the mean and the median over the queries of the MSE of Eq. (2)."""

    command: ClassVar[str] = "workload"

    errors: tuple[tuple[str, Floats], ...] = ()

    def chart(self) -> altair.Chart:
        from sudare.estimate.charts import workload_chart

        return workload_chart(self)


@checked
def workload(
    original: Dataset,
    releases: Mapping[str, Any],
    *,
    dimensions: Annotated[int, AtLeast(1)] = 3,
    selectivity: Selectivity = 0.07,
    queries: Queries = 1000,
    method: Literal["projection", "inverse"] = "projection",
    quasi: Sequence[str] | None = None,
    seed: Annotated[int, AtLeast(0)] = 0,
) -> WorkloadResult:
    """Ask every release the same random queries (P2, section 6.2) and compare with the original.

    A query picks `dimensions` quasi-identifiers and, for each, b random values, b from the expected
    selectivity by Eq. (20); the answer is the distribution of the sensitive column among the records that
    match. Queries that match no original record are skipped and counted.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, sudare.methods.RandomizedAddition(l=2), key=bytes(range(32)))
    >>> row = sudare.workload(patients, {"l = 2": release}, dimensions=1, queries=20).rows[0]
    >>> row["release"], row["queries"] + row["skipped"]
    ('l = 2', 20)
    """
    from sudare.engine.codes import codes

    names = list(quasi if quasi is not None else original.roles.quasi)
    _check(releases, names, dimensions)
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
        wanted = [*names, column]
        if (column, known_set.domain) not in truths:
            plain = collapse(original.to_pyarrow(wanted), names, known, column, "original", known_set)
            truths[column, known_set.domain] = plain.answer(asked)
        published = collapse(table_of(data, wanted), names, known, column, form, known_set)
        true = truths[column, known_set.domain]
        found = errors_of(published.answer(asked), true, form, known_set.l, method)
        rows.append(_row(name, queries, found))
        errors.append((name, found))
    note = f"{queries} queries of {dimensions} columns at selectivity {selectivity:g}"
    return WorkloadResult(tuple(rows), (note,), tuple(errors))


def _check(releases: Mapping[str, Any], names: Sequence[str], dimensions: int) -> None:
    if not releases:
        raise UsageError("workload: give at least one release")
    if not 1 <= dimensions <= len(names):
        raise UsageError(
            f"workload: dimensions is from 1 to the {len(names)} quasi-identifiers, not {dimensions}"
        )


def _row(name: str, queries: int, errors: Floats) -> dict[str, Any]:
    return {
        "release": name,
        "queries": len(errors),
        "skipped": queries - len(errors),
        "mean_mse": float(errors.mean()) if len(errors) else math.nan,
        "median_mse": float(np.median(errors)) if len(errors) else math.nan,
    }


def errors_of(answered: Floats, true: Floats, form: str, l: int, method: str) -> Floats:
    """The MSE of every query that matches at least one original record (P2, Eq. 2)."""
    hit = true.sum(axis=1) > 0
    records = np.rint(true[hit].sum(axis=1)).astype(np.int64)
    found = answered[hit]
    if form == "randomized":
        found = inverse(np.rint(found).astype(np.int64), records, l)
        found = project(found, records) if method == "projection" else found
    return squared_error(found, true[hit], records)
