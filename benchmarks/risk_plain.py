"""The risk of five attributes: plain queries against the bare DuckDB query."""

from __future__ import annotations

from benchmarks.risk_data import ATTRIBUTES, bare, dataset

import sudare

SIZES = (100_000, 1_000_000, 10_000_000)
GOAL = "<= 1.3"


def ours(size: int) -> list[float]:
    result = sudare.risk(dataset(size), way="plain")
    return [result.risk_of(name) for name in ATTRIBUTES]


def peer(size: int) -> list[float]:
    return [bare(size, [name]) for name in ATTRIBUTES]
