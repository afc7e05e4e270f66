"""Dummy records: how few, how fast, how near to the lower bound; and 100,000 users.

python -m benchmarks.dummies [--size small]

The table of 400 customers is read from the folder SUDARE_DATA; without it, generated histories stand in.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

import sudare
from sudare.cost import expected_dummies_exact
from sudare.cost.bound import lower_bound
from sudare.cost.clusterings import even_sizes
from sudare.cost.counts import sample
from sudare.cost.itemsets import ItemSets
from sudare.cost.optimise import cluster

SIZES = {
    "full": {"ks": (2, 3, 4, 8), "efforts": ("low", "default"), "growth": (1_000, 10_000, 100_000)},
    "small": {"ks": (2, 3), "efforts": ("trial",), "growth": (60, 120)},
}
AUTHORS = {2: 183_902, 3: 175_449, 4: 162_474, 8: 125_798}


def run(size: str = "full") -> list[dict[str, Any]]:
    """One row per work: dummies, what random clusters need, the lower bound, CPU seconds."""
    sizes: dict[str, Any] = SIZES[size]
    name, sets = _customers(400 if size == "full" else 40)
    cluster(sets.take(np.arange(30)), 3, effort="trial")  # compiled, or loaded from the cache
    rows = [line(name, sets, k, effort) for k in sizes["ks"] for effort in sizes["efforts"]]
    grown = [line(f"{n:,} users", _generated(n), 5, sizes["efforts"][-1]) for n in sizes["growth"]]
    seconds = np.log([[n, max(row["seconds"], 1e-3)] for n, row in zip(sizes["growth"], grown)])
    exponent = {"work": "growth of: dummy records", "exponent": round(float(np.polyfit(*seconds.T, 1)[0]), 2)}
    return [*rows, *grown, exponent]


def line(name: str, sets: ItemSets, k: int, effort: str) -> dict[str, Any]:
    begin = time.process_time()
    found = sets.dummies(cluster(sets, k, effort=effort, seed=1))
    seconds = time.process_time() - begin
    return {
        "work": f"dummy records, {name}",
        "k": k,
        "effort": effort,
        "dummies": found,
        "authors": AUTHORS.get(k) if sets.users == 400 else None,
        "random": round(expected_dummies_exact(sets.owners, even_sizes(sets.users, sets.users // k))),
        "lower_bound": lower_bound(sets, k, target=found, effort=effort) if sets.users <= 2_000 else None,
        "seconds": round(seconds, 2),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def _customers(users: int) -> tuple[str, ItemSets]:
    path = Path(os.environ.get("SUDARE_DATA", ".")) / "retail400.parquet"
    if users == 400 and path.is_file():
        return "400 customers", sample(sudare.open(path, user="user_id"), "goods", users)
    return f"{users} generated users", _generated(users)


def _generated(users: int) -> ItemSets:
    return sample(sudare.open(f"example:histories:{users}", user="user"), "goods", users)


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--size", choices=SIZES, default="full")
    for row in run(options.parse_args().size):
        print(json.dumps(row))
