"""Global recoding of Adult to k=5 with the same hierarchies: the best of all levels, against ANJANA's first."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np

from benchmarks.local_recoding import HIERARCHIES, KEY, ROWS, adult
from benchmarks.public_data import if_present, public
from benchmarks.work import Work, at_most
from sudare.data.values.recoded import SUPPRESSED as STAR
from sudare.engine.rows import Draft
from sudare.methods import LatticeRecoding

K, STARRED = 5, 0.02


def ours(draft: Draft) -> Draft:
    method = LatticeRecoding(k=K, suppress=STARRED, hierarchies=str(public(HIERARCHIES)))
    return method.apply(draft, KEY)


def levels(column: str) -> dict[int, Any]:
    """A hierarchy as ANJANA wants it: an array per level, leaves first."""
    with (public(HIERARCHIES) / f"{column}.csv").open() as file:
        return dict(enumerate(np.array(level) for level in zip(*csv.reader(file, delimiter=";"))))


def anjana(draft: Draft) -> Any:
    """ANJANA knows strings as Python objects only, which current pandas must be asked for."""
    import pandas as pd
    from anjana.anonymity import k_anonymity

    quasi = list(draft.roles.quasi)
    with pd.option_context("future.infer_string", False):
        frame = pd.DataFrame({name: list(map(str, draft.table[name].to_pylist())) for name in quasi})
        return k_anonymity(frame, [], quasi, K, STARRED * 100, {name: levels(name) for name in quasi})


def both_k_anonymous(release: Draft, theirs: Any) -> bool:
    """Both sides keep 98% of the rows, in classes of k or more: the others are starred here and dropped there."""
    quasi = list(release.roles.quasi)
    mine = release.table.select(quasi).to_pandas()
    mine = mine[(mine != STAR).any(axis=1)]
    return all(
        len(frame) >= release.rows * (1 - STARRED) and frame.groupby(quasi).size().min() >= K
        for frame in (mine, theirs)
    )


WORKS = if_present(
    "adult_arx.parquet",
    Work(
        name="global recoding of Adult, 8 columns, k=5, 2% of the rows starred",
        sizes={"full": (3_000, 10_000, ROWS), "small": (150, 300)},
        prepare=adult,
        ours=ours,
        figures=lambda release: {"NCP": release.details["ncp"]},
        peer=anjana,
        peer_name="ANJANA (greedy: it stops at the first levels that do)",
        peer_needs="anjana",
        same=both_k_anonymous,
        goal=at_most(1),
    ),
)
