"""Whether a group's sensitive values are diverse enough (l) and near enough to the whole table's (t)."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

DISTINCT, ENTROPY = 0, 1
SLACK = 1e-12


class Conditions(NamedTuple):
    """Conditions beside k; l = 1 and t = 1 ask for nothing."""

    l: float
    kind: int  # DISTINCT or ENTROPY
    t: float
    ordered: bool  # the distance of t: between ordered values, or equal between all
    overall: Floats  # share of every sensitive value in the table


@njit(cache=True)
def holds(conditions: Conditions, counts: Ints, size: int) -> bool:
    """Whether a group with these counts of the sensitive values meets l and t."""
    if conditions.l > 1.0 and _diversity(counts, size, conditions.kind) < conditions.l - SLACK:
        return False
    return conditions.t >= 1.0 or distance(counts, size, conditions) <= conditions.t + SLACK


@njit(cache=True)
def _diversity(counts: Ints, size: int, kind: int) -> float:
    """The number of different values, or e to the entropy of their distribution."""
    found, entropy = 0, 0.0
    for v in range(counts.shape[0]):
        if counts[v] > 0:
            found += 1
            share = counts[v] / size
            entropy -= share * np.log(share)
    return float(found) if kind == DISTINCT else np.exp(entropy)


@njit(cache=True)
def distance(counts: Ints, size: int, conditions: Conditions) -> float:
    """Earth mover's distance of the group's distribution from the table's (Li et al. 2007)."""
    overall = conditions.overall
    moved, total = 0.0, 0.0
    for v in range(counts.shape[0]):
        gap = counts[v] / size - overall[v]
        if conditions.ordered:
            moved += gap
            total += abs(moved)
        else:
            total += abs(gap) / 2
    return total / max(counts.shape[0] - 1, 1) if conditions.ordered else total
