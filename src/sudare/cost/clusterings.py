"""The cost of a clustering: exactly when it is known, in expectation when it is drawn at random."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.errors import UsageError

ItemSets = Mapping[Hashable, Iterable[Hashable]] | Sequence[Iterable[Hashable]]
Clusters = Iterable[Iterable[Hashable]] | ArrayLike


def dummies(itemsets: ItemSets, clusters: Clusters, keep: str = "set") -> int:
    """dm = sum_i s_i |I(U_i)| - sum_u |I(u)|, the dummy records that a clustering needs (P3, Prop. 1).

    `itemsets` holds the values of each user (a mapping, or a sequence with users 0, 1, ...); `clusters` the
    users of each cluster, or one cluster label per user. With keep="multiset" a value counts as often as a
    user has it, so that the members of a cluster end with equal histories: sum_i s_i sum_g max_u cnt_u(g) -
    records.

    >>> sets = {"Alice": ["Apple"], "Bob": ["Apple", "Book"], "Carol": ["Book"]}
    >>> dummies(sets, [["Alice", "Bob", "Carol"]])
    2
    """
    if keep not in ("set", "multiset"):
        raise UsageError("keep is 'set' or 'multiset'")
    owned = {user: _count(values, keep) for user, values in _entries(itemsets)}
    total = 0
    for members in _groups(list(owned), clusters):
        most: dict[Hashable, int] = {}
        for user in members:
            for value, times in owned[user].items():
                most[value] = max(most.get(value, 0), times)
        total += len(members) * sum(most.values()) - sum(sum(owned[user].values()) for user in members)
    return total


def expected_dummies_exact(owners: ArrayLike, sizes: ArrayLike) -> float:
    """E[dm] of random clusters of the given sizes, with no assumption about the data.

    With d_j users owning value j: sum_i s_i sum_j (1 - C(n-d_j, s_i)/C(n, s_i)) - sum_j d_j. `sizes` are the
    cluster sizes; they sum to n. The binomials are taken as log-gamma.

    >>> round(expected_dummies_exact([2, 2], [3]), 9), round(expected_dummies_exact([1, 1], [1, 1]), 9)
    (2.0, 0.0)
    """
    sizes, clusters = np.unique(np.asarray(sizes, dtype=np.int64), return_counts=True)
    owned, values = np.unique(np.asarray(owners, dtype=np.int64), return_counts=True)
    n = int(sizes @ clusters)
    if len(sizes) == 0 or sizes[0] < 1:
        raise UsageError("sizes: every cluster has at least one user")
    if len(owned) and (owned[0] < 0 or owned[-1] > n):
        raise UsageError("owners: between 0 and the number of users, which is the sum of sizes")
    touched = 1.0 - _missed(n, owned, sizes)
    return float((sizes * clusters) @ (touched @ values) - owned @ values)


def even_sizes(n: int, clusters: int) -> NDArray[np.int64]:
    """n users in clusters whose sizes differ by at most one.

    >>> even_sizes(10, 3).tolist()
    [4, 3, 3]
    """
    sizes = np.full(clusters, n // clusters, dtype=np.int64)
    sizes[: n % clusters] += 1
    return sizes


def _missed(n: int, owned: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """C(n-d, s)/C(n, s): the chance that a random cluster of s users holds none of the d owners."""
    from scipy.special import gammaln

    d, s = owned[None, :].astype(np.float64), sizes[:, None].astype(np.float64)
    room = n - d - s
    logs = gammaln(n - d + 1) - gammaln(np.maximum(room, 0) + 1) + gammaln(n - s + 1) - gammaln(n + 1)
    return np.where(room < 0, 0.0, np.where(d == 0, 1.0, np.exp(logs)))


def _entries(itemsets: ItemSets) -> Iterable[tuple[Hashable, Iterable[Hashable]]]:
    return itemsets.items() if isinstance(itemsets, Mapping) else enumerate(itemsets)


def _count(values: Iterable[Hashable], keep: str) -> dict[Hashable, int]:
    counts: dict[Hashable, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1 if keep == "multiset" else 1
    return counts


def _groups(users: list[Hashable], clusters: Clusters) -> list[list[Hashable]]:
    """The members of each cluster; every user is in exactly one."""
    entries: list[Any] = list(clusters)  # type: ignore[arg-type]
    if entries and all(np.ndim(e) == 0 and not isinstance(e, (str, bytes, frozenset, set)) for e in entries):
        labels = np.asarray(entries)
        if len(labels) != len(users):
            raise UsageError("clusters: one label per user")
        groups = [[users[i] for i in np.flatnonzero(labels == label)] for label in np.unique(labels)]
    else:
        groups = [list(group) for group in entries]
    seen = [user for group in groups for user in group]
    if len(seen) != len(set(seen)) or set(seen) != set(users):
        raise UsageError("clusters: every user belongs to exactly one cluster")
    return groups
