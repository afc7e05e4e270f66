"""Profiles on Spark: one repartition by user serves every attribute; the same kernel runs in every partition.

Users are never split over partitions, so the counts of different partitions add up. Only the histogram of the values by
records and users comes to the driver.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.dataset import Dataset
from sudare.data.readers.spark import column, frame_of, parts_for
from sudare.engine.codes import MISSING_KEY
from sudare.engine.profile import Profile

if TYPE_CHECKING:
    import pyarrow as pa

PARTITION_ROWS = 2_000_000
SMALL_NUMBERS = {"tinyint", "smallint", "int"}
USERS = -1  # the set of the row that counts a partition's users
COUNTS = ("records", "users", "squares", "largest")
OUT = "subset int, value long, records long, users long, squares long, largest long"

Ints = NDArray[np.int64]
Subset = tuple[str, ...]


def profiles(ds: Dataset, subsets: Sequence[Subset], *, every_attacker: bool) -> list[Profile]:
    """The profile of every set of attributes, in the given order."""
    columns = list(dict.fromkeys(name for subset in subsets for name in subset))
    indices = [tuple(columns.index(name) for name in subset) for subset in subsets]
    counted = _keys(ds, columns).mapInArrow(
        _counting(indices, ds.roles.user is not None, every_attacker), OUT
    )
    found = _histogram(counted, every_attacker)
    users = sum(row[1] * row[-1] for row in found[USERS])
    return [
        Profile.counted(subset, found[index], users, every_attacker) for index, subset in enumerate(subsets)
    ]


def _keys(ds: Dataset, columns: Sequence[str]) -> Any:
    """The rows as 64-bit keys (small whole numbers are their own), all rows of a user in one partition."""
    from pyspark.sql import functions as f

    frame = frame_of(ds.table)
    kinds = dict(frame.dtypes)
    keys = [_key(f, name, kinds[name]).alias(f"k{index}") for index, name in enumerate(columns)]
    if ds.roles.user is None:
        return frame.select(*keys)
    owner = _hash(f, ds.roles.user, kinds[ds.roles.user])
    owned = frame.select(owner.alias("owner"), *keys)
    return owned.repartition(parts_for(frame, ds.rows, most=PARTITION_ROWS), "owner")


def _key(f: Any, name: str, kind: str) -> Any:
    if kind in SMALL_NUMBERS:
        return f.coalesce(column(name).cast("long"), f.lit(MISSING_KEY))
    return _hash(f, name, kind)


def _hash(f: Any, name: str, kind: str) -> Any:
    """64 bits of a cell. Of a list or a struct its text: Spark leaves what is missing in it out of the hash."""
    nested = kind.startswith(("array", "struct", "map"))
    return f.xxhash64(f.to_json(column(name), {"ignoreNullFields": "false"}) if nested else column(name))


def _counting(
    subsets: list[tuple[int, ...]], owned: bool, wide: bool
) -> Callable[..., Iterator[pa.RecordBatch]]:
    """The work of one partition: its rows in the order of their owners, then one table of values per set."""

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        arrays, owners = _ordered(list(batches), owned)
        if len(owners) == 0:
            return
        yield _batch(USERS, np.array([[0, 1, owners[-1], 0, 0, 0, 0]], np.int64))
        for subset, columns in enumerate(subsets):
            yield _batch(subset, _table([arrays[c] for c in columns], owners, wide))

    return count


def _ordered(batches: Sequence[pa.RecordBatch], owned: bool) -> tuple[list[Ints], Ints]:
    from sudare.engine.kernels import risk as kernel

    if not batches:
        return [], np.empty(0, np.int64)
    width = batches[0].num_columns
    arrays = [np.concatenate([np.asarray(batch.column(c)) for batch in batches]) for c in range(width)]
    if not owned:
        return arrays, np.arange(1, len(arrays[0]) + 1, dtype=np.int64)
    order = np.argsort(arrays[0])
    owners = np.empty(len(order), np.int64)
    kernel.owner_numbers(arrays[0][order], 0, 0, owners)
    return [array[order] for array in arrays[1:]], owners


def _table(keys: list[Ints], owners: Ints, wide: bool) -> Ints:
    from sudare.engine.kernels import risk as kernel

    table = kernel.new_table(kernel.WIDE if wide else kernel.NARROW)
    counted, _ = kernel.count(table, 0, _joined(keys), owners)
    found: Ints = kernel.finish(counted)
    return found


def _joined(keys: list[Ints]) -> Ints:
    """One key from several: each is mixed in turn, so that pairs differ where a part differs."""
    joined = keys[0]
    for key in keys[1:]:
        mixed = joined.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(32))) + key.view(np.uint64) * np.uint64(0x94D049BB133111EB)
        joined = (mixed ^ (mixed >> np.uint64(31))).view(np.int64)
    return joined


def _batch(subset: int, table: Ints) -> pa.RecordBatch:
    import pyarrow as pa

    from sudare.engine.kernels import risk as kernel

    wide = [kernel.SQUARES, kernel.LARGEST] if table.shape[1] > kernel.NARROW else []
    counted = [kernel.KEY, kernel.RECORDS, kernel.USERS, *wide]
    columns = [np.ascontiguousarray(table[:, c]) for c in counted]
    columns += [np.zeros(len(table), np.int64)] * (5 - len(counted))
    arrays = map(pa.array, (np.full(len(table), subset, np.int32), *columns))
    return pa.RecordBatch.from_arrays(list(arrays), names=["subset", "value", *COUNTS])


def _histogram(counted: Any, every_attacker: bool) -> dict[int, list[tuple[int, ...]]]:
    """Add the partitions up per value, then count the values of every set by their numbers."""
    from pyspark.sql import functions as f

    sums = [f.sum(name).alias(name) for name in COUNTS[:3]]
    merged = counted.groupBy("subset", "value").agg(*sums, f.max("largest").alias("largest"))
    by = COUNTS if every_attacker else COUNTS[:2]
    found: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for row in merged.groupBy("subset", *by).count().toArrow().to_pylist():
        found[row["subset"]].append(tuple(row[name] for name in (*by, "count")))
    return found
