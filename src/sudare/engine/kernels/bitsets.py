"""Sets as rows of 64-bit words: counting what two sets share is a handful of instructions."""

from __future__ import annotations

import numpy as np
from numba import njit, uint64
from numpy.typing import NDArray

ODD, PAIRS, NIBBLES = uint64(0x5555555555555555), uint64(0x3333333333333333), uint64(0x0F0F0F0F0F0F0F0F)
BYTES = uint64(0x0101010101010101)


@njit(inline="always")
def popcount(word: np.uint64) -> np.uint64:
    """The number of ones in a 64-bit word: by pairs, fours and bytes, which compilers know to be one instruction."""
    word = uint64(word - ((word >> uint64(1)) & ODD))
    word = uint64((word & PAIRS) + ((word >> uint64(2)) & PAIRS))
    word = uint64((word + (word >> uint64(4))) & NIBBLES)
    return uint64(uint64(word * BYTES) >> uint64(56))


@njit(cache=True, nogil=True)
def pack(indptr: NDArray[np.int64], items: NDArray[np.int32], values: int) -> NDArray[np.uint64]:
    """Bit j of row u is set when set u holds item j; `items[indptr[u]:indptr[u+1]]` is set u."""
    n = indptr.size - 1
    bits = np.zeros((n, max(1, (values + 63) // 64)), np.uint64)
    for u in range(n):
        for e in range(indptr[u], indptr[u + 1]):
            bits[u, items[e] >> 6] |= np.uint64(1) << np.uint64(items[e] & 63)
    return bits
