"""l-diversity of every class in one pass over its counts, which lie between two offsets."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@njit(cache=True)
def class_diversity(offsets: Ints, count: Ints, c: float) -> tuple[Floats, Floats, Ints, Floats]:
    """Per class: exp(entropy), 1/share of the commonest value, the largest l that is recursively (c, l)-diverse,
    and what c must exceed for l = 2 (infinite for a single value).

    With counts r1 >= r2 >= ... a class is (c, l)-diverse if r1 < c (r_l + ... + r_m); the sum falls with l.
    """
    classes = len(offsets) - 1
    entropy, frequency = np.empty(classes), np.empty(classes)
    recursive, of_two = np.zeros(classes, np.int64), np.empty(classes)
    for k in range(classes):
        mine = np.sort(count[offsets[k] : offsets[k + 1]])[::-1]
        size = mine.sum()
        surprise = 0.0
        tail = size
        for i in range(len(mine)):
            surprise -= mine[i] / size * np.log(mine[i] / size)
            if mine[0] < c * tail:
                recursive[k] = i + 1
            tail -= mine[i]
        entropy[k] = np.exp(surprise)
        frequency[k] = size / mine[0]
        of_two[k] = mine[0] / (size - mine[0]) if size > mine[0] else np.inf
    return entropy, frequency, recursive, of_two
