"""Attacks on histories: whose set of values is most like that of a published user (P3, Table 2).

They compare users, not rows. The values are those of `columns`; without, the column that dummy records were
added for, else every column that both tables have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.base import Candidates
from sudare.attacks.matching import Matching
from sudare.engine.pair import Pair
from sudare.errors import UsageError
from sudare.registry import attack

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]


class Histories(NamedTuple):
    """Per user the items and how often: the items of user u are at `indptr[u]:indptr[u+1]`."""

    indptr: Longs
    items: Longs
    times: Longs


@attack
@dataclass(frozen=True, kw_only=True)
class Jaccard(Matching):
    """The original user whose set of values shares the largest part of the union: |A and B| / |A or B|.

    >>> import sudare
    >>> shop = sudare.open("example:purchases", user="user", quasi=["date", "goods"], sensitive="price")
    >>> release = sudare.anonymize(shop, sudare.methods.Suppress(columns=["time"]), key=bytes(range(32)))
    >>> sudare.attack(shop, release, Jaccard()).rows[0]["rate"]
    1.0
    """

    unit: ClassVar[str] = "user"
    family: ClassVar[str] = "histories"
    priority: ClassVar[int] = 300
    columns: tuple[str, ...] | None = None

    def match(self, pair: Pair) -> Candidates:
        original, release, items = histories(pair, self.columns)
        ones = [np.ones(len(h.items)) for h in (original, release)]
        sizes = [np.diff(h.indptr).astype(np.float64) for h in (original, release)]
        return _most_alike(original, release, items, *ones, *sizes, cosine=False)

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls(columns=columns) for columns in _choices(pair)]


@attack
@dataclass(frozen=True, kw_only=True)
class TfIdf(Matching):
    """The original user with the largest cosine of the TF-IDF vectors: values that few users have weigh more.

    The weight of a value is (1 + log times) (1 + log((1 + n)/(1 + owners))), owners counted in the original.

    >>> import sudare
    >>> shop = sudare.open("example:purchases", user="user", quasi=["date", "goods"], sensitive="price")
    >>> release = sudare.anonymize(shop, sudare.methods.Suppress(columns=["time"]), key=bytes(range(32)))
    >>> sudare.attack(shop, release, TfIdf()).rows[0]["rate"]
    1.0
    """

    unit: ClassVar[str] = "user"
    family: ClassVar[str] = "histories"
    priority: ClassVar[int] = 310
    columns: tuple[str, ...] | None = None

    def match(self, pair: Pair) -> Candidates:
        original, release, items = histories(pair, self.columns)
        n = len(original.indptr) - 1
        rarity = 1 + np.log((1 + n) / (1 + np.bincount(original.items, minlength=items)))
        weights = [(1 + np.log(h.times)) * rarity[h.items] for h in (original, release)]
        norms = [_lengths(h, w) for h, w in zip((original, release), weights)]
        return _most_alike(original, release, items, *weights, *norms, cosine=True)

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls(columns=columns) for columns in _choices(pair)]


def histories(pair: Pair, columns: tuple[str, ...] | None) -> tuple[Histories, Histories, int]:
    """The histories of the users of both tables, and how many items there are."""
    users = pair.users()
    first, second, items = coded_items(pair, columns)
    return (
        history(users.of_original, first, users.originals, items),
        history(users.of_release, second, users.releases, items),
        items,
    )


def coded_items(pair: Pair, columns: tuple[str, ...] | None) -> tuple[Longs, Longs, int]:
    """The items of every row of both tables, rows x columns, and how many items there are."""
    from sudare.engine.codes import joint_codes

    chosen = columns if columns is not None else (dummied(pair) or comparable(pair))
    if not chosen:
        raise UsageError("no column to compare histories by; name them with columns=")
    coded, values = joint_codes(pair.tables(chosen), chosen)
    starts = np.concatenate(([0], np.cumsum([len(v) for v in values])))
    first, second = (matrix.astype(np.int64) + starts[:-1] for matrix in coded)
    return first, second, int(starts[-1])


def history(users: Longs, coded: Longs, n: int, items: int) -> Histories:
    """The items of each of n users, from the user and the items of every row."""
    pairs, times = np.unique((users[:, None] * items + coded).ravel(), return_counts=True)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(pairs // items, minlength=n))))
    return Histories(indptr.astype(np.int64), pairs % items, times.astype(np.int64))


def owners_of_items(original: Histories, items: int) -> tuple[Longs, Longs, Longs]:
    """The owners of item g are `owners[starts[g]:starts[g+1]]`: starts, owners, and the order of the entries."""
    owner = np.repeat(np.arange(len(original.indptr) - 1), np.diff(original.indptr))
    by_item = np.argsort(original.items, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(original.items, minlength=items)))).astype(np.int64)
    return starts, owner[by_item], by_item


def _most_alike(
    original: Histories,
    release: Histories,
    items: int,
    original_weights: Floats,
    release_weights: Floats,
    original_norms: Floats,
    release_norms: Floats,
    *,
    cosine: bool,
) -> Candidates:
    from sudare.engine.kernels.itemsets import most_alike

    starts, owners, by_item = owners_of_items(original, items)
    published, guessed = most_alike(
        release.indptr,
        release.items,
        release_weights,
        release_norms,
        starts,
        owners,
        original_weights[by_item],
        original_norms,
        cosine,
    )
    return Candidates.of_pairs(published, guessed, len(release_norms), len(original_norms))


def _lengths(history: Histories, weights: Floats) -> Floats:
    user = np.repeat(np.arange(len(history.indptr) - 1), np.diff(history.indptr))
    return np.sqrt(np.bincount(user, weights**2, minlength=len(history.indptr) - 1))


def _choices(pair: Pair) -> list[tuple[str, ...] | None]:
    """What to compare on a table of histories; where dummies were added for a column, that and all columns."""
    everything = comparable(pair)
    if pair.roles.user is None or pair.roles.user not in pair.release.columns or not everything:
        return []
    return [None] if dummied(pair) in ((), everything) else [None, everything]


def dummied(pair: Pair) -> tuple[str, ...]:
    """The columns that the release says dummy records were added for."""
    named = pair.release.published.get("schema", {}).get("dummies", {})
    return tuple(name for name in named if name in comparable(pair))


def comparable(pair: Pair) -> tuple[str, ...]:
    """The columns that both tables have and that may say something about a person's history."""
    roles = pair.roles
    apart = {roles.user, *roles.identifier, *pair.set_columns}
    return tuple(c for c in pair.original.columns if c not in apart and c in pair.release.columns)
