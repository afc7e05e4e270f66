"""How far the sensitive values of every class are from those of the whole table.

A class is a stretch of `value` and `count` between two `offsets`: the codes of the values that occur in it,
rising, and how often. Values that do not occur in a class cost nothing: prefix sums of the table's shares
stand for them.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


@njit(cache=True)
def equal_distance(offsets: Ints, value: Codes, count: Ints, share: Floats) -> Floats:
    """Earth mover's distance when all values are equally far apart: the sum of what a class has too much."""
    out = np.zeros(len(offsets) - 1)
    for c in range(len(out)):
        size = count[offsets[c] : offsets[c + 1]].sum()
        for i in range(offsets[c], offsets[c + 1]):
            out[c] += max(count[i] / size - share[value[i]], 0.0)
    return out


@njit(cache=True)
def ordered_distance(offsets: Ints, value: Codes, count: Ints, share: Floats) -> Floats:
    """Earth mover's distance when values lie on a line: the mean over its m-1 gaps of |F_class - F_table|.

    Between two values of a class F_class is constant and F_table rises, so the gap is split where they cross.
    """
    m = len(share)
    level = np.cumsum(share)  # F_table after each value
    total = np.zeros(m + 1)  # sums of F_table
    for j in range(m):
        total[j + 1] = total[j] + level[j]
    out = np.zeros(len(offsets) - 1)
    if m < 2:
        return out
    for c in range(len(out)):
        size = count[offsets[c] : offsets[c + 1]].sum()
        below = 0
        at = 0
        distance = 0.0
        for i in range(offsets[c], offsets[c + 1] + 1):
            end = value[i] if i < offsets[c + 1] else m
            mine = below / size
            cross = min(max(np.searchsorted(level, mine), at), end)  # first F_table not below mine
            distance += mine * (cross - at) - (total[cross] - total[at])
            distance += total[end] - total[cross] - mine * (end - cross)
            at = end
            if i < offsets[c + 1]:
                below += count[i]
        out[c] = distance / (m - 1)
    return out


@njit(cache=True)
def hierarchical_distance(offsets: Ints, value: Codes, count: Ints, share: Floats, up: Codes) -> Floats:
    """Earth mover's distance on a hierarchy (Li, Li, Venkatasubramanian 2007).

    Mass moved below a label of level h costs h over the number of levels above the leaves; `up[h, leaf]` is
    the label of a leaf on level h.
    """
    levels, leaves = up.shape
    out = np.zeros(len(offsets) - 1)
    if levels < 2:
        return out
    extra = np.zeros(leaves)
    more = np.zeros(leaves)
    less = np.zeros(leaves)
    above = np.zeros(leaves)
    for c in range(len(out)):
        size = count[offsets[c] : offsets[c + 1]].sum()
        for j in range(leaves):
            extra[j] = -share[j]
        for i in range(offsets[c], offsets[c + 1]):
            extra[value[i]] += count[i] / size
        for h in range(1, levels):
            more[:] = 0.0
            less[:] = 0.0
            above[:] = 0.0
            for j in range(leaves):  # every label of level h-1 hands its surplus to its parent once
                label = up[h - 1, j]
                if extra[label] > 0:
                    more[up[h, j]] += extra[label]
                else:
                    less[up[h, j]] -= extra[label]
                above[up[h, j]] += extra[label]
                extra[label] = 0.0
            for j in range(leaves):
                out[c] += h / (levels - 1) * min(more[j], less[j])
                extra[j] = above[j]
    return out


@njit(cache=True)
def likeness(offsets: Ints, value: Codes, count: Ints, share: Floats) -> tuple[Floats, Floats, Floats]:
    """Per class: delta, beta and enhanced beta.

    delta: the largest |log(q/p)| over the values that occur; beta: the largest (q-p)/p; enhanced: the same,
    but infinite where it passes -log p of the value.
    """
    classes = len(offsets) - 1
    delta, beta, enhanced = np.zeros(classes), np.zeros(classes), np.zeros(classes)
    for c in range(classes):
        size = count[offsets[c] : offsets[c + 1]].sum()
        for i in range(offsets[c], offsets[c + 1]):
            p = share[value[i]]
            q = count[i] / size
            gain = (q - p) / p
            delta[c] = max(delta[c], abs(np.log(q / p)))
            beta[c] = max(beta[c], gain)
            enhanced[c] = max(enhanced[c], np.inf if gain > -np.log(p) + 1e-12 else gain)
    return delta, beta, enhanced
