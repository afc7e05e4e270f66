"""Draws of rows or people for an estimate: the same on every machine and engine, nested in each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.keys import Key, generator


def drawn_rows(of: int, most: int, purpose: str = "rows") -> NDArray[np.int64]:
    """At most `most` of the numbers below `of`, ascending; a larger draw for the same purpose holds the smaller one.

    >>> drawn_rows(3, 5).tolist(), set(drawn_rows(100, 5)) < set(drawn_rows(100, 50))
    ([0, 1, 2], True)
    """
    if of <= most:
        return np.arange(of, dtype=np.int64)
    return np.sort(generator(Key.demo(0), "attack", purpose).permutation(of)[:most]).astype(np.int64)
