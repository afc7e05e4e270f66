"""Groups that are too many for one worker: partitioned so that similar ones stay together."""

from __future__ import annotations

from typing import Any

from sudare.data.readers.spark import column
from sudare.engine.rows import Together

PART = "sudare part"  # where a frame has this column, its parts are worked on one by one
OWNER = "sudare part of"


def parts_of(groups: int, most: int) -> int:
    """Into how many parts so many groups go."""
    return max(1, groups // most)


def dealt(frame: Any, together: Together, groups: int) -> Any:
    """All rows of a group in one partition, groups with sets of values of similar size together."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    parts = parts_of(groups, together.most or groups)
    if parts == 1:
        return frame.repartition(1)
    (by,), value = together.by, column(str(together.alike))
    sizes = frame.groupBy(column(by).alias(OWNER)).agg(
        f.countDistinct(value).alias("size"), f.min(f.xxhash64(value)).alias("mark")
    )
    index = f.row_number().over(Window.orderBy("size", "mark", column(OWNER))) - 1
    part = f.least((index / (groups // parts)).cast("int"), f.lit(parts - 1)).alias(PART)
    joined = frame.join(sizes.select(column(OWNER), part), column(by) == column(OWNER))
    return joined.repartition(parts, column(PART)).select(*map(column, (*frame.columns, PART)))
