"""Which columns tell people apart: distinction and separation of attribute sets (Motwani and Xu 2007).

Distinction is the share of different values among the records, |D_X|/m, which is also the low-cost risk of
P1; separation is the share of pairs of records that differ. Both find quasi-identifiers nobody thought of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from sudare.data.values.sets import is_sets
from sudare.engine.classes import Sizes
from sudare.engine.counts import counts_of

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset


MOST_COLUMNS = 50


@dataclass(frozen=True)
class AttributePower:
    """How well a set of attributes tells records apart."""

    attributes: tuple[str, ...]
    distinction: float
    separation: float


def power_of(attributes: Sequence[str], sizes: Sizes) -> AttributePower:
    """From the classes of the attribute set.

    >>> power_of(["sex"], Sizes.of([1, 1, 2]))
    AttributePower(attributes=('sex',), distinction=0.75, separation=0.8333333333333334)
    """
    m = int(sizes.records.sum())
    pairs = m * (m - 1)
    same = sum(int(s) * (int(s) - 1) * int(c) for s, c in zip(sizes.persons, sizes.classes, strict=True))
    return AttributePower(
        tuple(attributes), sizes.total / m if m else 0.0, 1 - same / pairs if pairs else 0.0
    )


def unnamed(ds: Dataset, quasi: Sequence[str]) -> tuple[str, ...]:
    """Columns that may tell people apart although nobody called them quasi-identifiers; not of wide tables."""
    roles = ds.roles
    unpublished = (*roles.identifier, *roles.records_only)
    set_aside = {*quasi, *unpublished, *roles.sensitive, *([roles.user] if roles.user else [])}
    rest = tuple(column for column in ds.columns if column not in set_aside)
    return tuple(c for c in rest if not is_sets(ds.schema.field(c).type)) if len(rest) <= MOST_COLUMNS else ()


def attribute_sets(ds: Dataset, columns: Sequence[str], combine: int = 1) -> Iterator[AttributePower]:
    """Every set of up to `combine` of the columns, one GROUP BY each; records are counted, not users."""
    from dataclasses import replace

    by_record = replace(ds, roles=ds.roles.without([ds.roles.user] if ds.roles.user else []))
    counts = counts_of(by_record)
    for size in range(1, min(combine, len(columns)) + 1):
        for chosen in combinations(columns, size):
            yield power_of(chosen, counts.class_sizes(chosen))
