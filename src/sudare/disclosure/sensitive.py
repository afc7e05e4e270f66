"""What a class tells about the sensitive values of its members: l-diversity, t-closeness and their kin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.engine.classes import Cells
from sudare.engine.numbers import is_ordered

if TYPE_CHECKING:
    from sudare.data.values.hierarchies import Hierarchy


@dataclass(frozen=True)
class Diversity:
    """l of the worst class: different values, entropy, 1/share of the commonest, recursive (c, l)."""

    distinct: int
    entropy: float
    frequency: float
    recursive: int
    c: float
    c_of_2: float


@dataclass(frozen=True)
class Closeness:
    """t of the worst class by distance; None where the values have no order or no hierarchy."""

    equal: float
    ordered: float | None
    hierarchical: float | None

    @property
    def t(self) -> float:
        """The distance that fits the column: hierarchical, else ordered, else equal."""
        fitting = (self.hierarchical, self.ordered, self.equal)
        return next(distance for distance in fitting if distance is not None)


@dataclass(frozen=True)
class Likeness:
    """delta-disclosure and beta-likeness of the worst class, and how many classes lack some value."""

    delta: float
    beta: float
    enhanced: float
    lacking: int


def diversity_of(cells: Cells, c: float = 3.0) -> Diversity:
    """Distinct, entropy, frequency and recursive l; `c_of_2` is what c must exceed for l = 2."""
    from sudare.engine.kernels.class_diversity import class_diversity

    entropy, frequency, recursive, of_two = class_diversity(cells.offsets, cells.count, float(c))
    return Diversity(
        distinct=int(np.diff(cells.offsets).min()),
        entropy=float(entropy.min()),
        frequency=float(frequency.min()),
        recursive=int(recursive.min()),
        c=c,
        c_of_2=float(of_two.max()),
    )


def closeness_of(
    cells: Cells, *, ordered: bool | None = None, hierarchy: Hierarchy | None = None
) -> Closeness:
    """The largest earth mover's distance between a class and the table.

    Numbers, dates and times are ordered unless said otherwise; a missing value comes last in the order.
    """
    from sudare.engine.kernels import closeness as kernels

    in_order = is_ordered(cells.values.type) if ordered is None else ordered
    return Closeness(
        equal=_worst(kernels.equal_distance(*cells.arrays)),
        ordered=_worst(kernels.ordered_distance(*cells.arrays)) if in_order else None,
        hierarchical=None if hierarchy is None else _hierarchical(cells, hierarchy),
    )


def likeness_of(cells: Cells) -> Likeness:
    """delta over the values that occur (one that a class lacks would make it infinite: `lacking`), beta."""
    from sudare.engine.kernels import closeness as kernels

    delta, beta, enhanced = kernels.likeness(*cells.arrays)
    lacking = int((np.diff(cells.offsets) < len(cells.values)).sum())
    return Likeness(_worst(delta), _worst(beta), _worst(enhanced), lacking)


def _hierarchical(cells: Cells, hierarchy: Hierarchy) -> float:
    from sudare.engine.kernels.closeness import hierarchical_distance

    tree = hierarchy.with_missing() if cells.values.null_count else hierarchy
    leaf = tree.codes(cells.values)
    share = np.zeros(len(tree.leaves))
    share[leaf] = cells.share
    return _worst(hierarchical_distance(cells.offsets, leaf[cells.value], cells.count, share, tree.up))


def _worst(distances: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    return float(distances.max(initial=0.0))
