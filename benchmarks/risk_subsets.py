"""The risk of all 31 sets of five attributes: one ordering for all against 31 bare queries."""

from __future__ import annotations

from itertools import combinations

from benchmarks.risk_data import ATTRIBUTES, bare, dataset

import sudare

SIZES = (100_000, 1_000_000, 10_000_000)
GOAL = "<= 0.35 at 10M rows"
SETS = [list(names) for n in range(1, 6) for names in combinations(ATTRIBUTES, n)]


def ours(size: int) -> list[float]:
    result = sudare.risk(dataset(size), combine=5, way="kernel")
    return [result.risk_of(names) for names in SETS]


def peer(size: int) -> list[float]:
    return [bare(size, names) for names in SETS]
