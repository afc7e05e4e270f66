"""Other tables of the same result: the values of an attribute, the models side by side, the minimum knowledge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from sudare.constraints import AtLeast
from sudare.engine.profile import Profile
from sudare.errors import UsageError
from sudare.parameters import checked
from sudare.results import Result
from sudare.risk import formulas
from sudare.risk.knowledge import Subset
from sudare.risk.minimum import exposed_users
from sudare.risk.result import RiskResult
from sudare.risk.sampling import FEW_VALUES, cost, error_rate


@dataclass(frozen=True, repr=False)
class RiskView(Result):
    """Rows derived from a RiskResult."""

    command: ClassVar[str] = "risk"


def values_view(result: RiskResult, attributes: str) -> RiskView:
    """The table of an attribute's values; it shows cells, so it stays inside the house."""
    return RiskView(
        rows=tuple(result.value_rows(attributes)), notes=("Internal: this table shows values of the data.",)
    )


@checked
def models_view(result: RiskResult, sample_size: Annotated[int, AtLeast(1)] = FEW_VALUES) -> RiskView:
    """The three models of every set of attributes side by side (P1, Table 4): risk, relative error, records read."""
    exact = [row for row in result.rows if row["model"] == "exact" and row["records"]]
    if not exact or any("channel" in row or row["attacker"] != "uniform" for row in exact):
        raise UsageError(
            "models: compared on exact risks of the uniform attacker; drop model, attacker and channel"
        )
    measured = [tuple(row["attributes"]) for row in exact]
    rows = [row for subset in measured for row in _models(result.profile(subset), subset, sample_size)]
    return RiskView(
        rows=tuple(rows),
        notes=(
            f"error: relative to the exact risk; of a sample of {sample_size} values one standard error (Thm 2, "
            "corrected), error_paper as printed. bound_low, bound_high: where any table's risk must lie.",
        ),
    )


def _models(profile: Profile, attributes: Subset, sample_size: int) -> list[dict[str, Any]]:
    values, records, alpha = profile.values, profile.records, formulas.alpha(profile)
    exact, low = formulas.uniform_risk(profile), formulas.low_cost(values, records)
    s = min(sample_size, values)
    right, printed = (
        error_rate(formulas.alpha_sd(profile), s=s, values=values, records=records, alpha=alpha, rule=rule)
        for rule in ("corrected", "paper")
    )
    errors = {
        "exact": (exact, 0.0, 0.0),
        "sample": (exact, right, printed),
        "low-cost": (low, formulas.low_cost_error(alpha), formulas.low_cost_error(alpha)),
    }
    low_bound, high_bound = formulas.bounds(values, records, profile.users)
    return [
        {
            "attributes": list(attributes),
            "model": model,
            "risk": risk,
            "error": error,
            "error_paper": as_printed,
            "records_read": cost(model, records=records, values=values, sample_size=s),
            "bound_low": low_bound,
            "bound_high": high_bound,
        }
        for model, (risk, error, as_printed) in errors.items()
    ]


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
