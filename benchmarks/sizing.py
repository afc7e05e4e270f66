"""What a million rows cost on a cluster: a master and two workers of one core each, separate processes on loopback.

    python -m benchmarks.sizing 50000000

The workers make the rows themselves. The table of docs/reference/sizing.md comes from here.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import sudare
from benchmarks.purchases import ATTRIBUTES
from sudare import methods
from sudare.data import Dataset
from sudare.keys import Key

WORKS = ()


def on_a_cluster(rows: int) -> Iterator[dict[str, Any]]:
    """Wall seconds of each work, the CPU of both executors with their Python workers, the driver's peak memory."""
    from sudare.engine.spark.cluster import cluster

    with cluster(workers=2, memory="2g") as running:
        spark = running.session(executor_memory="1g", **{"spark.sql.shuffle.partitions": "16"})
        ds = sudare.open(made(spark, rows), user="u", quasi=["a"], sensitive=["b"], other=["c", "d", "e"])
        for work, job in jobs(ds).items():
            begin, before = time.perf_counter(), cpu_below(running.processes)
            job()
            cost = {"seconds": time.perf_counter() - begin, "cpu": cpu_below(running.processes) - before}
            per_million = {"cpu_per_million": round(cost["cpu"] / rows * 1e6, 2), "driver_mb": driver_peak()}
            yield {"work": work, "records": rows, **{k: round(v, 1) for k, v in cost.items()}, **per_million}
        spark.stop()


def jobs(ds: Dataset) -> dict[str, Callable[[], Any]]:
    """What is measured."""
    recipe = [methods.RandomizedAddition(l=10, column="b"), methods.Round(column="d", to=10)]
    return {
        "risk of 5 attributes": lambda: sudare.risk(ds),
        "randomized addition, rounding, pseudonyms, shuffle": lambda: sudare.anonymize(
            ds, recipe, key=Key.demo(1)
        ),
    }


def made(spark: Any, rows: int) -> Any:
    """Rows like those of the other benchmarks, made where they are used."""
    from pyspark.sql import functions as f

    base = spark.range(0, rows, numPartitions=max(2, rows // 1_000_000))

    def drawn(seed: int, power: int, width: int) -> Any:
        uniform = f.pmod(f.xxhash64("id", f.lit(seed)), f.lit(1 << 52)) / f.lit(float(1 << 52))
        return f.floor(f.pow(uniform, power) * width).cast("int")

    users = drawn(0, 3, max(rows // 20, 10)).alias("u")
    return base.select(
        users, *(drawn(i, 2, width).alias(n) for i, (n, width) in enumerate(ATTRIBUTES.items(), 1))
    )


def cpu_below(processes: Any) -> float:
    """CPU seconds of the cluster's processes and everything they started."""
    from benchmarks.meters import TICKS, _stat

    wanted = {process.pid for process in processes}
    known = {int(e.name): _stat(int(e.name)) for e in Path("/proc").iterdir() if e.name.isdigit()}
    for _ in range(6):  # generations: worker, executor, daemon, Python worker
        wanted |= {pid for pid, fields in known.items() if fields and int(fields[1]) in wanted}
    return sum(sum(map(int, known[pid][11:15])) for pid in wanted if known.get(pid)) / TICKS


def driver_peak() -> int:
    """The largest resident memory of this process and its Java, in MB."""
    from benchmarks.meters import _high_water, _stat

    below = [int(e.name) for e in Path("/proc").iterdir() if e.name.isdigit()]
    mine = [pid for pid in below if _stat(pid)[1:2] == [str(os.getpid())]]
    java = [pid for pid in mine if b"SparkSubmit" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    return sum(map(_high_water, [os.getpid(), *java]))


if __name__ == "__main__":
    for line in on_a_cluster(int(sys.argv[1])):
        print(json.dumps(line), flush=True)
