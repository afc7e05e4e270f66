"""Random sets around a true value, drawn straight from keyed words, without a rejection loop.

A record's set is the true value and the first l-1 values of a random order of the others. The order
depends on the record's words and the size of the domain only, never on l: the set for l=5 is part of
the set for l=10, so publishing both tells no more than the smaller one.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

# One 64-bit word yields draws whose bounds multiply up to this; the bias of such a group of draws
# (total variation from uniform) is at most BUDGET / 2**64 = 2**-32.
BUDGET = 2**32


def word_of_draw(size: int, l: int) -> NDArray[np.int64]:
    """Which word feeds each of the l-1 draws from a domain of `size` values.

    >>> word_of_draw(50, 10).tolist()
    [0, 0, 0, 0, 0, 1, 1, 1, 1]
    """
    words, word, product = [], 0, 1
    for bound in range(size - 1, size - l, -1):
        if product * bound > BUDGET and product > 1:
            word, product = word + 1, 1
        product *= bound
        words.append(word)
    return np.array(words, np.int64)


def words_needed(size: int, l: int) -> int:
    """How many 64-bit words a record needs.

    >>> words_needed(50, 10), words_needed(6, 2), words_needed(100, 20)
    (2, 1, 5)
    """
    return int(word_of_draw(size, l).max(initial=0)) + 1


def draw_sets(
    truth: NDArray[np.integer], words: NDArray[np.uint64], size: int, l: int
) -> NDArray[np.integer]:
    """The set of every record as codes in ascending order, one row of l codes per record (P2, Alg. 1).

    >>> draw_sets(np.array([3, 0]), np.zeros((2, 1), np.uint64), 6, 3).tolist()
    [[0, 1, 3], [0, 1, 2]]
    """
    kind = np.uint8 if size <= 2**8 else np.uint16 if size <= 2**16 else np.uint32
    sets = np.empty((len(truth), l), kind)
    _draw(np.ascontiguousarray(truth).astype(kind, copy=False), words, word_of_draw(size, l), size, sets)
    return sets


@njit(cache=True, nogil=True)
def _draw(truth, words, word_of, size, sets):
    """Sequential sampling: the i-th draw is a rank among the values not yet in the (sorted) set."""
    rows, width = sets.shape
    for row in range(rows):
        sets[row, 0] = truth[row]
        current, word = -1, np.uint64(0)
        for i in range(1, width):
            if word_of[i - 1] != current:
                current = word_of[i - 1]
                word = words[row, current]
            bound = np.uint64(size - i)
            value = np.int64(_high(word, bound))
            word = word * bound
            place = 0
            while place < i and np.int64(sets[row, place]) <= value:
                value += 1
                place += 1
            for j in range(i, place, -1):
                sets[row, j] = sets[row, j - 1]
            sets[row, place] = value


@njit(cache=True, inline="always")
def _high(word, bound):
    """The high 64 bits of word * bound (bound < 2**32): uniform below bound when word is."""
    high = word >> np.uint64(32)
    low = word & np.uint64(0xFFFFFFFF)
    return (high * bound + ((low * bound) >> np.uint64(32))) >> np.uint64(32)
