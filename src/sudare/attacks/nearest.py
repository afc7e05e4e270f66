"""The nearest original rows of every release row, within blocks of equal quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.base import Candidates
from sudare.engine.answers import Blocks
from sudare.engine.pair import Pair
from sudare.errors import UsageError

Floats = NDArray[np.float64]
ROUNDING = 1e-12


def chosen_columns(pair: Pair, columns: Sequence[str] | None) -> tuple[str, ...]:
    """The columns that distances are measured on: those asked for, else the numeric ones the roles
    suggest.
    """
    found = tuple(columns) if columns is not None else pair.numeric()
    if not found:
        raise UsageError(
            "no numeric column to measure distances on; name the sensitive columns or give columns="
        )
    return found


def chosen_quasi(pair: Pair, quasi: Sequence[str] | None, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns that must be equal: those asked for, else the quasi-identifiers that are not measured."""
    return tuple(quasi) if quasi is not None else pair.quasi(without=columns)


def nearest(
    original: Floats,
    release: Floats,
    blocks: Blocks,
    *,
    weights: Floats | None = None,
    fallback: bool = False,
    tol: float = 0.0,
) -> Candidates:
    """Nearest by Euclidean distance among the rows of the same block; with `fallback`, else among all
    rows.
    """
    from sudare.engine.kernels.neighbours import nearest_rows

    scale = np.ones(original.shape[1]) if weights is None else weights
    known = np.zeros(blocks.number, np.bool_)
    known[blocks.original] = True
    lost = ~known[blocks.release]
    found = None
    if not (fallback and lost.all()):
        asked = np.where(lost, -1, blocks.release)
        found = Candidates(
            *nearest_rows(original, blocks.original, release, asked, blocks.number, scale, tol)
        )
        if not (fallback and lost.any()):
            return found
    one, asked = np.zeros(len(original), np.int64), np.where(lost, 0, -1)
    everywhere = Candidates(*nearest_rows(original, one, release, asked, 1, scale, tol))
    return everywhere if found is None else found.or_else(everywhere)
