"""Linking rows of a release to the original by their numbers: every row here, 2,000 targets in anonymeter."""

from __future__ import annotations

import warnings

import sudare
from benchmarks.points import COLUMNS, Sides, in_blocks
from benchmarks.work import Work, at_most
from sudare.attacks import StandardizedEuclid

TARGETS = 2_000


def ours(sides: Sides) -> float:
    attacks = [StandardizedEuclid()]
    return float(sudare.attack(*sides.datasets, attacks, truth=sides.truth).rows[-1]["rate"])


def anonymeter(sides: Sides) -> float:
    """The share of its targets for which both halves of the columns point to a common synthetic row."""
    import pandas as pd
    from anonymeter.evaluators import LinkabilityEvaluator

    frames = [pd.DataFrame(points, columns=COLUMNS) for points in (sides.original, sides.release)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        asked = LinkabilityEvaluator(
            ori=frames[0],
            syn=frames[1],
            aux_cols=(COLUMNS[:6], COLUMNS[6:]),
            n_attacks=min(TARGETS, len(sides.original) // 2),
        ).evaluate(n_jobs=1)
        return float(asked.risk().value)


WORKS = (
    Work(
        name="linkability by 12 columns, all rows attacked",
        sizes={"full": (3_000, 10_000, 30_000), "small": (100, 200, 400)},
        prepare=lambda records: in_blocks(records, block=records),
        ours=ours,
        figures=lambda rate: {"linked": rate},
        peer=anonymeter,
        peer_name="anonymeter, at most 2,000 targets",
        peer_needs="anonymeter",
        same=lambda ours, peer: ours >= peer - 0.05,
        goal=at_most(0.02),
    ),
)
