"""What a pair of tables answers with: blocks, users, cells, changes; or that sums are not enough."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.engine.side import Floats, Ints
from sudare.errors import UsageError


class NeedsRows(UsageError):
    """Sums are not enough: this takes the rows in this process."""


class Blocks(NamedTuple):
    """The block of every original and every release row: rows with equal quasi-identifiers share one."""

    original: Ints
    release: Ints
    number: int


class Users(NamedTuple):
    """The user number of every row, and how many users there are; numbers follow the sorted order of the
    names.
    """

    of_original: Ints
    of_release: Ints
    originals: int
    releases: int


class Crossed(NamedTuple):
    """The cells of a cross-tabulation that either table has: their records, and the means of columns in them."""

    original: Ints
    release: Ints
    original_means: Floats
    release_means: Floats

    @property
    def both(self) -> NDArray[np.bool_]:
        """The cells that both tables have."""
        return (self.original > 0) & (self.release > 0)


class Change(NamedTuple):
    """How far the cells of release rows are from those of the rows they are about."""

    rows: int
    total: float
    cells: int
