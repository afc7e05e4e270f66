"""The cost of k-anonymity before processing, from counts alone (P3, section 3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.cost.distinct import expected_distinct
from sudare.errors import UsageError

Floats = NDArray[np.float64]


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
    n, m, l = (np.asarray(v, dtype=np.float64) for v in (n, m, l))
    clusters = _clusters(n, c, k)
    if p is None:
        if b is None:
            return _uniform(n, m, l, clusters)
        spent = expected_distinct(np.asarray(b, dtype=np.float64), l).sum()
        return np.asarray(n * expected_distinct(m / clusters, l) - spent)[()]
    shares, times = _shares(p)
    owned = n * _distinct_of(shares, times, m / n) if b is None else _owned(shares, times, b)
    return np.asarray(n * _distinct_of(shares, times, m / clusters) - owned)[()]


def normaliser(n: int, m: int, l: int) -> float:
    """alpha = 1 / E(dm at c=1): it brings the cost to the range 0..1 (P3, section 3.5).

    >>> round(1 / normaliser(400, 38_000, 2_700))
    1042653
    """
    largest = float(expected_dummies(n, m, l, c=1))
    return 1.0 / largest if largest > 0 else 0.0


def score(n: int, m: int, l: int, c: ArrayLike) -> Floats:
    """The comprehensive evaluation alpha E(dm) + c/n: cost and re-identification on one scale, less is better."""
    clusters = np.asarray(c, dtype=np.float64)
    return np.asarray(normaliser(n, m, l) * expected_dummies(n, m, l, c=clusters) + clusters / n)[()]


def best_clusters(n: int, m: int, l: int) -> int:
    """The number of clusters with the smallest comprehensive evaluation (P3, Fig. 10).

    >>> best_clusters(400, 38_000, 2_700)
    69
    """
    _positive(n=n)
    return int(np.argmin(score(n, m, l, np.arange(1, n + 1)))) + 1


def best_k(n: int, m: int, l: int) -> int:
    """The k with the smallest evaluation at floor(n/k) clusters: k itself is searched, not rounded from the best c.

    >>> best_k(400, 38_000, 2_700), 400 // best_clusters(400, 38_000, 2_700)
    (6, 5)
    """
    _positive(n=n)
    return int(np.argmin(score(n, m, l, n // np.arange(1, n + 1)))) + 1


def _uniform(n: Floats, m: Floats, l: Floats, c: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log1p(-1.0 / l)
        a, b = m / n * log, m / c * log
        expected = -n * l * np.exp(a) * np.expm1(b - a)
    return np.where((l == 1) | (m == 0), 0.0, expected)[()]


def _clusters(n: Floats, c: ArrayLike | None, k: ArrayLike | None) -> Floats:
    if (c is None) == (k is None):
        raise UsageError("expected_dummies: give either c, the number of clusters, or k")
    given = np.asarray(c if c is not None else k, dtype=np.float64)
    _positive(n=n, **{"k" if c is None else "c": given})
    return given if c is not None else np.asarray(n / given)


def _positive(**numbers: ArrayLike) -> None:
    for name, value in numbers.items():
        if not (np.asarray(value) > 0).all():
            raise UsageError(f"{name} must be positive")


def _shares(p: ArrayLike) -> tuple[Floats, Floats]:
    """Equal shares are computed once."""
    shares = np.asarray(p, dtype=np.float64)
    if shares.ndim != 1 or (shares < 0).any() or not np.isclose(shares.sum(), 1.0, atol=1e-6):
        raise UsageError("p: one share per value, none negative, sum 1")
    shares, times = np.unique(shares[shares > 0], return_counts=True)
    return shares, times.astype(np.float64)


def _distinct_of(shares: Floats, times: Floats, x: Floats) -> Floats:
    """Sum over values of 1 - (1 - p_j)^x, the expected distinct values of x records."""
    with np.errstate(divide="ignore"):
        logs = np.log1p(-np.minimum(shares, 1.0))
    x = np.asarray(x, dtype=np.float64)
    return np.asarray(-np.expm1(np.multiply.outer(x, logs)) @ times)


def _owned(shares: Floats, times: Floats, b: ArrayLike) -> float:
    sizes, users = np.unique(np.asarray(b, dtype=np.float64), return_counts=True)
    return float(_distinct_of(shares, times, sizes) @ users)
