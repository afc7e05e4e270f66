"""Declared uses: what a release must still be good for, and how far the columns of each use have moved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sudare.errors import UsageError, nearest

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset
    from sudare.data.published import Published


def declared(context: Mapping[str, Any], columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The declared uses with the columns that each needs; uses told in words alone have none.

    >>> declared({"uses": {"sales by goods": ["goods", "price"]}}, ["user", "goods", "price"])
    {'sales by goods': ('goods', 'price')}
    """
    uses = context.get("uses")
    if not isinstance(uses, Mapping):
        return {}
    for use, needed in uses.items():
        for name in needed:
            if name not in columns:
                raise UsageError(f"use '{use}': unknown column '{name}'; {nearest(name, columns)}")
    return {str(use): tuple(needed) for use, needed in uses.items()}


def told(context: Mapping[str, Any]) -> str:
    """The declared uses in words."""
    uses = context.get("uses") or ""
    return uses if isinstance(uses, str) else "; ".join(uses)


def changed(
    original: Dataset,
    release: Published,
    uses: Mapping[str, Sequence[str]],
    by_column: Sequence[Mapping[str, Any]],
) -> tuple[dict[str, Any], ...]:
    """For every use: how far its columns changed on average, their pairs, and the means of its numbers.

    `by_column` says how far each column that can be compared changed (`UtilityResult.by_column`).
    """
    changes = {row["column"]: row for row in by_column}
    return tuple(
        {
            "use": use,
            "needs": list(needed),
            "columns_moved": _mean(changes[c]["total_variation"] for c in needed if c in changes),
            "pairs_moved": _pairs(original, release, [c for c in needed if c in changes]),
            "mean_shift": _mean(changes[c]["mean_shift"] for c in needed if c in changes),
        }
        for use, needed in uses.items()
    )


def _pairs(original: Dataset, release: Published, columns: Sequence[str]) -> float | None:
    from sudare.utility.measure import utility
    from sudare.utility.plugins.distributions import PairwiseDistance

    if len(columns) < 2:
        return None
    found = utility(original, release, [PairwiseDistance(columns=tuple(columns))])
    value: float | None = found.rows[0]["value"]
    return value


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
