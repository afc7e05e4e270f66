"""k, l and t of one table with 8 quasi-identifiers: against the bare DuckDB query and against pyCANON.

python -m benchmarks.disclosure [--size small] [--no-peer]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

import sudare
from sudare.data import Dataset, Roles
from sudare.data.connection import connect, fresh_name, quote

KINDS = 3000
SIZES = {"full": (100_000, 300_000, 1_000_000), "small": (2_000, 4_000, 8_000)}
# the numbers of values of Adult's columns, as skewed as they are there
WIDTHS = {"age": 74, "work": 9, "school": 16, "marital": 7, "job": 15, "race": 5, "sex": 2, "country": 42}


def run(size: str = "full", repeats: int = 3, *, peer: bool = True) -> list[dict[str, Any]]:
    """One row per number of records and peer: CPU seconds of both sides and their ratio."""
    largest = max(SIZES[size])
    rows = [line for n in SIZES[size] for line in measure(n, repeats, peer=peer and n == largest)]
    ours = [(row["records"], max(row["seconds"], 1e-4)) for row in rows if row["peer"] == "DuckDB"]
    slope = float(np.polyfit(*np.log(np.array(ours)).T, 1)[0])
    return [*rows, {"work": "growth of: k, l and t", "exponent": round(slope, 2)}]


def measure(records: int, repeats: int, *, peer: bool) -> list[dict[str, Any]]:
    table = people(records)
    ds = stored(table)
    ours = best(lambda: sudare.disclosure(ds, measures=["k", "l", "t"]), repeats)
    bare = best(lambda: connect().sql(bare_query(ds)).fetchall(), repeats)
    rows = [row("k, l and t", records, ours, bare, "DuckDB", "<= 1.3")]
    if peer and importlib.util.find_spec("pycanon"):
        rows.append(row("k, l and t", records, ours, pycanon(table), "pyCANON", "<= 0.01"))
    return rows


def people(records: int) -> pa.Table:
    """Text columns with the cardinalities of Adult, in two halves that are drawn from 3,000 kinds of people each:
    about a quarter as many classes as a million records, like Adult mixed with itself.
    """
    rng = np.random.default_rng(0)
    kind = {half: rng.choice(KINDS, records, p=falling(KINDS)) for half in (0, 1)}
    columns = {}
    for place, (name, width) in enumerate(WIDTHS.items()):
        of_kind = rng.choice(width, KINDS, p=falling(width)).astype(np.int32)
        labels = pa.array([f"{name} {code:02}" for code in range(width)])
        coded = pa.DictionaryArray.from_arrays(pa.array(of_kind[kind[place // 4]]), labels)
        columns[name] = coded.cast(pa.string())
    columns["income"] = pa.array(np.where(rng.random(records) < 0.24, ">50K", "<=50K"))
    return pa.table(columns)


def falling(width: int) -> np.ndarray[Any, Any]:
    weight = 1 / np.arange(1, width + 1)
    return weight / weight.sum()


def stored(table: pa.Table) -> Dataset:
    """The table inside DuckDB, so that both sides read the same storage."""
    name = fresh_name("benchmark")
    connect().register("benchmark_source", table)
    connect().execute(f"CREATE TABLE {quote(name)} AS SELECT * FROM benchmark_source")
    return Dataset(roles=Roles.of(quasi=list(WIDTHS), sensitive="income"), view=name)


def bare_query(ds: Dataset) -> str:
    """k, distinct l and t of the same table in one query: counts per class, joined with the table's shares."""
    quasi, table = ", ".join(map(quote, ds.roles.quasi)), quote(str(ds.view))
    return f"""
        WITH p AS (SELECT income, count(*) / (SELECT count(*) FROM {table}) AS p FROM {table} GROUP BY income),
        c AS (SELECT {quasi}, income, count(*) AS n FROM {table} GROUP BY ALL),
        g AS (SELECT {quasi}, sum(n) AS size, count(*) AS l FROM c GROUP BY {quasi})
        SELECT min(size), min(l), max(t) FROM (
            SELECT any_value(size) AS size, any_value(l) AS l, sum(greatest(n / size - p, 0)) AS t
            FROM c JOIN g USING ({quasi}) JOIN p USING (income) GROUP BY {quasi})"""


def pycanon(table: pa.Table) -> float:
    """CPU seconds of pyCANON's three functions, once: it is slow."""
    from pycanon import anonymity

    frame = table.to_pandas()
    begin = time.process_time()
    anonymity.k_anonymity(frame, list(WIDTHS))
    anonymity.l_diversity(frame, list(WIDTHS), ["income"])
    anonymity.t_closeness(frame, list(WIDTHS), ["income"])
    return time.process_time() - begin


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
        "ratio": round(ours / peer, 4),
        "goal": goal,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-peer", action="store_true")
    given = parser.parse_args()
    for line in run(given.size, given.repeats, peer=not given.no_peer):
        print(json.dumps(line))
