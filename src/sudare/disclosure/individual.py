"""The risk of every person when the table is a sample: posterior mean of 1/F given the class's sample size f.

Benedetti and Franconi (1998): with sampling weights w the class has an estimated F = sum of w people in the
population; given f, F is negative binomial with p = f/F, and E[1/F | f] = p^f/f * 2F1(f, f; f+1; 1-p).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.disclosure.posteriors import NegativeBinomial
from sudare.engine.sums import exact_sum

Floats = NDArray[np.float64]


def posterior_risk(f: ArrayLike, population: ArrayLike) -> Floats:
    """E[1/F | f] per class of f sampled people and an estimated `population`.

    Exact for every f (sdcMicro approximates above f = 2). A class that is all in the sample has 1/f.

    >>> posterior_risk([1, 2, 1], [215, 360, 1]).round(4).tolist()
    [0.0251, 0.0054, 1.0]
    """
    sampled = np.asarray(f, np.float64)
    everybody = np.maximum(np.asarray(population, np.float64), np.maximum(sampled, 1))
    share = np.where(sampled > 0, sampled / everybody, 1.0)
    return NegativeBinomial(0.0, share).risk(sampled)


def expected_reidentifications(f: ArrayLike, risk: ArrayLike) -> float:
    """How many records a perfect matcher is expected to identify: the sum over classes of f times the risk.

    >>> expected_reidentifications([2, 1], [0.25, 0.5])
    1.0
    """
    return exact_sum(np.asarray(f, np.float64) * np.asarray(risk, np.float64))
