"""The arithmetic of estimating from random sets (P2): counts, variances, expected errors.

Notation: S the domain with `size` values, every published set has l of them, a slice has N records,
W_j of its sets contain value j, V_j of its records truly have it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.errors import DataError

Floats = NDArray[np.float64]


def inclusion(size: int, l: int) -> float:
    """The chance that a set contains a given false value (P2, Eq. 5).

    >>> inclusion(50, 10)
    0.1836734693877551
    """
    return (l - 1) / (size - 1)


def inverse(members: NDArray[np.integer], records: NDArray[np.integer], l: int) -> Floats:
    """The unbiased counts V = (W - P N) / (1 - P), the closed form of P2, Eqs. (9)-(10) and (16).

    `members` is groups x size, `records` one number per group; every row must add up to l N.

    >>> inverse(np.array([[6, 8, 6]]), np.array([10]), 2).tolist()
    [[2.0, 6.0, 2.0]]
    """
    members, records = np.atleast_2d(members), np.atleast_1d(records)
    if not np.array_equal(members.sum(axis=1), l * records):
        raise DataError(f"the sets do not have {l} members each; the release was changed after it was made")
    chance = inclusion(members.shape[1], l)
    return np.asarray((members - chance * records[:, None]) / (1 - chance), np.float64)


def project(counts: Floats, records: NDArray[np.integer]) -> Floats:
    """The nearest non-negative counts with the right total: never farther from the truth than the inverse.

    Euclidean projection on the simplex: subtract one number from all cells and cut at zero.

    >>> project(np.array([[-2.0, 6.0, 8.0]]), np.array([12])).tolist()
    [[0.0, 5.0, 7.0]]
    """
    counts, totals = np.atleast_2d(counts), np.atleast_1d(records).astype(np.float64)
    falling = -np.sort(-counts, axis=1)
    shift = (falling.cumsum(axis=1) - totals[:, None]) / np.arange(1, counts.shape[1] + 1)
    kept = np.maximum((falling > shift).sum(axis=1), 1)
    return np.asarray(np.maximum(counts - shift[np.arange(len(counts)), kept - 1][:, None], 0.0), np.float64)


def variance(counts: Floats, records: NDArray[np.integer] | int, size: int, l: int) -> Floats:
    """Var of the inverse for true counts V: (N - V)(l - 1) / (size - l), for any distribution.

    >>> variance(np.array([40.0]), 100, 6, 2).tolist()
    [15.0]
    """
    return np.asarray((np.asarray(records) - counts) * (l - 1) / (size - l), np.float64)


def interval(
    counts: Floats, records: NDArray[np.integer] | int, size: int, l: int, z: float
) -> tuple[Floats, Floats]:
    """All true counts that the unbiased counts do not contradict: |estimate - V| <= z sd(V).

    The standard deviation is the one that V itself would have, so the interval is right in small groups too.

    >>> low, high = interval(np.array([100.0]), 100, 6, 2, 1.96)
    >>> round(float(low[0]), 3), float(high[0])
    (99.04, 100.0)
    """
    spread, total = (l - 1) / (size - l), np.asarray(records)
    others = np.maximum(total - counts, 0)
    middle = others + z * z * spread / 2
    reach = z * np.sqrt(spread * (others + z * z * spread / 4))
    return np.clip(total - middle - reach, 0, total), np.clip(total - middle + reach, 0, total)


def expected_mse(records: float, size: int, l: int) -> float:
    """E of Eq. (2) given the data, exact for every distribution: (l-1)(size-1) / (N size (size-l)).

    >>> round(expected_mse(1000, 20, 5), 9)
    0.000253333
    """
    return (l - 1) * (size - 1) / (records * size * (size - l))


def expected_mse_uniform(records: float, size: int, l: int) -> float:
    """P2, Eq. (19): the error against a uniform population from which the records were drawn.

    It counts the sampling of the records as an error too, so it is larger than `expected_mse`.

    >>> round(expected_mse_uniform(1000, 20, 5), 9)
    0.000300833
    """
    return l * (size - 1) ** 2 / (records * (size - l) * size**2)


def squared_error(estimated: Floats, true: NDArray[np.number], records: NDArray[np.number]) -> Floats:
    """The MSE between two distributions over the domain, per group (P2, Eq. 2).

    >>> squared_error(np.array([[2.0, 2.0]]), np.array([[3, 1]]), np.array([4])).tolist()
    [0.0625]
    """
    difference = (np.atleast_2d(true) - np.atleast_2d(estimated)) / np.atleast_1d(records)[:, None]
    return np.asarray((difference**2).mean(axis=1), np.float64)


def likeliest(
    sets: NDArray[np.integer], groups: NDArray[np.integer], start: Floats, records: NDArray[np.integer]
) -> tuple[Floats, bool]:
    """The maximum-likelihood counts of every group, and whether EM settled in all of them.

    `start` are projected counts; a little of the uniform is mixed in so that no cell begins at zero.
    """
    from sudare.engine.kernels.estimate import fit_em

    n_groups, size = start.shape
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups, minlength=n_groups))
    counts, settled = np.zeros_like(start), True
    for group, (stop, total) in enumerate(zip(ends, records)):
        rows, weights = distinct_sets(sets[order[stop - total : stop]], size)
        begin = 0.9 * start[group] / total + 0.1 / size
        shares, rounds = fit_em(rows, weights, begin, 1e-3 / (total * size) + 1e-10, 5000)
        counts[group], settled = shares * total, settled and rounds < 5000
    return counts, settled


def distinct_sets(sets: NDArray[np.integer], size: int) -> tuple[NDArray[np.integer], Floats]:
    """Equal sets counted once; only domains of up to 64 values repeat sets often enough to try."""
    if size > 64 or len(sets) == 0:
        return sets, np.ones(len(sets))
    from sudare.engine.kernels.estimate import masks

    _, first, counts = np.unique(masks(sets, size)[:, 0], return_index=True, return_counts=True)
    return sets[first], counts.astype(np.float64)
