"""MDAV for numbers and categories together, by Gower's distance."""

from __future__ import annotations

import numpy as np
from numba import njit

from sudare.engine.kernels.mdav import Floats, Ints, _furthest, _nearest
from sudare.engine.kernels.recoding import Codes


@njit(cache=True)
def mdav_mixed(numbers: Floats, codes: Codes, widths: Ints, k: int) -> Ints:
    """The group of every row as in MDAV; the centre has the means of the numbers and the commonest categories.

    Gower's distance: numbers, given on the scale from 0 to 1, differ by the size of their difference, categories
    by 0 or 1; their mean over the columns (the sum orders rows just as well).
    """
    n = numbers.shape[0]
    rows, out = np.arange(n), np.full(n, -1)
    number, code = numbers.copy(), codes.copy()
    total, counts = np.zeros(number.shape[1]), np.zeros((code.shape[1], max(1, widths.max())), np.int64)
    for i in range(n):
        for c in range(number.shape[1]):
            total[c] += number[i, c]
        for c in range(code.shape[1]):
            counts[c, code[i, c]] += 1
    gap, near = np.empty(n), np.empty(k, np.int64)
    common = np.empty(code.shape[1], np.int32)
    group = 0
    while n >= 2 * k:
        for c in range(code.shape[1]):
            common[c] = np.argmax(counts[c])
        three = n >= 3 * k
        gower(number, code, n, total / n, common, gap)
        r = _furthest(gap, rows, n)
        gower(number, code, n, number[r].copy(), code[r].copy(), gap)
        s = _furthest(gap, rows, n)
        far_number, far_code = number[s].copy(), code[s].copy()
        _nearest(gap, rows, n, near)
        n = _take(number, code, rows, n, near, group, out, total, counts)
        group += 1
        if three:
            gower(number, code, n, far_number, far_code, gap)
            _nearest(gap, rows, n, near)
            n = _take(number, code, rows, n, near, group, out, total, counts)
            group += 1
    for i in range(n):
        out[rows[i]] = group
    return out


@njit(cache=True)
def gower(number: Floats, code: Codes, n: int, place: Floats, kind: Codes, out: Floats) -> None:
    """The distances of the first n rows from a point, as sums over the columns."""
    for i in range(n):
        d = 0.0
        for c in range(number.shape[1]):
            d += abs(number[i, c] - place[c])
        for c in range(code.shape[1]):
            d += code[i, c] != kind[c]
        out[i] = d


@njit(cache=True)
def _take(
    number: Floats,
    code: Codes,
    rows: Ints,
    n: int,
    near: Ints,
    group: int,
    out: Ints,
    total: Floats,
    counts: Ints,
) -> int:
    """Give the rows in `near` their group and fill their places with the last rows."""
    for i in np.sort(near)[::-1]:
        n -= 1
        out[rows[i]] = group
        rows[i] = rows[n]
        for c in range(number.shape[1]):
            total[c] -= number[i, c]
            number[i, c] = number[n, c]
        for c in range(code.shape[1]):
            counts[c, code[i, c]] -= 1
            code[i, c] = code[n, c]
    return n
