"""The counts of a table on Spark: the expressions of every database, and kernels in Spark's partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sudare.data.readers.spark import column as named
from sudare.data.readers.spark import frame_of
from sudare.engine.counts import SetCounts, Subset
from sudare.engine.ibis.counts import IbisCounts
from sudare.engine.profile import Profile
from sudare.engine.spark.profiles import profiles
from sudare.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa


class SparkCounts(IbisCounts):
    """`Counts` of an expression on Spark."""

    @property
    def values_leave(self) -> bool:
        return True

    def kernel_pays(self, subsets: Sequence[Subset]) -> bool:
        return True

    def kernel_profiles(
        self, subsets: Sequence[Subset], *, every_attacker: bool, memory: int | None
    ) -> list[Profile]:
        return profiles(self.ds, subsets, every_attacker=every_attacker)

    def set_counts(self, by: Sequence[str], column: str, l: int) -> SetCounts:
        from pyspark.sql import functions as f

        frame, sets, keys = frame_of(self.ds.table), named(column), [named(name) for name in by]
        wrong = sets.isNull() | (f.size(sets) != l) | (f.size(f.array_distinct(sets)) != l)
        groups = frame.groupBy(*keys).agg(
            f.count("*").alias("sudare_records"), f.sum(wrong.cast("long")).alias("sudare_wrong")
        )
        members = (
            frame.select(*keys, f.explode(sets).alias("sudare_member"))
            .groupBy(*keys, "sudare_member")
            .agg(f.count("*").alias("sudare_records"))
        )
        return SetCounts(groups.toArrow(), members.toArrow())

    def sets(self, columns: Sequence[str], what: str) -> pa.Table:
        raise UsageError(
            f"{what} needs every set in one place and cannot run on Spark; use projection or DuckDB"
        )
