"""RiskResult: the risk of every set of attributes, riskiest first, and what lies behind each number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from sudare.engine.counts import counts_of
from sudare.engine.profile import Profile
from sudare.errors import UsageError
from sudare.results import Result
from sudare.risk.knowledge import Subset, split

if TYPE_CHECKING:
    import altair
    import pandas

    from sudare.data.dataset import Dataset


@dataclass(frozen=True, repr=False)
class RiskResult(Result):
    """What `sudare.risk` found.

    `.to_frame()` has one row per set of attributes; `.values("date")` the table of an attribute's values;
    `.minimum(0.2)` the smallest sets whose risk passes a threshold; `.chart()` and `.charts()` the pictures.
    """

    missing: str = "value"
    dataset: Dataset | None = None
    profiles: Mapping[Subset, Profile] = field(default_factory=dict)

    command: ClassVar[str] = "risk"

    def extra(self) -> dict[str, Any]:
        return {"missing": self.missing}

    def risk_of(self, attributes: str | Sequence[str]) -> float:
        """The risk of one attribute or set of attributes."""
        return float(self._row(attributes)["risk"])

    def profile(self, attributes: str | Sequence[str]) -> Profile:
        """The histogram of an attribute's values by records and users."""
        subset = self._subset(attributes)
        if subset not in self.profiles:
            return counts_of(self.source).profiles([subset], missing=self.missing)[0]
        return self.profiles[subset]

    def values(self, attributes: str | Sequence[str]) -> pandas.DataFrame:
        """The table of values (P1, Table 3): value, records, users, alpha, pr_x, pr_idf, joint; riskiest first.

        It shows cells of the table: internal use only.
        """
        import pandas

        from sudare.risk.values import COLUMNS

        return pandas.DataFrame(self.value_rows(attributes), columns=COLUMNS)

    def value_rows(self, attributes: str | Sequence[str]) -> list[dict[str, Any]]:
        """The rows of `values`, for those who do without pandas."""
        from sudare.risk.values import value_table

        attacker = str(self.rows[0]["attacker"]) if self.rows else "uniform"
        return value_table(self.source, self._subset(attributes), missing=self.missing, attacker=attacker)

    def models(self, sample_size: int = 50) -> pandas.DataFrame:
        """Per set of attributes the exact, the sampling and the low-cost model: risk, relative error, records read."""
        from sudare.risk.views import models_view

        return models_view(self, sample_size).to_frame()

    def minimum(self, threshold: float) -> list[Subset]:
        """The smallest sets of attributes whose risk passes the threshold: no part of them does alone."""
        from sudare.risk.minimum import minimal_sets

        known = {tuple(row["attributes"]): row["risk"] for row in self.rows if row["model"] != "across"}
        return minimal_sets(known, threshold)

    def exposed(self, threshold: float) -> pandas.DataFrame:
        """The minimal sets with the share of users whom a record identifies with at least that probability."""
        from sudare.risk.views import minimum_view

        return minimum_view(self, threshold).to_frame()

    def chart(self, threshold: float | None = None) -> altair.Chart:
        """Risk per set of attributes, with its low-cost bound and the threshold line."""
        from sudare.risk.charts import risk_bars

        return risk_bars(self, threshold=threshold)

    def _row(self, attributes: str | Sequence[str]) -> Mapping[str, Any]:
        subset = self._subset(attributes)
        for row in self.rows:
            if set(row["attributes"]) == set(subset) and row["model"] != "across":
                return row
        raise UsageError(f"{' + '.join(subset)} was not measured; name it in attributes= or combine=")

    def _subset(self, attributes: str | Sequence[str]) -> Subset:
        return split(self.source, attributes)

    @property
    def source(self) -> Dataset:
        """The table that was measured."""
        if self.dataset is None:
            raise UsageError("this result has lost its table; measure it again")
        return self.dataset
