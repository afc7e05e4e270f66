"""The minimum knowledge: the smallest sets of attributes that give people away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from sudare.constraints import Above, AtMost
from sudare.data.dataset import Dataset
from sudare.engine.counts import counts_of
from sudare.parameters import checked
from sudare.risk.knowledge import Subset


@checked
def minimal_sets(
    risks: Mapping[Subset, float], threshold: Annotated[float, "a risk", Above(0), AtMost(1)]
) -> list[Subset]:
    """The sets whose risk reaches the threshold while no measured part of them does; smallest, then riskiest first.

    >>> minimal_sets({("a",): 0.1, ("b",): 0.5, ("a", "b"): 0.9, ("a", "c"): 0.6}, 0.5)
    [('b',), ('a', 'c')]
    """
    passing = [subset for subset, risk in risks.items() if risk >= threshold]
    minimal = [s for s in passing if not any(set(other) < set(s) for other in passing)]
    return sorted(minimal, key=lambda s: (len(s), -risks[s]))


def exposed_users(
    ds: Dataset, attributes: Sequence[str], threshold: float, *, missing: str = "value"
) -> float:
    """The share of users who own a record that identifies them with at least this probability, 1/|U_x| >= threshold."""
    most = int(1 / threshold + 1e-9)
    return counts_of(ds).exposed(attributes, most, missing=missing)
