"""The sampled risk (50 values) of an attribute that the file is ordered by, against the bare exact query."""

from __future__ import annotations

from benchmarks.risk_data import bare, dataset

import sudare
from sudare.data.keys import Key

SIZES = (100_000, 1_000_000, 10_000_000)
GOAL = "<= 0.05 at 10M rows"
KEY = Key.demo(1)


def ours(size: int) -> float:
    return sudare.risk(dataset(size, by="d"), attributes="d", model="sample", key=KEY).risk_of("d")


def peer(size: int) -> float:
    return bare(size, ["d"], by="d")
