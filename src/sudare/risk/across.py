"""Two values known from different records of the same person (P1's future work)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from sudare.data.dataset import Dataset
from sudare.engine.counts import counts_of
from sudare.errors import UsageError
from sudare.risk.knowledge import Subset, split


def across_rows(
    ds: Dataset, sets: Sequence[Subset], across: bool | str | Sequence[str], attacker: str, missing: str
) -> list[dict[str, Any]]:
    """A row per pair: the attacker saw an A-value and, elsewhere, a B-value of the same person.

    At least as large as the risks of A and of B alone; it may be above or below the risk of both known of one record.
    """
    if attacker != "uniform":
        raise UsageError("across: only the uniform attacker is defined for different records; drop attacker=")
    from sudare.risk.measure import row_of

    pairs = _pairs(ds, sets, across)
    counts = counts_of(ds)
    return [
        row_of(
            pair,
            records=cross.records,
            users=cross.users,
            values=cross.values,
            alpha=None,
            risk=cross.risk,
            bounded=False,
            attacker=attacker,
            model="across",
        )
        for pair in pairs
        for cross in [counts.cross(*pair, missing=missing)]
    ]


def _pairs(ds: Dataset, sets: Sequence[Subset], across: bool | str | Sequence[str]) -> list[tuple[str, str]]:
    if across is True:
        single = [subset[0] for subset in sets if len(subset) == 1]
        named = [subset for subset in sets if len(subset) == 2]
        return list(dict.fromkeys([*named, *combinations(single, 2)]))
    texts = [across] if isinstance(across, str) else list(across or ())
    return [_pair(ds, text) for text in texts]


def _pair(ds: Dataset, text: str) -> tuple[str, str]:
    parts = [part.strip() for part in text.split("+")]
    if len(parts) != 2:
        raise UsageError("across: name two attributes joined by a plus, e.g. date+goods (or goods+goods)")
    for part in parts:
        split(ds, part)
    return parts[0], parts[1]
