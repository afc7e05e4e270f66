"""The occupancy recurrence: from the distribution after x - 1 records to that after x."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def distribution(x: int, l: float, low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.float64]:
    """Pr(y|x) for y = low[x]..high[x]; at each step only low..high is kept (P3, equation 1).

    Pr(y|x) = (1 - (y-1)/l) Pr(y-1|x-1) + (y/l) Pr(y|x-1). Entry y is kept at its own place, and the step runs
    from high to low, so that one array is enough.
    """
    span = 1
    for step in range(x + 1):
        span = max(span, high[step] - low[step] + 1)
    now = np.zeros(span + 1)
    base = low[0]
    now[0] = 1.0
    for step in range(1, x + 1):
        shift = low[step] - base
        if shift > 0:
            for i in range(span + 1 - shift):
                now[i] = now[i + shift]
            for i in range(span + 1 - shift, span + 1):
                now[i] = 0.0
        # what stood at low - 1 feeds low; it is gone when the band moved, and its mass is negligible
        base = low[step]
        top = high[step] - base
        for i in range(top, 0, -1):
            y = base + i
            now[i] = (1.0 - (y - 1) / l) * now[i - 1] + y / l * now[i]
        now[0] = base / l * now[0]
        for i in range(top + 1, span + 1):
            now[i] = 0.0
    return now[: high[x] - base + 1]
