"""The risk of five attributes held as text: hashed to 64 bits, then the kernel, against the bare DuckDB query."""

from __future__ import annotations

from benchmarks.risk_data import ATTRIBUTES, bare, dataset

import sudare

SIZES = (100_000, 1_000_000, 10_000_000)
GOAL = "<= 0.45 at 10M rows"


def ours(size: int) -> list[float]:
    result = sudare.risk(dataset(size, text=True), way="kernel")
    return [result.risk_of(name) for name in ATTRIBUTES]


def peer(size: int) -> list[float]:
    return [bare(size, [name], text=True) for name in ATTRIBUTES]
