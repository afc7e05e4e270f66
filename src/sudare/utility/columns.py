"""How much every single column changed: the table and the chart of a utility result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.engine import moments
from sudare.engine.pair import Pair
from sudare.utility.base import Floats
from sudare.utility.formulas import gap, quantile_bins, total_variation

BINS = 20
DECILES = np.arange(1, 10) / 10


def compared_columns(pair: Pair) -> tuple[str, ...]:
    """The columns whose distributions can be compared: all with a role but user and identifiers.

    A column published as sets is compared by what can be estimated from it (see `QueryWorkload`).
    """
    roles = pair.roles
    chosen = (*roles.quasi, *roles.sensitive, *roles.other)
    return tuple(c for c in chosen if c in pair.release.columns and c not in pair.set_columns)


def changes(pair: Pair) -> list[dict[str, Any]]:
    """For every column the total variation and, for numbers, the shifts of mean and deciles in standard
    deviations.
    """
    return [_change(pair, name) for name in compared_columns(pair)]


def coded(pair: Pair, name: str, bins: int = BINS) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A column of both tables as category numbers: values as they are, numbers in bins of the original's
    quantiles.
    """
    if name in pair.numeric_columns([name]):
        original, release = (values[:, 0] for values in pair.numbers([name]))
        cuts = quantile_bins(original, bins)
        return _binned(original, cuts), _binned(release, cuts)
    blocks = pair.blocks([name])
    return blocks.original, blocks.release


def counts(
    first: NDArray[np.int64], second: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often each category occurs in the one and in the other."""
    width = int(max(first.max(initial=0), second.max(initial=0))) + 1
    return np.bincount(first, minlength=width), np.bincount(second, minlength=width)


def mean_shift(pair: Pair, columns: Sequence[str]) -> Floats:
    """The absolute difference of column means in standard deviations of the original."""
    return _in_sd(gap(*pair.means(columns)), pair.spreads(columns))


def quantile_shift(original: Floats, release: Floats) -> Floats:
    """The mean absolute difference of the nine deciles in standard deviations of the original."""
    gaps = [_decile_gap(x[~np.isnan(x)], y[~np.isnan(y)]) for x, y in zip(original.T, release.T)]
    return _in_sd(np.array(gaps), moments.spread(original))


def _change(pair: Pair, name: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "column": name,
        "role": pair.roles.role_of(name),
        "original_values": len(np.unique(pair.blocks([name]).original)),
        "release_values": len(np.unique(pair.blocks([name]).release)),
        "total_variation": total_variation(*counts(*coded(pair, name))),
        "mean_shift": None,
        "quantile_shift": None,
    }
    if pair.numeric_columns([name]):
        original, release = pair.numbers([name])
        row["mean_shift"] = _plain(mean_shift(pair, [name]))
        row["quantile_shift"] = _plain(quantile_shift(original, release))
    return row


def _binned(values: Floats, cuts: Floats) -> NDArray[np.int64]:
    """Bins from 1 on; 0 is a missing number."""
    return np.where(np.isnan(values), 0, 1 + np.searchsorted(cuts, values, side="right")).astype(np.int64)


def _decile_gap(original: Floats, release: Floats) -> float:
    if not len(original) or not len(release):
        return float("nan")
    return float(np.abs(np.quantile(original, DECILES) - np.quantile(release, DECILES)).mean())


def _in_sd(gaps: Floats, scale: Floats) -> Floats:
    """Gaps in standard deviations; a constant column that stays as it is has none, one that moves has no
    measure.
    """
    return np.where(scale > 0, gaps / np.where(scale > 0, scale, 1.0), np.where(gaps == 0, 0.0, np.nan))


def _plain(values: Sequence[float] | Floats) -> float | None:
    return None if np.isnan(values[0]) else float(values[0])
