"""Risk on Spark: one repartition by user and a kernel per partition, against the same query written by hand.

python -m benchmarks.spark [--size small]                 10M rows on local[2], CPU of all processes
python -m benchmarks.spark --cluster 50000000             a master and two workers; what a million rows cost
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.risk_data import ATTRIBUTES, parquet

import sudare
from sudare import methods
from sudare.data import spark as engine
from sudare.data.keys import Key

SIZES = {"full": 10_000_000, "small": 20_000}
GOAL = "<= 0.6"
MEMORY = {"spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "4"}


def run(size: str = "full", repeats: int = 3, *, peer: bool = True, rows: int = 0) -> list[dict[str, Any]]:
    """CPU seconds of both sides (Java, Python workers and this process) and their ratio; best of `repeats`."""
    rows = rows or SIZES[size]
    session = engine.session("local[2]", **MEMORY)
    frame = session.read.parquet(str(parquet(rows)))
    ds = sudare.open(frame, user="u")
    ours, found = best(lambda: risk_of(ds), repeats)
    theirs, expected = best(lambda: by_hand(frame), repeats) if peer else (None, found)
    assert all(abs(found[name] / expected[name] - 1) < 1e-12 for name in ATTRIBUTES)
    session.stop()
    ratio = None if theirs is None else round(ours / theirs, 3)
    return [
        {
            "work": "risk of 5 attributes, Spark local[2]",
            "records": rows,
            "seconds": round(ours, 2),
            "peer": "PySpark count distinct by hand",
            "peer_seconds": theirs and round(theirs, 2),
            "ratio": ratio,
            "goal": GOAL,
        }
    ]


def risk_of(ds: sudare.Dataset) -> dict[str, float]:
    return {row["attributes"][0]: row["risk"] for row in sudare.risk(ds).rows}


def by_hand(frame: Any) -> dict[str, float]:
    """What anyone would write: per attribute, records and distinct users of every value."""
    from pyspark.sql import functions as f

    rows = frame.count()
    found = {}
    for name in ATTRIBUTES:
        values = frame.groupBy(name).agg(f.count("*").alias("r"), f.countDistinct("u").alias("k"))
        found[name] = float(values.select(f.sum(f.col("r") / f.col("k"))).collect()[0][0]) / rows
    return found


def on_a_cluster(rows: int) -> list[dict[str, Any]]:
    """A master and two workers of one core; the rows are made by the workers. Wall seconds and the driver's peak."""
    from sudare.engine.spark_cluster import cluster

    with cluster(workers=2, memory="2g") as running:
        session = running.session(executor_memory="1g", **{"spark.sql.shuffle.partitions": "16"})
        frame = made(session, rows)
        ds = sudare.open(frame, user="u", quasi=["a"], sensitive=["b"], other=["c", "d", "e"])
        found = []
        for work, job in jobs(ds).items():
            begin = time.perf_counter()
            job()
            seconds = time.perf_counter() - begin
            found.append(
                {
                    "work": work,
                    "records": rows,
                    "seconds": round(seconds, 1),
                    "core_seconds_per_million": round(2 * seconds / rows * 1e6, 2),
                    "driver_peak_mb": driver_peak(),
                }
            )
        session.stop()
    return found


def jobs(ds: sudare.Dataset) -> dict[str, Callable[[], Any]]:
    """What is measured for the sizing page."""
    recipe = [methods.RandomizedAddition(l=10, column="b"), methods.Round(column="d", to=10)]
    return {
        "risk of 5 attributes": lambda: sudare.risk(ds),
        "randomized addition, rounding, pseudonyms, shuffle": lambda: sudare.anonymize(
            ds, recipe, key=Key.demo(1)
        ),
    }


def made(session: Any, rows: int) -> Any:
    """Rows like those of the other risk benchmarks, made where they are used."""
    from pyspark.sql import functions as f

    base = session.range(0, rows, numPartitions=max(2, rows // 1_000_000))

    def drawn(seed: int, power: int, width: int) -> Any:
        uniform = f.pmod(f.xxhash64("id", f.lit(seed)), f.lit(1 << 52)) / f.lit(float(1 << 52))
        return f.floor(f.pow(uniform, power) * width).cast("int")

    users = drawn(0, 3, max(rows // 20, 10)).alias("u")
    return base.select(
        users, *(drawn(i, 2, width).alias(n) for i, (n, width) in enumerate(ATTRIBUTES.items(), 1))
    )


def driver_peak() -> int:
    """The largest resident memory of this process and its Java so far, in MB."""
    total = 0
    for process in [os.getpid(), *_children(os.getpid())]:
        status = Path(f"/proc/{process}/status").read_text()
        line = next((text for text in status.splitlines() if text.startswith("VmHWM")), "VmHWM: 0 kB")
        command = Path(f"/proc/{process}/cmdline").read_bytes()
        if process == os.getpid() or b"org.apache.spark.deploy.SparkSubmit" in command:
            total += int(line.split()[1]) // 1024
    return total


def best(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The fewest CPU seconds of this process and everything below it, and what the work gave."""
    found = []
    for _ in range(repeats):
        before = _cpu_now()
        result = work()
        found.append((_cpu_now() - before, result))
    return min(found, key=lambda pair: pair[0])


def _cpu_now() -> float:
    ticks = 0
    for process in [os.getpid(), *_children(os.getpid())]:
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def _children(root: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    found, queue = [], [root]
    while queue:
        below = parents.get(queue.pop(), [])
        found += below
        queue += below
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=sorted(SIZES), default="full")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cluster", type=int, metavar="ROWS")
    parser.add_argument("--rows", type=int, default=0)
    given = parser.parse_args()
    for line in (
        on_a_cluster(given.cluster) if given.cluster else run(given.size, given.repeats, rows=given.rows)
    ):
        print(json.dumps(line))
