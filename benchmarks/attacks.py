"""Nearest-neighbour attacks: against scipy's cKDTree, against a join in DuckDB, and against anonymeter.

python -m benchmarks.attacks [--size small] [--no-peer]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import sudare
from sudare.attacks import Euclid, IdentifyRand, IdentifySa, IdentifySa21, IdentifySort, StandardizedEuclid
from sudare.data import Dataset, Roles
from sudare.data.connection import connect

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SIZES = {
    "full": {
        "euc2": (2_000, 8_333, 50_000),
        "blocks": (5, 100, 1_000, 10_000),
        "rows": 1_000_000,
        "link": 30_000,
    },
    "small": {"euc2": (100, 200, 400), "blocks": (5, 50), "rows": 2_000, "link": 500},
}
CONTEST = [IdentifyRand(), IdentifySa(), IdentifySort(), IdentifySa21(), Euclid(), Euclid(fallback=True)]


def run(size: str = "full", repeats: int = 3, *, peer: bool = True) -> list[dict[str, Any]]:
    """One row per work and size: CPU seconds of both sides and their ratio."""
    sizes: dict[str, Any] = SIZES[size]
    rows = [line for n in sizes["euc2"] for line in against_tree(n, repeats)]
    euc2 = [(row["records"], max(row["seconds"], 1e-4)) for row in rows if row["work"] == "EUC2, no QI match"]
    rows.append(
        {"work": "growth of: EUC2", "exponent": round(float(np.polyfit(*np.log(np.array(euc2)).T, 1)[0]), 2)}
    )
    for block in sizes["blocks"]:
        rows += against_join(sizes["rows"], block, 1 if block > 5 else repeats)
    if peer and importlib.util.find_spec("anonymeter"):
        rows.append(against_anonymeter(sizes["link"]))
    return rows


def against_tree(records: int, repeats: int) -> list[dict[str, Any]]:
    """12 skewed columns with noise of 10%; the release's quasi-identifiers match none of the original's."""
    from scipy.spatial import cKDTree

    original, release = skewed(records)
    truth = np.random.default_rng(1).permutation(records)
    release = np.ascontiguousarray(release[truth])
    first = dataset(original, np.arange(records) % 97)
    second = dataset(release, 1000 + np.arange(records) % 97)
    tree = best(lambda: cKDTree(original).query(release), repeats)
    euc2 = best(lambda: sudare.attack(first, second, [Euclid(fallback=True)], truth=truth), repeats)
    battery = best(lambda: sudare.attack(first, second, CONTEST, truth=truth), repeats)
    return [
        row("EUC2, no QI match", records, euc2, tree, "scipy cKDTree", "<= 1.2"),
        row("E1-E4, EUC1, EUC2", records, battery, tree, "scipy cKDTree", "<= 5"),
    ]


def against_join(records: int, block: int, repeats: int) -> list[dict[str, Any]]:
    """EUC1 within blocks of equal quasi-identifiers: the whole call (reading, coding, scoring and the
    look for cheating included) and the search alone. The join is timed on as many blocks as it can do in
    seconds.
    """
    from sudare.engine.kernels.neighbours import nearest_rows

    original, release = skewed(records)
    blocks = max(records // block, 1)
    group = np.random.default_rng(2).integers(0, blocks, records)
    truth = np.random.default_rng(1).permutation(records)
    release, asked = np.ascontiguousarray(release[truth]), group[truth]
    first, second = dataset(original, group), dataset(release, asked)
    whole = best(lambda: sudare.attack(first, second, [Euclid()], truth=truth), repeats)
    search = best(lambda: nearest_rows(original, group, release, asked, blocks, np.ones(12)), repeats)
    limit = max(int(min(1.0, 2e7 / (records * block)) * blocks), 1)
    here, there = group < limit, asked < limit  # tables of these blocks only: no fixed cost is scaled up
    few = dataset(original[here], group[here]), dataset(release[there], asked[there])
    share = float(there.mean())
    join = best(lambda: nearest_by_join(*few), 1) / share
    peer = "DuckDB join + arg_min" + ("" if share == 1 else f", extrapolated from {share:.1%} of the rows")
    return [
        row(f"EUC1, blocks of {block:,}", records, whole, join, peer, "<= 0.33"),
        row(f"EUC1 search, blocks of {block:,}", records, search, join, peer, "<= 0.33"),
    ]


def nearest_by_join(first: Dataset, second: Dataset) -> None:
    columns = [c for c in first.columns if c != "q"]
    distance = " + ".join(f"(a.{c} - b.{c}) * (a.{c} - b.{c})" for c in columns)
    numbered = "(SELECT row_number() OVER () AS i, * FROM {})"
    connect().sql(
        f"SELECT b.i, arg_min(a.i, {distance}) FROM {numbered.format(first.view)} a "
        f"JOIN {numbered.format(second.view)} b USING (q) GROUP BY b.i"
    ).to_arrow_table()


def against_anonymeter(records: int) -> dict[str, Any]:
    """Linkability with 2,000 targets there; every row here."""
    import pandas as pd
    from anonymeter.evaluators import LinkabilityEvaluator

    original, release = skewed(records)
    names = [f"s{i}" for i in range(original.shape[1])]
    frames = [pd.DataFrame(table, columns=names) for table in (original, release)]

    def peer() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            LinkabilityEvaluator(
                ori=frames[0],
                syn=frames[1],
                aux_cols=(names[:6], names[6:]),
                n_attacks=min(2000, records // 2),
            ).evaluate(n_jobs=1)

    truth = np.random.default_rng(1).permutation(records)
    first, second = dataset(original, np.zeros(records, int)), dataset(release[truth], np.zeros(records, int))
    ours = best(lambda: sudare.attack(first, second, [StandardizedEuclid()], truth=truth), 3)
    return row("linkability", records, ours, best(peer, 1), "anonymeter", "<= 0.02")


def skewed(records: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(0)
    original = random.lognormal(8, 1, (records, 12)).round()
    return original, original + 0.1 * original.std(axis=0) * random.normal(size=original.shape)


def dataset(points: Floats, quasi: Ints) -> Dataset:
    columns = {"q": quasi, **{f"s{i}": np.ascontiguousarray(column) for i, column in enumerate(points.T)}}
    return Dataset.from_arrow(pa.table(columns), Roles.of(quasi="q", sensitive=list(columns)[1:]))


def row(work: str, records: int, ours: float, theirs: float, peer: str, goal: str) -> dict[str, Any]:
    return {
        "work": work,
        "records": records,
        "seconds": round(ours, 4),
        "peer": peer,
        "peer_seconds": round(theirs, 4),
        "ratio": round(ours / theirs, 4) if theirs else None,
        "goal": goal,
    }


def best(work: Callable[[], Any], repeats: int) -> float:
    """CPU seconds of the fastest of several runs, after one to warm up."""
    work()
    found = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        found.append(time.process_time() - begin)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--no-peer", action="store_true")
    given = parser.parse_args()
    for line in run(given.size, peer=not given.no_peer):
        print(json.dumps(line))


if __name__ == "__main__":
    main()
