"""The sampling model (P1, Def. 8): the risk from the records of s values drawn without replacement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt

CONFIDENCE = 0.90
FEW_VALUES = 50


@dataclass(frozen=True)
class Estimate:
    """A sampled risk with its interval, and what it cost in records read."""

    risk: float
    low: float
    high: float
    alpha: float
    sample_size: int
    records_read: int


def estimate(
    sample: Sequence[tuple[int, int]], *, values: int, records: int, confidence: float = CONFIDENCE
) -> Estimate:
    """R' = alpha' |D_X| / m, at most 1, from the (records, users) of the sampled values.

    The interval is (|D|/m) (alpha' +- t_{s-1} sqrt((1 - s/|D|) S^2 / s)), clipped to [|D|/m, 1]: with all values
    sampled it has no width, and with a single one it says nothing.

    >>> estimate([(4, 2), (3, 1)], values=3, records=10).risk
    0.75
    """
    alphas = [count / users for count, users in sample]
    s, mean = len(alphas), fsum(alphas) / len(alphas)
    half = _quantile(s - 1, confidence) * standard_error(alphas, values) if s < values else 0.0
    scale, risk = values / records, min(1.0, mean * values / records)
    return Estimate(
        risk=risk,
        low=min(1.0, max(scale, (mean - half) * scale)) if s < values else risk,
        high=min(1.0, (mean + half) * scale) if s < values else risk,
        alpha=mean,
        sample_size=s,
        records_read=sum(count for count, _ in sample),
    )


def standard_error(alphas: Sequence[float], values: int) -> float:
    """The standard error of the mean of s of |D| values drawn without replacement.

    >>> standard_error([2.0, 3.0], 2)
    0.0
    """
    s = len(alphas)
    if s >= values:
        return 0.0
    if s < 2:
        return float("inf")
    mean = fsum(alphas) / s
    variance = fsum((a - mean) ** 2 for a in alphas) / (s - 1)
    return sqrt((1 - s / values) * variance / s)


def error_rate(
    sd: float, *, s: int, values: int, records: int, alpha: float, rule: str = "corrected", z: float = 1.0
) -> float:
    """The sampling model's relative error (P1, Thm 2).

    `corrected`: z sd sqrt(1 - s/|D|) / (sqrt(s) alpha_X). `paper`: the printed sd m / (sqrt(s) |D_X| alpha_X), which
    divides a deviation of alpha by a risk and so is too large by the factor m/|D_X|.

    >>> round(error_rate(13.33, s=10, values=290, records=38087, alpha=24.426, rule="paper"), 1)
    22.7
    >>> round(error_rate(13.33, s=10, values=290, records=38087, alpha=24.426), 2)
    0.17
    """
    if rule == "paper":
        return sd * records / (sqrt(s) * values * alpha)
    if rule != "corrected":
        raise ValueError("rule must be 'corrected' or 'paper'")
    return z * sd * sqrt(max(0.0, 1 - s / values)) / (sqrt(s) * alpha)


def cost(model: str, *, records: int, values: int, sample_size: int | None = None) -> float:
    """The records a model reads (P1, Table 4): all, s m / |D_X| on average, or none.

    >>> round(cost("sample", records=38087, values=290, sample_size=1), 1)
    131.3
    """
    if model == "low-cost":
        return 0.0
    if model == "sample" and sample_size is not None:
        return min(sample_size, values) * records / values
    return float(records)


def _quantile(freedom: int, confidence: float) -> float:
    if freedom < 1:
        return float("inf")
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + confidence / 2))
