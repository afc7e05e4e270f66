"""What an attacker has in hand: the original and the release, and never the truth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.engine.pair import Pair
from sudare.errors import UsageError

Ints = NDArray[np.int64]


class Users(NamedTuple):
    """The user number of every row, and how many users there are; numbers follow the sorted order of the
    names.
    """

    of_original: Ints
    of_release: Ints
    originals: int
    releases: int


class View(Pair):
    """Original and release as an attacker sees them; `order` hides the row order of a release that was
    not shuffled.
    """

    @property
    def published(self) -> Ints:
        """The place of every shown release row in the published file."""
        return np.arange(self.releases, dtype=np.int64) if self.order is None else self.order

    def users(self) -> Users:
        """The users of the rows of both tables."""
        if self.roles.user is None:
            raise UsageError("this attack compares users; name the user column (user=)")
        return self._once("users", self._users)

    def _users(self) -> Users:
        from sudare.engine.codes import codes

        column = [str(self.roles.user)]
        (first, names), (second, others) = (codes(table, column) for table in self.tables(column))
        of_original, of_release = first[:, 0].astype(np.int64), second[:, 0].astype(np.int64)
        return Users(of_original, of_release, len(names[0]), len(others[0]))
