"""Sets as rows of 64-bit words: counting what two sets share is a handful of instructions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray


@intrinsic
def popcount(typing: Any, word: Any) -> Any:
    """The number of ones in a 64-bit word."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), code


@njit(cache=True, nogil=True)
def pack(indptr: NDArray[np.int64], items: NDArray[np.int32], values: int) -> NDArray[np.uint64]:
    """Bit j of row u is set when set u holds item j; `items[indptr[u]:indptr[u+1]]` is set u."""
    n = indptr.size - 1
    bits = np.zeros((n, max(1, (values + 63) // 64)), np.uint64)
    for u in range(n):
        for e in range(indptr[u], indptr[u + 1]):
            bits[u, items[e] >> 6] |= np.uint64(1) << np.uint64(items[e] & 63)
    return bits
