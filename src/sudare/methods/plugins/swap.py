"""Swap and Shuffle: values, or identities, change places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sudare.engine.rows import Draft, Together
from sudare.errors import UsageError
from sudare.keys import Key, order, words
from sudare.methods.plugins.unify import grouped_by, groups
from sudare.registry import method


@method
@dataclass(frozen=True, kw_only=True)
class Swap:
    """Permute each sensitive column on its own among the records with equal quasi-identifiers (P4, method
    g, Table 11).

    Means and counts by quasi-identifiers stay as they were; what belongs to one person does not stay
    together.

    >>> import sudare
    >>> shop = sudare.open("example:purchases", user="user", quasi=["date", "goods"], sensitive="price")
    >>> release = sudare.anonymize(shop, Swap(by=["date"]), key=bytes(range(32)))
    >>> sorted(release.data.to_pyarrow()["price"].to_pylist())[:4]
    [0.85, 0.85, 0.85, 1.25]
    """

    columns: Sequence[str] | None = None
    by: Sequence[str] | None = None

    scope: ClassVar[str] = "group"
    instead: ClassVar[str] = "name the columns to group by: give by="
    technique: ClassVar[str] = "permutation"
    family: ClassVar[str] = "Perturb"
    details: ClassVar[Mapping[str, str]] = {"groups": "total", "alone": "total", "moved_cells": "total"}

    def together(self, shape: Draft) -> Together:
        return Together(grouped_by(shape, self.by, self._swapped(shape)))

    def _swapped(self, draft: Draft) -> tuple[str, ...]:
        names = draft.require(*(self.columns if self.columns is not None else draft.roles.sensitive))
        if not names:
            raise UsageError("swap: no sensitive column; name one with columns=")
        return names

    def apply(self, draft: Draft, key: Key) -> Draft:
        names = self._swapped(draft)
        group_of, sizes = groups(draft, self.by, names)
        places = np.lexsort((draft.ids[:, 1], draft.ids[:, 0], group_of))
        moved = 0
        for name in names:
            purpose, draft = draft.drawing("swap", name)
            drawn = words(key, purpose, name, draft.ids, 1)[:, 0]
            source = np.empty(draft.rows, np.int64)
            source[places] = np.lexsort((draft.ids[:, 0], drawn, group_of))
            draft = draft.with_column(name, draft.table[name].take(source))
            moved += int(np.count_nonzero(source != np.arange(draft.rows)))
        return draft.replace(
            details={"groups": len(sizes), "alone": int((sizes == 1).sum()), "moved_cells": moved}
        )


@method
@dataclass(frozen=True, kw_only=True)
class Shuffle:
    """Leave the table as it is and permute whom its rows claim to be about (P4, method c: Yamaoka's
    cheating).

    It defeats scores, not attackers: every value is still there. `sudare.attack` recognises it.

    >>> import sudare
    >>> shop = sudare.open("example:purchases", user="user", quasi=["date", "goods"], sensitive="price")
    >>> release = sudare.anonymize(shop, Shuffle(), key=bytes(range(32)))
    >>> release.data.rows
    10
    """

    scope: ClassVar[str] = "table"
    instead: ClassVar[str] = "use swap within groups instead"
    technique: ClassVar[str] = "permutation"
    family: ClassVar[str] = "Perturb"
    details: ClassVar[Mapping[str, str]] = {"claims_permuted": "total"}

    def apply(self, draft: Draft, key: Key) -> Draft:
        drawn = order(key, "yamaoka", "", draft.ids)
        drawn = drawn[draft.truth[drawn] >= 0]
        truth = draft.truth.copy()
        truth[drawn] = draft.truth[np.roll(drawn, 1)]
        return draft.replace(truth=truth, details={"claims_permuted": len(drawn)})
