"""Mondrian, k=5, six columns: against anonypy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.work import Work, at_most, within
from sudare.data import Dataset, Roles
from sudare.engine.codes import classes, codes
from sudare.engine.rows import Draft
from sudare.keys import Key
from sudare.methods import Mondrian

WIDTHS = {"age": 74, "school": 16, "sex": 2, "hours": 100, "race": 5, "zip": 5000}
K, KEY = 5, Key.demo(1)


def people(records: int) -> Draft:
    rng = np.random.default_rng(0)
    table = pa.table({name: rng.integers(0, width, records) for name, width in WIDTHS.items()})
    return Draft.of(Dataset.from_arrow(table, Roles(quasi=tuple(WIDTHS)), name="people"), KEY)


def ours(draft: Draft) -> Draft:
    return Mondrian(k=K).apply(draft, KEY)


def anonypy(draft: Draft) -> list[dict[str, Any]]:
    """One row per class and value of a sensitive column, of which there is one here, with its count."""
    import anonypy as peer

    frame = draft.table.select(list(WIDTHS)).to_pandas().assign(salary="x")
    return list(peer.Preserver(frame, list(WIDTHS), "salary").anonymize_k_anonymity(k=K))


def both_k_anonymous(release: Draft, counted: list[dict[str, Any]]) -> bool:
    """Both keep every record, in classes of k or more."""
    _, sizes = classes(codes(release.table, list(WIDTHS))[0])
    theirs = np.array([row["count"] for row in counted])
    return bool(sizes.min() >= K and theirs.min() >= K and sizes.sum() == theirs.sum())


WORKS = (
    Work(
        name="Mondrian, k=5, 6 columns",
        sizes={"full": (32_000, 180_000, 1_000_000), "small": (200, 400, 800)},
        prepare=people,
        ours=ours,
        figures=lambda release: {"NCP": release.details["ncp"]},
        goal=within(1.5),
    ),
    Work(
        name="Mondrian, k=5, 6 columns (anonypy)",
        sizes={"full": (2_000, 8_000, 32_000), "small": (200, 400, 800)},
        prepare=people,
        ours=ours,
        peer=anonypy,
        peer_name="anonypy",
        peer_needs="anonypy",
        same=both_k_anonymous,
        goal=at_most(0.002),
    ),
)
