"""Nearest-neighbour attacks: against scipy's cKDTree, scikit-learn, brute force, and a join in DuckDB."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import sudare
from benchmarks.points import COLUMNS, Sides, in_blocks, unmatched
from benchmarks.work import Work, at_most
from sudare.attacks import Euclid, IdentifyRand, IdentifySa, IdentifySa21, IdentifySort
from sudare.data.connection import connect

BATTERY = [IdentifyRand(), IdentifySa(), IdentifySort(), IdentifySa21(), Euclid(), Euclid(fallback=True)]
SMALL = (100, 200, 400)
STEP = 500
SMALL_BLOCKS = (
    "the search is the line above. The whole call also copies 24 columns out of DuckDB, codes the quasi-identifiers, "
    "scores ties and looks for rows that were swapped, none of which the join does."
)


def rate(sides: Sides, *, attacks: list[Any]) -> float:
    """The rate of the last attack: the share of release rows whose person was found."""
    return float(sudare.attack(*sides.datasets, attacks, truth=sides.truth).rows[-1]["rate"])


def tree(sides: Sides) -> float:
    from scipy.spatial import cKDTree

    return float((cKDTree(sides.original).query(sides.release)[1] == sides.truth).mean())


def neighbors(sides: Sides) -> float:
    from sklearn.neighbors import NearestNeighbors

    fitted = NearestNeighbors(n_neighbors=1).fit(sides.original)
    return float((fitted.kneighbors(sides.release, return_distance=False)[:, 0] == sides.truth).mean())


def brute_force(sides: Sides) -> float:
    """All distances in float64, some rows at a time."""
    from scipy.spatial.distance import cdist

    hits = 0
    for begin in range(0, len(sides.release), STEP):
        away = cdist(sides.release[begin : begin + STEP], sides.original, "sqeuclidean")
        hits += int((away.argmin(axis=1) == sides.truth[begin : begin + STEP]).sum())
    return hits / len(sides.release)


def search(sides: Sides) -> float:
    """The search of EUC1 alone, as the join does it: no reading, no scores of ties, no look for cheating."""
    from sudare.engine.kernels.neighbours import nearest_rows

    blocks = int(sides.groups.max()) + 1
    weights = np.ones(len(COLUMNS))
    found = nearest_rows(sides.original, sides.groups, sides.release, sides.release_groups, blocks, weights)
    first = found.members[found.starts[found.offsets[found.set_of]]]
    return float((first == sides.truth).mean())


def join(sides: Sides) -> float:
    """Every pair within a block, the nearest kept."""
    first, second = sides.datasets
    distance = " + ".join(f"(a.{c} - b.{c}) * (a.{c} - b.{c})" for c in COLUMNS)
    numbered = "(SELECT row_number() OVER () - 1 AS i, * FROM {})"
    found = connect().sql(
        f"SELECT b.i, arg_min(a.i, {distance}) AS j FROM {numbered.format(first.view)} a "
        f"JOIN {numbered.format(second.view)} b USING (q) GROUP BY b.i"
    )
    rows = found.to_arrow_table()
    return float((sides.truth[rows["i"].to_numpy()] == rows["j"].to_numpy()).mean())


def euc1(block: int, limit: int | None = None, **more: Any) -> Work:
    """EUC1 in blocks of a size: the whole call, reading, scoring and the look for cheating included, unless only
    the search is asked for.
    """
    call: dict[str, Any] = {
        "name": f"EUC1, 12 columns, blocks of {block:,}",
        "ours": partial(rate, attacks=[Euclid()]),
        "goal": at_most(0.33),
    }
    return Work(
        sizes={"full": (10_000, 100_000, 1_000_000), "small": SMALL},
        prepare=partial(in_blocks, block=block),
        peer=join,
        peer_name="DuckDB join and arg_min",
        peer_limit=limit,
        peer_growth=1.0,
        **(call | more),
    )


WORKS = (
    Work(
        name="EUC2, 12 columns, no quasi-identifier matches",
        sizes={"full": (2_000, 8_333, 50_000), "small": SMALL},
        prepare=unmatched,
        ours=partial(rate, attacks=[Euclid(fallback=True)]),
        peer=tree,
        peer_name="scipy cKDTree",
        goal=at_most(1.2, at=8_333),
    ),
    Work(
        name="EUC2 on the same (scikit-learn)",
        sizes={"full": (2_000, 8_333, 50_000), "small": SMALL},
        prepare=unmatched,
        ours=partial(rate, attacks=[Euclid(fallback=True)]),
        peer=neighbors,
        peer_name="scikit-learn NearestNeighbors",
        peer_needs="sklearn",
        goal=at_most(1.0),
    ),
    Work(
        name="the battery E1-E4, EUC1, EUC2 on the same",
        sizes={"full": (2_000, 8_333, 50_000), "small": SMALL},
        prepare=unmatched,
        ours=partial(rate, attacks=BATTERY),
        peer=tree,
        peer_name="scipy cKDTree",
        goal=at_most(5, at=8_333),
    ),
    euc1(5, name="EUC1 search alone, 12 columns, blocks of 5", ours=search),
    euc1(5, remains=SMALL_BLOCKS),
    euc1(100),
    euc1(1_000, limit=100_000),
    euc1(10_000, limit=10_000),
    Work(
        name="EUC2, 12 columns, every row against every row",
        sizes={"full": (10_000, 100_000, 1_000_000), "small": SMALL},
        prepare=unmatched,
        ours=partial(rate, attacks=[Euclid(fallback=True)]),
        peer=brute_force,
        peer_name="brute force, scipy cdist, float64",
        peer_limit=10_000,
        peer_growth=2.0,
        goal=at_most(0.05),
    ),
)
