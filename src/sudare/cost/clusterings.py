"""The cost of a clustering: exactly when it is known, in expectation when it is drawn at random."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.errors import UsageError
from sudare.parameters import as_whole_numbers, fitted

ItemSets = Mapping[Hashable, Iterable[Hashable]] | Sequence[Iterable[Hashable]]
Clusters = Mapping[Hashable, Any] | Iterable[Iterable[Hashable]] | ArrayLike
Keep = Literal["set", "multiset"]
Floats = NDArray[np.float64]
FAR = 100  # from here on Stirling's series is exact to the last digit


def dummies(itemsets: ItemSets, clusters: Clusters, keep: Keep = "set") -> int:
    """dm = sum_i s_i |I(U_i)| - sum_u |I(u)|, the dummy records that a clustering needs (P3, Prop. 1).

    `itemsets` holds the values of each user (a mapping, or a sequence with users 0, 1, ...); `clusters` the
    users of each cluster, or one cluster label per user (in the order of `itemsets`, or by user). With
    keep="multiset" a value counts as often as a user has it, so that the members of a cluster end with equal
    histories: sum_i s_i sum_g max_u cnt_u(g) - records.

    >>> sets = {"Alice": ["Apple"], "Bob": ["Apple", "Book"], "Carol": ["Book"]}
    >>> dummies(sets, [["Alice", "Bob", "Carol"]]), dummies(sets, ["first", "first", "second"])
    (2, 1)
    """
    fitted(keep, Keep, "dummies: keep")
    try:
        owned = {user: _count(values, keep) for user, values in _entries(itemsets)}
        groups = _groups(list(owned), clusters)
    except TypeError:  # a number where a collection belongs, or a value that cannot be told from others
        raise UsageError(
            "itemsets: the values of each user; clusters: the users of each, or labels"
        ) from None
    total = 0
    for members in groups:
        most: dict[Hashable, int] = {}
        for user in members:
            for value, times in owned[user].items():
                most[value] = max(most.get(value, 0), times)
        total += len(members) * sum(most.values()) - sum(sum(owned[user].values()) for user in members)
    return total


def expected_dummies_exact(owners: ArrayLike, sizes: ArrayLike) -> float:
    """E[dm] of random clusters of the given sizes, with no assumption about the data.

    With d_j users owning value j: sum_i s_i sum_j (1 - C(n-d_j, s_i)/C(n, s_i)) - sum_j d_j. `sizes` are the
    cluster sizes; they sum to n.

    >>> round(expected_dummies_exact([2, 2], [3]), 9), round(expected_dummies_exact([1, 1], [1, 1]), 9)
    (2.0, 0.0)
    """
    sizes, clusters = np.unique(as_whole_numbers(sizes, "sizes"), return_counts=True)
    owned, values = np.unique(as_whole_numbers(owners, "owners"), return_counts=True)
    n = int(sizes @ clusters)
    if len(sizes) == 0 or sizes[0] < 1:
        raise UsageError("sizes: every cluster has at least one user")
    if len(owned) and (owned[0] < 0 or owned[-1] > n):
        raise UsageError("owners: between 0 and the number of users, which is the sum of sizes")
    published = (sizes * clusters) @ (_touched(n, owned, sizes) @ values)
    return max(0.0, float(published - owned @ values))


def even_sizes(n: int, clusters: int) -> NDArray[np.int64]:
    """n users in clusters whose sizes differ by at most one.

    >>> even_sizes(10, 3).tolist()
    [4, 3, 3]
    """
    sizes = np.full(clusters, n // clusters, dtype=np.int64)
    sizes[: n % clusters] += 1
    return sizes


def _touched(n: int, owned: NDArray[np.int64], sizes: NDArray[np.int64]) -> Floats:
    """1 - C(n-d, s)/C(n, s): the chance that a random cluster of s users holds one of the d owners."""
    d, s = owned[None, :].astype(np.float64), sizes[:, None].astype(np.float64)
    room = n - d - s
    logs = np.where(room < FAR, _by_log_gamma(n, d, s), _by_stirling(n, d, s))
    return np.where(room < 0, 1.0, np.where(d == 0, 0.0, -np.expm1(logs)))


def _by_log_gamma(n: int, d: Floats, s: Floats) -> Floats:
    """log C(n-d, s)/C(n, s), for few users."""
    from scipy.special import gammaln

    room = np.maximum(n - d - s, 0)
    return np.asarray(gammaln(n - d + 1) - gammaln(room + 1) + gammaln(n - s + 1) - gammaln(n + 1))


def _by_stirling(n: int, d: Floats, s: Floats) -> Floats:
    """The same for many users: log-gammas of ten millions differ by less than their rounding."""

    def part(gone: Floats) -> Floats:
        left = np.maximum(n - gone, FAR)
        rest = 1 / (12 * left) - 1 / (360 * left**3)
        return np.asarray((left + 0.5) * np.log1p((left - n) / n) + rest)

    return part(d) + part(s) - part(d + s) - part(np.zeros(1))


def _entries(itemsets: ItemSets) -> Iterable[tuple[Hashable, Iterable[Hashable]]]:
    return itemsets.items() if isinstance(itemsets, Mapping) else enumerate(itemsets)


def _count(values: Iterable[Hashable], keep: str) -> dict[Hashable, int]:
    counts: dict[Hashable, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1 if keep == "multiset" else 1
    return counts


def _groups(users: list[Hashable], clusters: Clusters) -> list[list[Hashable]]:
    """The members of each cluster; every user is in exactly one."""
    named = clusters if isinstance(clusters, Mapping) else {}
    entries: list[Any] = list(named.values() if named else clusters)  # type: ignore[arg-type]
    groups = [list(group) for group in entries if not _is_label(group)]
    if len(groups) < len(entries):
        groups = _of_labels(list(named) or users, entries)
    seen = [user for group in groups for user in group]
    if len(seen) != len(set(seen)) or set(seen) != set(users):
        raise UsageError("clusters: every user belongs to exactly one cluster")
    return groups


def _is_label(entry: Any) -> bool:
    return isinstance(entry, (str, bytes)) or not isinstance(entry, Iterable)


def _of_labels(users: list[Hashable], labels: list[Any]) -> list[list[Hashable]]:
    if len(labels) != len(users) or not all(map(_is_label, labels)):
        raise UsageError("clusters: one label per user")
    groups: dict[Hashable, list[Hashable]] = {}
    for user, label in zip(users, labels):
        groups.setdefault(label, []).append(user)
    return list(groups.values())
