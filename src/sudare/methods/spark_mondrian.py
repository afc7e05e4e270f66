"""Mondrian on Spark: the groups depend only on how often each combination of quasi-identifiers occurs.

The workers count the combinations; the driver cuts this histogram, like the kernel does, until a part has few enough
rows for the kernel; what each combination publishes goes back to the workers by a join.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.readers.spark import column
from sudare.engine.spark_rows import HIDDEN
from sudare.errors import UsageError, warn
from sudare.methods.spark_draft import SparkDraft

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.methods.quasi import Quasi

PART_ROWS = 5_000_000
COUNT = "sudare records"

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def mondrian(step: Any, draft: SparkDraft) -> tuple[SparkDraft, dict[str, Any]]:
    """Run the method; same groups and same losses as on one machine."""
    from sudare.engine.recoding import Grouping, places
    from sudare.methods.quasi import encode, publish, quasi_columns, resolve

    names = quasi_columns(draft.empty(), step.columns, "mondrian")
    counted = _counted(draft, names)
    counts = np.asarray(counted[COUNT], np.int64)
    _check_k(draft, step.k, int(counts.sum()))
    table = counted.select(names)
    quasi = encode(table, names, resolve(step.hierarchies, table, names))
    group_of, groups = group_classes(quasi.codes, counts, *places(quasi.columns), step.k)
    grouping = Grouping.of(quasi.codes, quasi.columns, group_of, groups)
    sizes = np.bincount(group_of, counts, groups).astype(np.float64)
    details = {"k": step.k, **_losses(quasi, grouping.costs, sizes)}
    return _replaced(draft, names, table, publish(table, quasi, grouping)), details


def group_classes(
    codes: Codes, counts: Ints, point: Floats, offset: Ints, k: int, part_rows: int = PART_ROWS
) -> tuple[Ints, int]:
    """The group of every combination; `codes[i]` occurs `counts[i]` times."""
    from sudare.engine.kernels.conditions import DISTINCT, Conditions
    from sudare.engine.kernels.mondrian import mondrian as kernel

    free = Conditions(1.0, DISTINCT, 1.0, False, np.ones(1))
    group_of, groups = np.empty(len(codes), np.int64), 0
    stack = [np.arange(len(codes))]
    while stack:
        part = stack.pop()
        rows = int(counts[part].sum())
        left = _cut(codes[part], counts[part], point, offset, k) if rows > part_rows else None
        if left is not None:
            stack += [part[left], part[~left]]
        elif rows > part_rows:  # no cut leaves k rows on both sides
            group_of[part] = groups
            groups += 1
        else:
            repeated = np.repeat(codes[part], counts[part], axis=0)
            found, number = kernel(repeated, point, offset, k, False, np.zeros(rows, np.int32), free)
            starts = np.cumsum(counts[part]) - counts[part]
            group_of[part] = groups + found[starts]
            groups += number
    return group_of, groups


def _cut(codes: Codes, counts: Ints, point: Floats, offset: Ints, k: int) -> NDArray[np.bool_] | None:
    """Which combinations go left, by the kernel's rule: the widest column at the value nearest to its median."""
    low, high = codes.min(axis=0), codes.max(axis=0)
    width = point[offset[:-1] + high] - point[offset[:-1] + low]
    rows = int(counts.sum())
    for c in np.argsort(-width, kind="stable"):
        if width[c] <= 0:
            return None
        below = np.cumsum(np.bincount(codes[:, c] - low[c], counts)).astype(np.int64)[:-1]
        upto = int(np.searchsorted(below, rows // 2, side="right")) + 1
        below = below[:upto]
        distance = np.where((below >= k) & (rows - below >= k), np.abs(2 * below - rows), rows)
        if len(below) and distance.min() < rows:
            return np.asarray(codes[:, c] <= low[c] + int(distance.argmin()))
    return None


def _counted(draft: SparkDraft, names: tuple[str, ...]) -> pa.Table:
    from pyspark.sql import functions as f

    return draft.frame.groupBy(*map(column, names)).agg(f.count("*").alias(COUNT)).toArrow()


def _check_k(draft: SparkDraft, k: int, rows: int) -> None:
    user, people = draft.roles.user, rows
    if user is not None and user in draft.columns:
        people = int(draft.frame.select(column(user)).distinct().count())
        if people < rows and k <= people:
            warn(
                "S-ROWS",
                f"mondrian: groups have {k} rows, but people have several: a group may be one person's",
            )
    if k > people:
        raise UsageError(
            f"mondrian: k = {k} is more than the {people} people of the table; choose a smaller k"
        )


def _losses(quasi: Quasi, costs: Floats, sizes: Floats) -> dict[str, Any]:
    loss = sizes / sizes.sum() @ costs
    return {
        "groups": len(sizes),
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "ncp": float(loss.mean()),
        "ncp_by_column": {name: round(float(part), 6) for name, part in zip(quasi.names, loss)},
    }


def _replaced(draft: SparkDraft, names: tuple[str, ...], old: pa.Table, new: pa.Table) -> SparkDraft:
    """The frame with every combination replaced by what its group publishes."""
    changed = [name for name in names if not new[name].equals(old[name])]
    if not changed:
        return draft
    was = [f"sudare was {place}" for place in range(len(names))]
    now = {name: f"sudare now {place}" for place, name in enumerate(changed)}
    table = old.rename_columns(was)
    for name, label in now.items():
        table = table.append_column(label, new[name])
    lookup = draft.frame.sparkSession.createDataFrame(table)
    match = [column(name).eqNullSafe(column(label)) for name, label in zip(names, was)]
    joined = draft.frame.join(lookup, match, "inner")
    kept = [column(now[c]).alias(c) if c in now else column(c) for c in (*draft.columns, *HIDDEN)]
    return draft.replace(frame=joined.select(*kept))
