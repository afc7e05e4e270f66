"""Risk on Spark: one repartition by user and a kernel per partition, against the query written by hand."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import sudare
from benchmarks.meters import TREE
from benchmarks.purchases import ATTRIBUTES, parquet
from benchmarks.work import Work, at_most
from sudare.data import Dataset
from sudare.data.readers.spark import session

SETTINGS = {"spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "4"}


class OnSpark(NamedTuple):
    frame: Any
    data: Dataset


@cache
def local() -> Any:
    return session("local[2]", **SETTINGS)


def opened(rows: int) -> OnSpark:
    frame = local().read.parquet(str(parquet(rows)))
    return OnSpark(frame, sudare.open(frame, user="u"))


def ours(asked: OnSpark) -> list[float]:
    found = sudare.risk(asked.data)
    return [found.risk_of(name) for name in ATTRIBUTES]


def by_hand(asked: OnSpark) -> list[float]:
    """What anyone would write: per attribute, records and distinct users of every value."""
    from pyspark.sql import functions as f

    rows, found = asked.frame.count(), []
    for name in ATTRIBUTES:
        values = asked.frame.groupBy(name).agg(f.count("*").alias("r"), f.countDistinct("u").alias("k"))
        found.append(float(values.select(f.sum(f.col("r") / f.col("k"))).collect()[0][0]) / rows)
    return found


WORKS = (
    Work(
        name="risk of 5 attributes, Spark local[2]",
        sizes={"full": (100_000, 1_000_000, 10_000_000), "small": (1_000, 2_000)},
        prepare=opened,
        ours=ours,
        peer=by_hand,
        peer_name="PySpark, count distinct per attribute",
        peer_needs="pyspark",
        meter=TREE,
        goal=at_most(0.6),
    ),
)
