"""Before anything is published: the error bars a recipient will see, per slice and l."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from sudare.constraints import Between
from sudare.engine.counts import counts_of
from sudare.errors import UsageError
from sudare.estimate.formulas import expected_mse, expected_mse_uniform, variance
from sudare.estimate.groups import Groups, Slice, group, shown_names, slices_of
from sudare.parameters import checked
from sudare.results import Result

if TYPE_CHECKING:
    import altair

    from sudare.data import Dataset

CELL = ("l", "records", "stderr", "margin", "expected_mse", "expected_mse_uniform")


@dataclass(frozen=True, repr=False)
class PlanLResult(Result):
    """One row per slice and l: how wide the error bar of a share will be."""

    command: ClassVar[str] = "plan"

    column: str = ""
    by: tuple[str, ...] = ()
    values: int = 0

    def extra(self) -> dict[str, Any]:
        return {"column": self.column, "by": list(self.by), "values": self.values}

    def chart(self) -> altair.Chart:
        """The width of the error bars against l."""
        from sudare.estimate.charts import plan_chart

        return plan_chart(self)


@checked
def plan_l(
    ds: Dataset,
    *,
    l: Iterable[int] = range(2, 21),
    by: str | Sequence[str] = (),
    column: str | None = None,
    confidence: Annotated[float, Between(0, 1)] = 0.95,
) -> PlanLResult:
    """What randomized addition would cost the recipient, for every l and every slice of `by`.

    `stderr` is that of the count of a rare value (the largest there is), `margin` the half-width of its
    interval as a share of the slice; `expected_mse` is exact for the data, `expected_mse_uniform` Eq. (19).
    Only counts are read: the table stays where it is.
    """
    name = _sensitive(ds, column)
    slices = slices_of(by, ds.columns, name)
    size, _, _ = counts_of(ds).count_values([name])
    wanted = sorted(set(l))
    possible = [n for n in wanted if 2 <= n < size]
    if not possible:
        raise UsageError(f"{name} has {size} values: l must be from 2 to {size - 1}")
    groups = _counted(ds, slices)
    names = shown_names(slices, CELL)
    rows = [
        {**dict(zip(names, label)), **_row(int(n), size, chosen, confidence)}
        for label, n in zip(groups.labels, groups.records)
        for chosen in possible
    ]
    left = [str(n) for n in wanted if n not in possible]
    notes = (
        [f"l = {', '.join(left)} left out: {name} has {size} values, l must be from 2 to {size - 1}"]
        if left
        else []
    )
    return PlanLResult(tuple(rows), tuple(notes), column=name, by=names, values=size)


def _counted(ds: Dataset, slices: Sequence[Slice]) -> Groups:
    """The groups and their records, counted by the engine that holds the table."""
    found = counts_of(ds).class_table([s.column for s in slices])
    return group(found, slices).weighing(found["sudare_records"])


def _row(records: int, size: int, l: int, confidence: float) -> dict[str, Any]:
    error = float(np.sqrt(variance(np.zeros(1), records, size, l))[0])
    margin = NormalDist().inv_cdf(0.5 + confidence / 2) * error / records
    errors = (expected_mse(records, size, l), expected_mse_uniform(records, size, l))
    return dict(zip(CELL, (l, records, error, margin, *errors)))


def _sensitive(ds: Dataset, column: str | None) -> str:
    chosen = [column] if column is not None else list(ds.roles.sensitive)
    if len(chosen) != 1:
        raise UsageError(f"{ds.name}: name the sensitive column with column= (there are {len(chosen)})")
    return ds.require(chosen)[0]
