"""The risk of five attributes: the kernel against the bare DuckDB query, one per attribute."""

from __future__ import annotations

from benchmarks.risk_data import ATTRIBUTES, bare, dataset

import sudare

SIZES = (1_000_000, 10_000_000, 100_000_000)
GOAL = "<= 0.3 at 100M rows"


def ours(size: int) -> list[float]:
    result = sudare.risk(dataset(size), way="kernel")
    return [result.risk_of(name) for name in ATTRIBUTES]


def peer(size: int) -> list[float]:
    return [bare(size, [name]) for name in ATTRIBUTES]
