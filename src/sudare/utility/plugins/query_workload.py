"""Random queries asked of a release, as a metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

from sudare.constraints import AtLeast
from sudare.engine.pair import Pair
from sudare.errors import DataError
from sudare.estimate.models import FORMS
from sudare.estimate.workload import Queries, Selectivity, workload
from sudare.registry import metric
from sudare.utility.base import Measured, Metric


@metric
@dataclass(frozen=True, kw_only=True)
class QueryWorkload(Metric):
    """The mean error of random COUNT queries on a release of randomized addition, Anatomy or TP.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, sudare.methods.RandomizedAddition(l=2), key=bytes(range(32)))
    >>> sudare.utility(patients, release, QueryWorkload(queries=20)).rows[0]["value"] >= 0
    True
    """

    meaning: ClassVar[str] = "mean MSE of random queries about the sensitive column"
    better: ClassVar[str] = "lower"
    family: ClassVar[str] = "queries"
    priority: ClassVar[int] = 150
    dimensions: Annotated[int, AtLeast(1)] = 2
    selectivity: Selectivity = 0.07
    queries: Queries = 200

    def measure(self, pair: Pair) -> Measured:
        quasi = pair.quasi()
        try:
            found = workload(
                pair.original.dataset,
                {"release": pair.release.dataset},
                dimensions=min(self.dimensions, len(quasi)),
                selectivity=self.selectivity,
                queries=self.queries,
                quasi=quasi,
            )
        except DataError:
            return Measured(None, "quasi-identifiers were changed: the same queries cannot be asked")
        row = found.rows[0]
        value = row["mean_mse"] if row["queries"] else None
        return Measured(value, f"median {row['median_mse']:.3g} over {row['queries']} queries")

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        schema = pair.release.published.get("schema", {})
        columns = [name for form in FORMS for name in schema.get(form, {})]
        fits = len(columns) == 1 and columns[0] in pair.original.columns and columns[0] not in pair.quasi()
        return [cls()] if fits and pair.quasi() else []
