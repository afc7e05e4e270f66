"""The risk R_K of knowledge that went through a channel."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sudare.engine.kernels import risk_blur, risk_cross
from sudare.engine.risk_lattice import Coded

Ints = NDArray[np.int64]


def ranged_risk(data: Coded, attribute: str, low: Ints, high: Ints, seen: int) -> float:
    """R_K = (1/m) sum over records of the mean over the things z seen of x of 1/|C(z)|; never above R."""
    start, values, _ = risk_cross.owned_values(data.owners, data.codes[attribute])
    size = risk_blur.candidates(start, values, low, high, seen)
    inverse = np.divide(1.0, size, out=np.zeros(seen), where=size > 0)
    total = np.concatenate([[0.0], np.cumsum(inverse)])
    records = np.bincount(data.codes[attribute], minlength=len(low))
    mean = (total[high] - total[low]) / (high - low)
    return math.fsum((records * mean).tolist()) / len(data.owners)


def lucky(data: Coded, attribute: str) -> float:
    """Sum over users and their values of their records with other values over the owners of the value."""
    start, values, owned = risk_cross.owned_values(data.owners, data.codes[attribute])
    users = np.bincount(values, minlength=data.widths[attribute])
    holder = np.repeat(np.arange(len(start) - 1), np.diff(start))
    mine = np.bincount(holder, weights=owned, minlength=len(start) - 1)
    return math.fsum(((mine[holder] - owned) / users[values]).tolist())
