"""Special uniques: records that few of their attributes already single out (SUDA2).

A minimal sample unique (MSU) of a record is a set of attributes on which it is unique and on no part of which
it is. Small MSUs and many MSUs make a record risky: every MSU of s of m attributes adds a score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial, prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sudare.engine.sums import exact_sum
from sudare.errors import UsageError
from sudare.parameters import checked

Floats = NDArray[np.float64]
Scores = Literal["elliot", "ihsn"]
MOST_ATTRIBUTES = 60


@dataclass(frozen=True)
class Special:
    """SUDA2 of classes of equal records: scores per class, what each attribute adds, MSUs by size."""

    score: Floats
    dis: Floats
    share: Floats
    contribution: Floats
    by_size: NDArray[np.int64]


def suda(
    codes: NDArray[np.int32],
    sizes: NDArray[np.int64],
    *,
    max_size: int | None = None,
    fraction: float = 0.01,
    scores: Scores = "elliot",
) -> Special:
    """Search all minimal sample uniques of up to `max_size` attributes.

    `codes` has one row per class of equal records, `sizes` their sizes. `contribution` is the part of the
    total score that comes from MSUs with an attribute, in percent; parts overlap and pass 100 together.

    >>> found = suda(np.array([[2, 0, 0], [1, 3, 6], [1, 0, 0]], np.int32), np.ones(3, np.int64))
    >>> found.score.tolist(), found.contribution.tolist()
    ([2.0, 4.0, 2.0], [50.0, 37.5, 37.5])
    """
    from sudare.engine.kernels.suda import minimal_uniques

    width = codes.shape[1]
    if width > MOST_ATTRIBUTES:
        raise UsageError(
            f"SUDA over {width} attributes is too much; name at most {MOST_ATTRIBUTES} with quasi="
        )
    limit = min(max_size or width, width)
    weights = np.array([0.0, *score_weights(width, limit, scores)])
    score, share, found = minimal_uniques(np.ascontiguousarray(codes), sizes, limit, weights)
    contribution = 100 * share.sum(axis=0) / max(float(score.sum()), 1e-300)
    return Special(score, dis_scores(score, sizes, width, fraction), share, contribution, found[1:])


@checked
def score_weights(width: int, max_size: int, scores: Scores = "elliot") -> list[float]:
    """The score of an MSU of 1, 2, ... attributes out of `width`.

    elliot: product over i = s..M of (m - i), M the largest size searched, at most m-1 (Elliot et al. 2005).
    ihsn: (2^(m-s) - 1) s! (m-s)! / m!, of the first public implementation.

    >>> score_weights(4, 3), score_weights(4, 4)
    ([6.0, 2.0, 1.0, 0.0], [6.0, 2.0, 1.0, 1.0])
    """
    top = min(max_size, width - 1)
    found = []
    for s in range(1, width + 1):
        if scores == "elliot":
            weight = float(prod(width - i for i in range(s, top + 1)))
        else:
            weight = (2.0 ** (width - s) - 1) * factorial(s) * factorial(width - s) / factorial(width)
        found.append(weight if s <= max_size else 0.0)
    return found


def dis_scores(score: Floats, sizes: NDArray[np.int64], width: int, fraction: float) -> Floats:
    """DIS-SUDA: the file's chance that a unique match is correct, dealt out to records by their score.

    DIS = U f / (U f + P (1-f)) with U unique records and P records in pairs at the sampling fraction f
    (Skinner and Elliot 2002); record i gets 1 / (1 + (U/DIS - U) / (score^q sum of score^-q)),
    q = 1 + (8-m)/20.
    """
    uniques = int((sizes == 1).sum())
    pairs = 2 * int((sizes == 2).sum())
    out = np.zeros(len(score))
    risky = score > 0
    if uniques == 0 or not risky.any():
        return out
    dis = uniques * fraction / (uniques * fraction + pairs * (1 - fraction))
    power = score[risky] ** (1 + (8 - width) / 20)
    out[risky] = 1 / (1 + (uniques / dis - uniques) / (power * exact_sum(1 / power)))
    return out


def attribute_rows(special: Special, attributes: Sequence[str]) -> list[tuple[str, float]]:
    """Attributes with their contribution, the largest first."""
    pairs = zip(attributes, special.contribution.tolist(), strict=True)
    return sorted(pairs, key=lambda pair: -pair[1])
