"""Randomized addition: the keyed draw against a plain numpy draw, the estimate against DuckDB.

python -m benchmarks.randomized [--size small]
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import sudare
from sudare.data import Dataset, Key, Roles
from sudare.data.writers import _write_parquet
from sudare.methods.draft import Draft
from sudare.methods.randomized import RandomizedAddition

VALUES, L, GROUPS = 50, 10, 1000
SIZES = {"full": (1_000_000, 3_000_000, 10_000_000), "small": (10_000, 20_000, 40_000)}


def run(size: str = "full", repeats: int = 3) -> list[dict[str, Any]]:
    """One row per piece of work and number of records: CPU seconds of both sides and their ratio."""
    rows = [line for records in SIZES[size] for line in measure(records, repeats)]
    return rows + exponents(rows)


def measure(records: int, repeats: int) -> list[dict[str, Any]]:
    draft = people(records)
    release = publish(draft)
    plain = best(lambda: floyd(records, VALUES, L), repeats)
    drawn = best(lambda: publish(draft), repeats)
    saved = best(lambda: written(draft), repeats)
    estimated = best(lambda: sudare.estimate(release, by="group"), repeats)
    counted = duckdb_counts(release, repeats)
    return [
        row("draw, keyed", records, drawn, plain, "numpy, Floyd's draw", "<= 1.5"),
        row("draw and write the sets to Parquet", records, saved, plain, "numpy, Floyd's draw", "<= 2"),
        row("estimate by 1,000 groups", records, estimated, counted, "DuckDB unnest + count", "<= 0.1"),
    ]


def people(records: int) -> Draft:
    """Records with a group and one of 50 values; their ids are given, as `Draft.of` would make them."""
    rng = np.random.default_rng(0)
    domain = pa.array([f"value {i:02}" for i in range(VALUES)])
    codes = pa.array(rng.integers(0, VALUES, records).astype(np.int8))
    table = pa.table(
        {
            "group": rng.integers(0, GROUPS, records),
            "value": pa.DictionaryArray.from_arrays(codes, domain).cast(pa.string()),
        }
    )
    ids = rng.integers(0, 2**64, (records, 2), dtype=np.uint64)
    return Draft(table, Roles.of(quasi="group", sensitive="value"), np.arange(records), ids)


def publish(draft: Draft) -> Dataset:
    key = Key.demo(1)
    done = RandomizedAddition(l=L).apply(draft, key)
    return dataclasses.replace(Dataset.from_arrow(done.table, done.roles), published={"schema": done.schema})


def written(draft: Draft) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _write_parquet(publish(draft).keep_alive.select(["value"]), Path(folder) / "sets.parquet")


def floyd(records: int, size: int, l: int) -> np.ndarray[Any, Any]:
    """The same sets as bit masks, without a key: Floyd's sampling, vectorised."""
    rng, one = np.random.default_rng(0), np.uint64(1)
    sets = np.zeros(records, np.uint64)
    for last in range(size - l, size - 1):
        drawn = rng.integers(0, last + 1, records, dtype=np.uint8).astype(np.uint64)
        taken = (sets >> drawn) & one
        sets |= one << np.where(taken == one, np.uint64(last), drawn)
    return sets


def duckdb_counts(release: Dataset, repeats: int) -> float:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET threads = 2")
        connection.register("release", release.keep_alive)
        connection.execute("CREATE TABLE sets AS SELECT * FROM release")
        query = (
            'SELECT "group", v, count(*) FROM (SELECT "group", unnest("value") AS v FROM sets) GROUP BY ALL'
        )
        return best(lambda: connection.sql(query).fetchall(), repeats)


def best(work: Callable[[], Any], repeats: int) -> float:
    """The smallest CPU time of some runs, after one to warm up."""
    work()
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def row(work: str, records: int, ours: float, peer: float, name: str, goal: str) -> dict[str, Any]:
    return {
        "work": work,
        "records": records,
        "seconds": round(ours, 4),
        "peer": name,
        "peer_seconds": round(peer, 4),
        "ratio": round(ours / peer, 3),
        "goal": goal,
    }


def exponents(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How cost grows with records: the slope of log seconds over log records, 1 is linear."""
    found = []
    for work in dict.fromkeys(r["work"] for r in rows):
        points = [(r["records"], max(r["seconds"], 1e-4)) for r in rows if r["work"] == work]
        slope = np.polyfit(*np.log(np.array(points)).T, 1)[0]
        found.append({"work": f"growth of: {work}", "exponent": round(float(slope), 2)})
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    for line in run(given.size, given.repeats):
        print(json.dumps(line))
