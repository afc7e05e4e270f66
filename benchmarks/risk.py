"""The risk of five attributes, of all their sets, as text, and from a sample: against the bare DuckDB query, and the
first against polars.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

import sudare
from benchmarks.purchases import ATTRIBUTES, Purchases, bare, purchases
from benchmarks.work import Goal, Work, at_most
from sudare.keys import Key

ONES = [[name] for name in ATTRIBUTES]
ALL = [list(names) for n in range(1, 6) for names in combinations(ATTRIBUTES, n)]
SMALL = (1_000, 2_000, 4_000)
SIZES = {"full": (100_000, 1_000_000, 10_000_000), "small": SMALL}
LARGE = {"full": (1_000_000, 10_000_000, 100_000_000), "small": SMALL}


def ours(bought: Purchases, *, strategy: str, sets: list[list[str]]) -> list[float]:
    result = sudare.risk(bought.data, combine=max(map(len, sets)), strategy=strategy)
    return [result.risk_of(names) for names in sets]


def peer(bought: Purchases, *, sets: list[list[str]]) -> list[float]:
    return [bare(bought, names) for names in sets]


def polars(bought: Purchases) -> list[float]:
    """The same query, one per attribute, on polars' streaming engine."""
    import polars as pl

    found = []
    for name in ATTRIBUTES:
        counts = pl.scan_parquet(bought.path).group_by(name).agg(r=pl.len(), k=pl.col("u").n_unique())
        total = counts.select((pl.col("r") / pl.col("k")).sum()).collect(engine="streaming").item()
        found.append(float(total) / bought.rows)
    return found


def sampled(bought: Purchases) -> float:
    return float(sudare.risk(bought.data, attributes="d", model="sample", key=Key.demo(1)).risk_of("d"))


def against_bare(name: str, goal: Goal, **more: Any) -> Work:
    """Sets of attributes (one by one, if not said otherwise), by the kernel (likewise), against bare queries."""
    sets, strategy = more.pop("sets", ONES), more.pop("strategy", "kernel")
    return Work(
        name=name,
        ours=partial(ours, strategy=strategy, sets=sets),
        peer=partial(peer, sets=sets),
        peer_name=f"{len(sets)} bare DuckDB queries",
        goal=goal,
        **({"sizes": SIZES, "prepare": purchases} | more),
    )


WORKS = (
    against_bare("risk of 5 attributes, by queries", at_most(1.3), strategy="plain"),
    against_bare(
        "risk of 5 attributes, by the kernel",
        at_most(0.3),
        sizes=LARGE,
    ),
    Work(
        name="risk of 5 attributes, by the kernel (polars)",
        sizes=SIZES,
        prepare=purchases,
        ours=partial(ours, strategy="kernel", sets=ONES),
        peer=polars,
        peer_name="5 polars queries",
        peer_needs="polars",
        goal=at_most(1.0),
    ),
    against_bare("risk of all 31 sets of 5 attributes", at_most(0.35), sets=ALL),
    against_bare("risk of 5 attributes held as text", at_most(0.45), prepare=partial(purchases, text=True)),
    Work(
        name="risk of the attribute a file is ordered by, from 50 values",
        sizes=SIZES,
        prepare=partial(purchases, by="d"),
        ours=sampled,
        peer=lambda bought: bare(bought, ["d"]),
        peer_name="bare DuckDB query of all values",
        goal=at_most(0.05),
        remains="cost is mostly fixed (see its growth), so the ratio falls with the rows.",
        same=lambda ours, peer: bool(np.isclose(ours, peer, rtol=0.5)),
    ),
)
