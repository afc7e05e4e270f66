"""What the recipient of a release learns about any slice of it: counts, shares, and how sure they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np

from sudare.constraints import Between
from sudare.data.dataset import Dataset
from sudare.data.published import Published
from sudare.engine.counts import counts_of
from sudare.errors import UsageError, nearest
from sudare.estimate.groups import Slice, shown_names, slices_of
from sudare.parameters import checked
from sudare.results import Result

if TYPE_CHECKING:
    import altair
    import pyarrow as pa

    from sudare.data.release import Release
    from sudare.estimate.models import Estimates

Method = Literal["projection", "inverse", "em"]
CELL = ("value", "count", "share", "stderr", "low", "high", "records")


@dataclass(frozen=True, repr=False)
class EstimateResult(Result):
    """One row per group and value; stderr, low and high are in records, like count.

    `expected_mse` is the mean over the groups of E[MSE] of the inverse (P2, Eq. 2), which the projection
    never exceeds; None for methods that have no such formula.
    """

    command: ClassVar[str] = "estimate"

    column: str = ""
    by: tuple[str, ...] = ()
    method: str = "projection"
    confidence: float = 0.95
    expected_mse: float | None = None

    def extra(self) -> dict[str, Any]:
        return {
            "column": self.column,
            "by": list(self.by),
            "method": self.method,
            "confidence": self.confidence,
            "expected_mse": self.expected_mse,
        }

    def chart(self) -> altair.Chart:
        """The estimated shares of every group with their intervals."""
        from sudare.estimate.charts import estimate_chart

        return estimate_chart(self)


@checked
def estimate(
    release: Release | Dataset | Published,
    *,
    by: str | Sequence[str] = (),
    method: Method = "projection",
    column: str | None = None,
    confidence: Annotated[float, Between(0, 1)] = 0.95,
) -> EstimateResult:
    """The distribution of a sensitive column in every group of `by`, from a release.

    The release is one of RandomizedAddition, Anatomy or TP; its sidecar says which. `by` names columns,
    numeric ones optionally in bins (`age:10`); without it the whole release is one group. A column that is called
    like one of the result, such as `count`, is shown as `by count`.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, sudare.methods.RandomizedAddition(l=2), key=bytes(range(32)))
    >>> round(sum(row["share"] for row in sudare.estimate(release).rows), 9)
    1.0
    """
    data, schema = parts(release)
    form, name, entry = find_column(schema, column)
    slices = slices_of(by, data.columns, name)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    found = _count(data, form, slices, name, entry, method, z)
    names = shown_names(slices, CELL)
    return EstimateResult(
        rows=tuple(_rows(found, names)),
        notes=found.notes,
        column=name,
        by=names,
        method=method if form == "randomized" else form,
        confidence=confidence,
        expected_mse=found.expected_mse,
    )


def parts(release: Any) -> tuple[Dataset, Mapping[str, Any]]:
    """The published table and what its sidecar says."""
    published = Published.of(release, verb="estimate")
    return published.data, published.schema


def table_of(data: Dataset, columns: Sequence[str]) -> pa.Table:
    """Some columns of a release; a release in memory is read as it is, sets and all."""
    chosen = list(dict.fromkeys(data.require(columns)))
    return data.memory.table.select(chosen) if data.memory is not None else data.to_pyarrow(chosen)


def find_column(schema: Mapping[str, Any], column: str | None) -> tuple[str, str, Mapping[str, Any]]:
    """The form, the name and the sidecar entry of the column to estimate."""
    from sudare.estimate.models import FORMS

    known = {
        name: (form, name, entry)
        for form in FORMS
        if isinstance(entries := schema.get(form, {}), Mapping)
        for name, entry in entries.items()
    }
    if not known:
        raise UsageError(
            "the release has no column to estimate: its sidecar names no randomized, anatomy or tp column; "
            "keep the sidecar beside the release"
        )
    if column is None and len(known) > 1:
        raise UsageError(f"several columns can be estimated; choose one with column=: {', '.join(known)}")
    if column is not None and column not in known:
        raise UsageError(f"column '{column}' cannot be estimated; {nearest(column, known)}")
    return known[column] if column is not None else next(iter(known.values()))


def _count(
    data: Dataset,
    form: str,
    slices: Sequence[Slice],
    name: str,
    entry: Mapping[str, Any],
    method: str,
    z: float,
) -> Estimates:
    """The estimates from counts of the sets where they are; EM and the other forms need the sets themselves."""
    from sudare.estimate import models

    counts, columns = counts_of(data), data.require([s.column for s in slices])
    if form == "randomized" and method != "em":
        schema = models.schema_of(entry, name)
        if (found := counts.set_counts(columns, name, schema.l)) is not None:
            return models.counted(found, slices, name, schema, z, method)
    what = "method em" if form == "randomized" else f"a column of the form {form}"
    table = counts.sets(list(dict.fromkeys(data.require([*columns, name]))), f"{name}: {what}")
    if form == "randomized":
        return models.randomized(table, slices, name, entry, z, method)
    return (models.anatomy if form == "anatomy" else models.tp)(table, slices, name, entry, z)


def _rows(found: Estimates, names: Sequence[str]) -> list[dict[str, Any]]:
    share = found.counts / np.maximum(found.counts.sum(axis=1, keepdims=True), 1e-300)
    low, high = np.minimum(found.low, found.counts), np.maximum(found.high, found.counts)
    columns = [a.tolist() for a in (found.counts, share, np.sqrt(found.variance), low, high)]
    keys = (*names, *CELL)
    return [
        dict(zip(keys, (*label, *cell, size)))
        for label, size, *group in zip(found.groups.labels, found.groups.records.tolist(), *columns)
        for cell in zip(found.domain, *group)
    ]
