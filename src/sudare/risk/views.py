"""Other tables of the same result: the values of an attribute, the minimum knowledge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sudare.results import Result
from sudare.risk.minimum import exposed_users
from sudare.risk.result import RiskResult


@dataclass(frozen=True, repr=False)
class RiskView(Result):
    """Rows derived from a RiskResult."""

    command: ClassVar[str] = "risk"


def values_view(result: RiskResult, attributes: str) -> RiskView:
    """The table of an attribute's values; it shows cells, so it stays inside the house."""
    return RiskView(
        rows=tuple(result.value_rows(attributes)), notes=("Internal: this table shows values of the data.",)
    )


def minimum_view(result: RiskResult, threshold: float) -> RiskView:
    """The smallest sets of attributes whose risk reaches the threshold, and the share of users they expose."""
    rows = [
        {
            "attributes": list(subset),
            "risk": result.risk_of(subset),
            "users_exposed": exposed_users(result.source, subset, threshold, missing=result.missing),
        }
        for subset in result.minimum(threshold)
    ]
    if not rows:
        return RiskView(rows=(), notes=(f"No measured set of attributes reaches a risk of {threshold:g}.",))
    return RiskView(
        rows=tuple(rows),
        notes=(
            f"users_exposed: users with a record that identifies them with a probability of {threshold:g} or more.",
        ),
    )
