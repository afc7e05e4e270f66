"""Estimates from a release on Spark: the workers count which sets contain which value, per combination of `by`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.data.values.recoded import plain
from sudare.data.values.sets import SetSchema
from sudare.errors import DataError, UsageError
from sudare.estimate.groups import Groups, Slice, group
from sudare.estimate.models import Counts, from_members

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.data.dataset import Dataset

MEMBER, RECORDS, WRONG = "sudare member", "sudare records", "sudare wrong"


def counts_on_spark(
    data: Dataset,
    form: str,
    slices: Sequence[Slice],
    name: str,
    entry: Mapping[str, Any],
    method: str,
    z: float,
) -> Counts:
    """The counts of a randomized column; other forms and EM need the sets themselves and say so."""
    if form != "randomized" or method == "em":
        what = "method em" if form == "randomized" else f"a column of the form {form}"
        raise UsageError(
            f"{name}: {what} needs every set in one place and cannot run on Spark; use projection or DuckDB"
        )
    schema = SetSchema.of(entry, name)
    sizes, members = _counted(data, [s.column for s in slices], name, schema.l)
    wrong = sum(sizes[WRONG].to_pylist())
    if wrong:
        raise DataError(
            f"{name}: {wrong} sets do not have {schema.l} different members; the release was changed"
        )
    groups = group(sizes, slices).weighing(sizes[RECORDS])
    counts = _matrix(group(members, slices), members, groups, schema, name)
    return from_members(counts, groups, schema, z, method)


def _counted(data: Dataset, by: list[str], name: str, l: int) -> tuple[pa.Table, pa.Table]:
    """Per combination of the columns `by`: its records, and how many sets contain each value."""
    from pyspark.sql import functions as f

    from sudare.data.readers.spark import column, frame_of

    frame, sets = frame_of(data.table), column(name)
    keys = [column(c) for c in by]
    wrong = (sets.isNull() | (f.size(sets) != l) | (f.size(f.array_distinct(sets)) != l)).cast("long")
    sizes = frame.groupBy(*keys).agg(f.count("*").alias(RECORDS), f.sum(wrong).alias(WRONG))
    members = (
        frame.select(*keys, f.explode(sets).alias(MEMBER))
        .groupBy(*keys, column(MEMBER))
        .agg(f.count("*").alias(RECORDS))
    )
    return sizes.toArrow(), members.toArrow()


def _matrix(of_members: Groups, members: pa.Table, groups: Groups, schema: SetSchema, name: str) -> Any:
    """Groups x values; both tables have the same groups in the same order, for every set has members."""
    code_of = {plain(value): code for code, value in enumerate(schema.domain)}
    codes = np.array([code_of.get(plain(value), -1) for value in members[MEMBER].to_pylist()], np.int64)
    if (codes < 0).any():
        raise DataError(f"{name}: a value is not in the domain of the sidecar; the release was changed")
    if of_members.labels != groups.labels:
        raise DataError(f"{name}: some sets are empty; the release was changed")
    counts = np.zeros((len(groups.labels), schema.size), np.int64)
    np.add.at(counts, (of_members.of_row, codes), np.asarray(members[RECORDS], np.int64))
    return counts
