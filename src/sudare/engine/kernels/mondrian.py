"""Mondrian (LeFevre et al. 2006): the table is cut at medians until a cut would leave fewer than k rows."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import numpy as np
from numba import njit

from sudare.engine.kernels.conditions import Conditions, holds
from sudare.engine.kernels.recoding import Codes, Floats, Ints

STACK = 128


@njit(cache=True)
def mondrian(
    codes: Codes,
    point: Floats,
    offset: Ints,
    k: int,
    relaxed: bool,
    sensitive: Codes,
    conditions: Conditions,
) -> tuple[Ints, int]:
    """The group of every row and how many groups there are.

    The column with the widest range (`point[offset[c] + code]`, from 0 to 1) is cut first, at the value nearest
    to its median; the next widest when that is not allowed. Strict: rows with equal values stay on one side.
    Relaxed: where no such cut is left, rows at the median go to both sides, in the order given.
    """
    n, q = codes.shape
    rows, data, traits = np.arange(n), codes.copy(), sensitive.copy()
    group_of = np.empty(n, np.int64)
    low, high, width = np.empty(q, np.int32), np.empty(q, np.int32), np.empty(q)
    histogram = np.zeros(np.max(offset[1:] - offset[:-1]) + 1, np.int64)
    sides = np.zeros((2, conditions.overall.shape[0]), np.int64)
    checked = conditions.l > 1.0 or conditions.t < 1.0
    stack = np.empty((STACK, 2), np.int64)
    stack[0, 0], stack[0, 1] = 0, n
    depth, groups = 1, 0
    while depth > 0:
        depth -= 1
        a, b = stack[depth, 0], stack[depth, 1]
        cut = -1
        if b - a >= 2 * k:
            _ranges(data, a, b, low, high)
            for tries in range((1 + int(relaxed)) * q):
                if tries % q == 0:
                    for c in range(q):
                        width[c] = point[offset[c] + high[c]] - point[offset[c] + low[c]]
                c = int(np.argmax(width))
                if width[c] <= 0.0:
                    continue
                width[c] = -1.0
                ties = tries >= q
                value, middle = _median_cut(data, a, b, c, low[c], high[c], k, ties, histogram)
                if middle <= a:
                    continue
                _partition(data, rows, traits, a, b, c, value, middle, ties)
                if not checked or _both_hold(traits, a, middle, b, sides, conditions):
                    cut = middle
                    break
        if cut < 0:
            for i in range(a, b):
                group_of[rows[i]] = groups
            groups += 1
        else:
            large = int(cut - a > b - cut)  # the smaller part next: the stack stays below log2 of the rows
            stack[depth + 1 - large, 0], stack[depth + 1 - large, 1] = a, cut
            stack[depth + large, 0], stack[depth + large, 1] = cut, b
            depth += 2
    return group_of, groups


@njit(cache=True)
def _ranges(data: Codes, a: int, b: int, low: Codes, high: Codes) -> None:
    q = data.shape[1]
    for c in range(q):
        low[c] = high[c] = data[a, c]
    for i in range(a + 1, b):
        for c in range(q):
            low[c] = min(low[c], data[i, c])
            high[c] = max(high[c], data[i, c])


@njit(cache=True)
def _median_cut(
    data: Codes, a: int, b: int, c: int, low: int, high: int, k: int, relaxed: bool, histogram: Ints
) -> tuple[int, int]:
    """The last value of the left side and where the right side begins; (0, -1) when no cut leaves k rows."""
    half = (b - a) // 2
    if high - low > 4 * (b - a):
        return _median_cut_sorted(data, a, b, c, k, relaxed)
    counts = histogram[: high - low + 1]
    counts[:] = 0
    for i in range(a, b):
        counts[data[i, c] - low] += 1
    left, best, value, middle = 0, b - a, 0, -1
    for v in range(high - low):
        left += counts[v]
        if relaxed and left >= half:
            return low + v, a + half
        if left >= k and b - a - left >= k and abs(2 * left - (b - a)) < best:
            best = abs(2 * left - (b - a))
            value, middle = low + v, a + left
        if left > half:
            break
    return (high, a + half) if relaxed else (value, middle)


@njit(cache=True)
def _median_cut_sorted(data: Codes, a: int, b: int, c: int, k: int, relaxed: bool) -> tuple[int, int]:
    """The same for few rows of many values."""
    ordered = np.sort(data[a:b, c])
    half = (b - a) // 2
    if relaxed:
        return ordered[half - 1], a + half
    best, value, middle = b - a, 0, -1
    for i in range(k, b - a - k + 1):
        if ordered[i] != ordered[i - 1] and abs(2 * i - (b - a)) < best:
            best = abs(2 * i - (b - a))
            value, middle = ordered[i - 1], a + i
    return value, middle


@njit(cache=True)
def _partition(
    data: Codes, rows: Ints, traits: Codes, a: int, b: int, c: int, value: int, middle: int, relaxed: bool
) -> None:
    """Rows up to `value` to the left of `middle`, larger ones to the right; relaxed: equal ones on both sides."""
    j = middle
    for i in range(a, middle):
        if data[i, c] > value:
            while data[j, c] > value:
                j += 1
            _swap(data, rows, traits, i, j)
            j += 1
    if relaxed:
        i = a
        for j in range(middle, b):
            if data[j, c] < value:
                while data[i, c] < value:
                    i += 1
                _swap(data, rows, traits, i, j)
                i += 1


@njit(cache=True)
def _swap(data: Codes, rows: Ints, traits: Codes, i: int, j: int) -> None:
    for c in range(data.shape[1]):
        data[i, c], data[j, c] = data[j, c], data[i, c]
    rows[i], rows[j] = rows[j], rows[i]
    traits[i], traits[j] = traits[j], traits[i]


@njit(cache=True)
def _both_hold(traits: Codes, a: int, middle: int, b: int, sides: Ints, conditions: Conditions) -> bool:
    sides[:] = 0
    for i in range(a, middle):
        sides[0, traits[i]] += 1
    for i in range(middle, b):
        sides[1, traits[i]] += 1
    return holds(conditions, sides[0], middle - a) and holds(conditions, sides[1], b - middle)
