"""Dummy records on Spark: users are dealt into parts of similar users, and each part is clustered on its own.

A part costs more dummies than everybody together would, for a user may have a better partner in another part. How
many more is said: the pilot of `sudare.plan` estimates what one clustering of everybody would need.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sudare.data.readers.spark import column
from sudare.errors import UsageError
from sudare.methods.spark_draft import PART, SparkDraft

USERS = 50_000  # per part
OWNER = "sudare part of"


def dummy_records(
    step: Any, draft: SparkDraft, users_per_part: int = USERS
) -> tuple[SparkDraft, dict[str, Any]]:
    """Run the method on every part; with a single part the result is that of one machine."""
    from sudare.cost.optimise import check_k

    user = draft.roles.user
    if user is None:
        raise UsageError("dummy-records needs to know the person of every record; name the column with user=")
    draft.require(user, step.value)
    people = draft.frame.select(column(user)).distinct().count()
    check_k(step.k, people)
    parts = max(1, people // max(users_per_part, 2 * step.k))
    published = {**draft.schema, "dummies": {step.value: {"k": step.k, "keep": step.keep}}}
    shape = draft.empty().replace(schema=published)
    if parts == 1:
        return draft.replace(frame=draft.frame.repartition(1)).apply(step, whole=True, shape=shape), {}
    known = {"parts": parts, "without_parts": _without_parts(step, draft, user), "lower_bound": None}
    return _dealt(step, draft, user, parts, people).apply(step, whole=True, shape=shape), known


def _dealt(step: Any, draft: SparkDraft, user: str, parts: int, people: int) -> SparkDraft:
    """All records of a user in one partition, users with sets of similar size together."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    value = column(step.value)
    sizes = draft.frame.groupBy(column(user).alias(OWNER)).agg(
        f.countDistinct(value).alias("size"), f.min(f.xxhash64(value)).alias("mark")
    )
    place = f.row_number().over(Window.orderBy("size", "mark", column(OWNER))) - 1
    part = f.least((place / (people // parts)).cast("int"), f.lit(parts - 1)).alias(PART)
    dealt = sizes.select(column(OWNER), part)
    joined = draft.frame.join(dealt, column(user) == column(OWNER)).repartition(parts, column(PART))
    return draft.replace(frame=joined.select(*map(column, (*draft.frame.columns, PART))))


def _without_parts(step: Any, draft: SparkDraft, user: str) -> int | None:
    """What one clustering of everybody would need, by the plan's pilot; None where its sample is too small."""
    from sudare.cost.plan import plan
    from sudare.data.readers.databases import open_spark_frame
    from sudare.data.roles import Roles

    pairs = draft.frame.select(column(user), column(step.value))
    data = replace(open_spark_frame(pairs), roles=Roles.of(user=user))
    found = plan(data, step.value, k=[step.k]).rows[0]["pilot"]
    return None if found is None else round(found)
