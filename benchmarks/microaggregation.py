"""Microaggregation of five columns, k=3: MDAV against sdcMicro's figure, and the tree for many rows."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa

from benchmarks.work import Published, Work, at_most, within
from sudare.data import Dataset, Roles
from sudare.engine.rows import Draft
from sudare.keys import Key
from sudare.methods import Microaggregate

KEY = Key.demo(1)
SMALL = (100, 200, 400)


def numbers(records: int) -> Draft:
    rng = np.random.default_rng(0)
    table = pa.table({f"x{c}": rng.normal(size=records) for c in range(5)})
    return Draft.of(
        Dataset.from_arrow(table, Roles(sensitive=tuple(table.column_names)), name="numbers"), KEY
    )


def aggregated(draft: Draft, *, variant: str) -> Draft:
    return Microaggregate(k=3, variant=variant).apply(draft, KEY)


def loss(release: Draft) -> dict[str, float]:
    return {"information loss": release.details["information_loss"]}


WORKS = (
    Work(
        name="MDAV, k=3, 5 columns",
        sizes={"full": (1_000, 10_000, 100_000), "small": SMALL},
        prepare=numbers,
        ours=partial(aggregated, variant="mdav"),
        figures=loss,
        peer_name="sdcMicro 5.8",
        published=Published(0.48, 10_000, "CPU seconds, with R; it is no Python package"),
        goal=at_most(1, at=10_000),
    ),
    Work(
        name="microaggregation by a tree, k=3, 5 columns",
        sizes={"full": (10_000, 100_000, 1_000_000), "small": SMALL},
        prepare=numbers,
        ours=partial(aggregated, variant="tree"),
        figures=loss,
        goal=within(10),
    ),
)
