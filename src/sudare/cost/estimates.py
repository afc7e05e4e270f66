"""The cost of k-anonymity before processing, from counts alone (P3, section 3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.cost.distinct import broadcast, expected_distinct
from sudare.errors import UsageError
from sudare.parameters import as_numbers, as_whole_numbers

Floats = NDArray[np.float64]
MOST_USERS = 100_000_000  # every number of clusters is tried


def expected_dummies(
    n: ArrayLike,
    m: ArrayLike,
    l: ArrayLike,
    c: ArrayLike | None = None,
    k: ArrayLike | None = None,
    p: ArrayLike | None = None,
    b: ArrayLike | None = None,
) -> Floats:
    """The paper's expected number of dummy records for n users, m records, l values.

    With `c` clusters: E(dm) = nl((1-1/l)^(m/n) - (1-1/l)^(m/c)) (P3, Thm 3); with `k`: c = n/k, not rounded
    (Cor. 1). With `p`, the share of each value among the records: E2 (Cor. 2); with `b` too, the number of
    records of each user: E3 (Cor. 3). `n`, `m`, `l`, `c`, `k` may be arrays.
    `expected_dummies_exact` needs none of these assumptions.

    >>> round(float(expected_dummies(400, 10_000, 100, c=20)))
    30850
    """
    n, m, l = (as_numbers(value, name) for name, value in {"n": n, "m": m, "l": l}.items())
    _check(n, m, l)
    clusters = _clusters(n, c, k)
    broadcast(n=n, m=m, l=l, clusters=clusters)
    if p is None:
        if b is None:
            return _uniform(n, m, l, clusters)
        spent = expected_distinct(_activity(b, n), l[..., None]).sum(axis=-1)
        return np.asarray(n * expected_distinct(m / clusters, l) - spent)[()]
    shares, times = _shares(p, l)
    owned = n * _distinct_of(shares, times, m / n) if b is None else _owned(shares, times, _activity(b, n))
    return np.asarray(n * _distinct_of(shares, times, m / clusters) - owned)[()]


def normaliser(n: ArrayLike, m: ArrayLike, l: ArrayLike) -> Floats:
    """alpha = 1 / E(dm at c=1): it brings the cost to the range 0..1 (P3, section 3.5).

    >>> round(1 / normaliser(400, 38_000, 2_700))
    1042653
    """
    largest = np.asarray(expected_dummies(n, m, l, c=1))
    return np.divide(1.0, largest, out=np.zeros_like(largest), where=largest > 0)[()]


def score(n: ArrayLike, m: ArrayLike, l: ArrayLike, c: ArrayLike) -> Floats:
    """The comprehensive evaluation alpha E(dm) + c/n: cost and re-identification on one scale, less is better.

    >>> score(400, 38_000, 2_700, [50, 69, 100]).round(3).tolist()
    [0.343, 0.328, 0.35]
    """
    cost = normaliser(n, m, l) * expected_dummies(n, m, l, c=c)
    return np.asarray(cost + as_numbers(c, "c") / as_numbers(n, "n"))[()]


def best_clusters(n: ArrayLike, m: ArrayLike, l: ArrayLike) -> Any:
    """The number of clusters with the smallest comprehensive evaluation (P3, Fig. 10); of arrays an array.

    >>> best_clusters(400, 38_000, 2_700), best_clusters(400, [10_000, 38_000], 2_700).tolist()
    (69, [37, 69])
    """
    return _smallest(n, m, l, _up_to)


def best_k(n: ArrayLike, m: ArrayLike, l: ArrayLike) -> Any:
    """The k with the smallest evaluation at floor(n/k) clusters: k itself is searched, not rounded from the best c.

    >>> best_k(400, 38_000, 2_700), 400 // best_clusters(400, 38_000, 2_700)
    (6, 5)
    """
    return _smallest(n, m, l, lambda users: users // _up_to(users))


def _smallest(n: ArrayLike, m: ArrayLike, l: ArrayLike, clusters: Callable[[int], NDArray[Any]]) -> Any:
    """The place, from 1, of the candidate number of clusters with the smallest evaluation."""
    users, records, values = broadcast(n=as_whole_numbers(n, "n"), m=m, l=l)
    cases = zip(users.ravel().astype(int).tolist(), records.ravel(), values.ravel())
    best = [int(np.argmin(score(a, b, c, clusters(a)))) + 1 for a, b, c in cases]
    return np.array(best).reshape(users.shape) if users.shape else best[0]


def _up_to(n: int) -> NDArray[np.int64]:
    if not 0 < n <= MOST_USERS:
        raise UsageError(f"n, the number of users, is from 1 to {MOST_USERS:,}")
    return np.arange(1, n + 1)


def _uniform(n: Floats, m: Floats, l: Floats, c: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log1p(-1.0 / l)
        a, b = m / n * log, m / c * log
        expected = n * l * np.exp(a) * -np.expm1(b - a)
    return np.where((l == 1) | (m == 0) | (n == c), 0.0, expected)[()]


def _check(n: Floats, m: Floats, l: Floats) -> None:
    if not (n >= 1).all():
        raise UsageError("n, the number of users, is at least 1")
    if not (m >= 0).all():
        raise UsageError("m, the number of records, is not negative")
    if not (l >= 1).all():
        raise UsageError("l, the number of values, is at least 1")


def _clusters(n: Floats, c: ArrayLike | None, k: ArrayLike | None) -> Floats:
    if (c is None) == (k is None):
        raise UsageError("expected_dummies: give either c, the number of clusters, or k")
    name, given = ("c", as_numbers(c, "c")) if c is not None else ("k", as_numbers(k, "k"))
    if not (given > 0).all():
        raise UsageError(f"{name} must be positive")
    n, given = broadcast(n=n, **{name: given})
    return given if c is not None else np.asarray(n / given)


def _shares(p: ArrayLike, l: Floats) -> tuple[Floats, Floats]:
    """Equal shares are computed once."""
    shares = as_numbers(p, "p")
    if shares.ndim != 1 or not (shares >= 0).all() or not np.isclose(shares.sum(), 1.0, atol=1e-6):
        raise UsageError("p: one share per value, none negative, sum 1")
    if (l != len(shares)).any():
        raise UsageError(f"p: one share per value; there are {len(shares)} shares")
    shares, times = np.unique(shares[shares > 0], return_counts=True)
    return shares, times.astype(np.float64)


def _activity(b: ArrayLike, n: Floats) -> Floats:
    records = as_numbers(b, "b")
    if records.ndim != 1 or not (records >= 0).all() or (n != len(records)).any():
        raise UsageError("b: the number of records of each user, as many as n")
    return records


def _distinct_of(shares: Floats, times: Floats, x: Floats) -> Floats:
    """Sum over values of 1 - (1 - p_j)^x, the expected distinct values of x records."""
    with np.errstate(divide="ignore", invalid="ignore"):
        touched = -np.expm1(np.multiply.outer(x, np.log1p(-np.minimum(shares, 1.0))))
    return np.asarray(np.where(np.asarray(x)[..., None] == 0, 0.0, touched) @ times)


def _owned(shares: Floats, times: Floats, b: Floats) -> float:
    sizes, users = np.unique(b, return_counts=True)
    return float(_distinct_of(shares, times, sizes) @ users)
