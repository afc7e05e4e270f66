"""An attack on dummy records: a dummy is a copy, so a record that no other pseudonym has is real.

Dummies make the sets of values equal; they do not hide which values a pseudonym has for certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.base import Candidates
from sudare.attacks.matching import Matching
from sudare.attacks.plugins.itemsets import coded_items, comparable, dummied, history, owners_of_items
from sudare.engine.pair import Pair
from sudare.registry import attack


@attack
@dataclass(frozen=True, kw_only=True)
class Twins(Matching):
    """The original users who have every value of the pseudonym's records without a twin, and none that it lacks.

    A twin is a record of another pseudonym that is equal in every column. Who is left are equally likely.

    >>> import sudare
    >>> shop = sudare.open("example:purchases", user="user", quasi=["date", "goods"], sensitive="price")
    >>> release = sudare.anonymize(shop, sudare.methods.Suppress(columns=["time"]), key=bytes(range(32)))
    >>> sudare.attack(shop, release, Twins()).rows[0]["rate"]
    1.0
    """

    unit: ClassVar[str] = "user"
    family: ClassVar[str] = "histories"
    priority: ClassVar[int] = 320
    columns: tuple[str, ...] | None = None

    def match(self, pair: Pair) -> Candidates:
        from sudare.engine.kernels.itemsets import possible_owners

        users, lone = pair.users(), without_twin(pair)
        first, second, items = coded_items(pair, self.columns)
        original = history(users.of_original, first, users.originals, items)
        release = history(users.of_release, second, users.releases, items)
        certain = history(users.of_release[lone], second[lone], users.releases, items)
        starts, owners, _ = owners_of_items(original, items)
        published, guessed = possible_owners(
            *release[:2], *certain[:2], starts, owners, np.diff(original.indptr)
        )
        return Candidates.of_pairs(published, guessed, users.releases, users.originals)

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls()] if dummied(pair) else []


def without_twin(pair: Pair) -> NDArray[np.bool_]:
    """Which release rows no other user has."""
    from sudare.engine.codes import classes, codes

    columns = comparable(pair)
    label, _ = classes(codes(pair.tables(columns)[1], columns)[0])
    user = pair.users().of_release
    low, high = np.full(label.max() + 1, len(user)), np.full(label.max() + 1, -1)
    np.minimum.at(low, label, user)
    np.maximum.at(high, label, user)
    return np.asarray(low[label] == high[label])
