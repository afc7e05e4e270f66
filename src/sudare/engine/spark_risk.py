"""Profiles on Spark: one repartition by user serves every attribute; the same kernel runs in every partition.

Users are never split over partitions, so the counts of different partitions add up. Only the histogram of the values by
records and users comes to the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.dataset import Dataset
from sudare.data.readers.spark import column, frame_of, parts_for
from sudare.engine.risk_profile import Profile

if TYPE_CHECKING:
    import pyarrow as pa

PARTITION_ROWS = 2_000_000
NARROW = {"tinyint", "smallint", "int"}
NULL = 1 << 40  # no 32-bit number
USERS = -1  # the place of the row that counts a partition's users
START = 1024
COUNTS = ("records", "users", "squares", "largest")
OUT = "place int, value long, records long, users long, squares long, largest long"

Ints = NDArray[np.int64]
Subset = tuple[str, ...]


def profiles(ds: Dataset, subsets: Sequence[Subset], *, every_attacker: bool) -> list[Profile]:
    """The profile of every set of attributes, in the given order."""
    columns = list(dict.fromkeys(name for subset in subsets for name in subset))
    places = [tuple(columns.index(name) for name in subset) for subset in subsets]
    counted = _keys(ds, columns).mapInArrow(_counting(places, ds.roles.user is not None, every_attacker), OUT)
    found = _histogram(counted, every_attacker)
    users = int(sum(row["users"] * row["count"] for row in found if row["place"] == USERS))
    return [_profile(subset, place, found, users, every_attacker) for place, subset in enumerate(subsets)]


def _keys(ds: Dataset, columns: Sequence[str]) -> Any:
    """The rows as 64-bit keys (small whole numbers are their own), all rows of a user in one partition."""
    from pyspark.sql import functions as f

    frame = frame_of(ds.table)
    kinds = dict(frame.dtypes)
    keys = [_key(f, name, kinds[name]).alias(f"k{place}") for place, name in enumerate(columns)]
    if ds.roles.user is None:
        return frame.select(*keys)
    owner = _hash(f, ds.roles.user, kinds[ds.roles.user])
    owned = frame.select(owner.alias("owner"), *keys)
    return owned.repartition(parts_for(frame, ds.rows, most=PARTITION_ROWS), "owner")


def _key(f: Any, name: str, kind: str) -> Any:
    if kind in NARROW:
        return f.coalesce(column(name).cast("long"), f.lit(NULL))
    return _hash(f, name, kind)


def _hash(f: Any, name: str, kind: str) -> Any:
    """64 bits of a cell. Of a list or a struct its text: Spark leaves what is missing in it out of the hash."""
    nested = kind.startswith(("array", "struct", "map"))
    return f.xxhash64(f.to_json(column(name), {"ignoreNullFields": "false"}) if nested else column(name))


def _counting(
    places: list[tuple[int, ...]], owned: bool, wide: bool
) -> Callable[..., Iterator[pa.RecordBatch]]:
    """The work of one partition: its rows in the order of their owners, then one table of values per set."""

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        arrays, owners = _ordered(list(batches), owned)
        if len(owners) == 0:
            return
        yield _batch(USERS, np.array([[0, 1, owners[-1], 0, 0, 0, 0]], np.int64))
        for place, columns in enumerate(places):
            yield _batch(place, _table([arrays[c] for c in columns], owners, wide))

    return count


def _ordered(batches: Sequence[pa.RecordBatch], owned: bool) -> tuple[list[Ints], Ints]:
    from sudare.engine.kernels import risk as kernel

    if not batches:
        return [], np.empty(0, np.int64)
    width = batches[0].num_columns
    arrays = [
        np.concatenate([np.asarray(batch.column(place)) for batch in batches]) for place in range(width)
    ]
    if not owned:
        return arrays, np.arange(1, len(arrays[0]) + 1, dtype=np.int64)
    order = np.argsort(arrays[0])
    owners = np.empty(len(order), np.int64)
    kernel.owner_numbers(arrays[0][order], 0, 0, owners)
    return [array[order] for array in arrays[1:]], owners


def _table(keys: list[Ints], owners: Ints, wide: bool) -> Ints:
    from sudare.engine.kernels import risk as kernel

    table = np.zeros((START, 7 if wide else 4), np.int64)
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


def _batch(place: int, table: Ints) -> pa.RecordBatch:
    import pyarrow as pa

    from sudare.engine.kernels import risk as kernel

    rows, wide = len(table), table.shape[1] > 4
    zeros = np.zeros(rows, np.int64)
    columns = [
        np.full(rows, place, np.int32),
        table[:, kernel.KEY],
        table[:, kernel.RECORDS],
        table[:, kernel.USERS],
    ]
    columns += [table[:, kernel.SQUARES], table[:, kernel.LARGEST]] if wide else [zeros, zeros]
    arrays = [pa.array(np.ascontiguousarray(column)) for column in columns]
    return pa.RecordBatch.from_arrays(arrays, names=["place", "value", *COUNTS])


def _histogram(counted: Any, every_attacker: bool) -> list[dict[str, int]]:
    """Add the partitions up per value, then count the values by their numbers."""
    from pyspark.sql import functions as f

    merged = counted.groupBy("place", "value").agg(
        f.sum("records").alias("records"),
        f.sum("users").alias("users"),
        f.sum("squares").alias("squares"),
        f.max("largest").alias("largest"),
    )
    by = ["place", *(COUNTS if every_attacker else COUNTS[:2])]
    rows: list[dict[str, int]] = merged.groupBy(*by).count().toArrow().to_pylist()
    return rows


def _profile(
    subset: Subset, place: int, found: list[dict[str, int]], users: int, every_attacker: bool
) -> Profile:
    rows = [row for row in found if row["place"] == place]
    pairs = ((row["records"], row["users"], row["count"]) for row in rows)
    if not every_attacker:
        return Profile.of(pairs, attributes=subset, users=users)
    return Profile.of(
        pairs,
        attributes=subset,
        users=users,
        squares=((row["records"], row["squares"], row["count"]) for row in rows),
        largest=sum(row["largest"] * row["count"] for row in rows),
    )
