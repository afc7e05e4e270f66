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
# The place of a single set bit: the top six bits of bit * DE_BRUIJN are different for every bit.
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
BIT_OF = np.argsort([(int(DE_BRUIJN) << bit) % 2**64 >> 58 for bit in range(64)]).astype(np.uint8)


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
    [[1, 2, 3], [0, 1, 2]]
    """
    kind = np.uint8 if size <= 2**8 else np.uint16 if size <= 2**16 else np.uint32
    sets = np.empty((len(truth), l), kind)
    draw = _draw_small if size <= 64 else _draw_large
    draw(np.ascontiguousarray(truth).astype(kind, copy=False), words, word_of_draw(size, l), size, sets)
    return sets


@njit(cache=True, nogil=True)
def _draw_small(truth, words, word_of, size, sets):
    """Up to 64 values: the set is a bit mask, read off in ascending order."""
    rows, width = sets.shape
    deck = np.arange(size)
    swapped = np.empty(width, np.int64)
    for row in range(rows):
        _deal(deck, swapped, np.int64(truth[row]), words[row], word_of, size)
        mask = np.uint64(0)
        for i in range(width):
            mask |= np.uint64(1) << np.uint64(deck[i])
        _collect(deck, swapped)
        for i in range(width):
            lowest = mask & (~mask + np.uint64(1))
            sets[row, i] = BIT_OF[(lowest * DE_BRUIJN) >> np.uint64(58)]
            mask ^= lowest


@njit(cache=True, nogil=True)
def _draw_large(truth, words, word_of, size, sets):
    """Any number of values: the dealt ones are sorted."""
    rows, width = sets.shape
    deck = np.arange(size)
    swapped = np.empty(width, np.int64)
    for row in range(rows):
        _deal(deck, swapped, np.int64(truth[row]), words[row], word_of, size)
        sets[row] = np.sort(deck[:width])
        _collect(deck, swapped)


@njit(cache=True, inline="always")
def _deal(deck, swapped, true, words, word_of, size):
    """A shuffle that stops after a few cards: the true value comes first, then uniform draws of the rest."""
    swapped[0] = true
    deck[0], deck[true] = deck[true], deck[0]
    current, word = -1, np.uint64(0)
    for i in range(1, len(swapped)):
        if word_of[i - 1] != current:
            current = word_of[i - 1]
            word = words[current]
        bound = np.uint64(size - i)
        place = i + np.int64(_high(word, bound))
        word = word * bound
        deck[i], deck[place] = deck[place], deck[i]
        swapped[i] = place


@njit(cache=True, inline="always")
def _collect(deck, swapped):
    """Undo the swaps, last first: the deck is in order again for the next record."""
    for i in range(len(swapped) - 1, -1, -1):
        deck[i], deck[swapped[i]] = deck[swapped[i]], deck[i]


@njit(cache=True, inline="always")
def _high(word, bound):
    """The high 64 bits of word * bound (bound < 2**32): uniform below bound when word is."""
    high = word >> np.uint64(32)
    low = word & np.uint64(0xFFFFFFFF)
    return (high * bound + ((low * bound) >> np.uint64(32))) >> np.uint64(32)
