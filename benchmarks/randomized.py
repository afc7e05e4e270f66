"""Randomized addition: the keyed draw against a plain numpy draw, the estimate against DuckDB."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sudare
from benchmarks.work import Work, at_most
from sudare.data import Dataset, Roles
from sudare.data.connection import connect, fresh_name, quote
from sudare.data.files.writers import _write_parquet
from sudare.engine.rows import Draft
from sudare.estimate.measure import EstimateResult
from sudare.keys import Key
from sudare.methods.plugins.randomized import RandomizedAddition

VALUES, L, GROUPS = 50, 10, 1000
SIZES = {"full": (1_000_000, 3_000_000, 10_000_000), "small": (1_000, 2_000, 4_000)}


def people(records: int) -> Draft:
    """Records with a group and one of 50 values; their ids are given, as `Draft.of` would make them."""
    rng = np.random.default_rng(0)
    domain = pa.array([f"value {i:02}" for i in range(VALUES)])
    codes = pa.array(rng.integers(0, VALUES, records).astype(np.int8))
    values = pa.DictionaryArray.from_arrays(codes, domain).cast(pa.string())
    table = pa.table({"group": rng.integers(0, GROUPS, records), "value": values})
    ids = rng.integers(0, 2**64, (records, 2), dtype=np.uint64)
    return Draft(table, Roles.of(quasi="group", sensitive="value"), np.arange(records), ids)


def drawn(draft: Draft) -> Draft:
    return RandomizedAddition(l=L).apply(draft, Key.demo(1))


def write(draft: Draft) -> int:
    """The sets drawn and written to Parquet; how many are in the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sets.parquet"
        _write_parquet([drawn(draft).table.select(["value"])], path)
        return int(pq.ParquetFile(path).metadata.num_rows)


def floyd(draft: Draft) -> np.ndarray[Any, Any]:
    """As many sets of l-1 others as bit masks, without a key: Floyd's sampling, vectorised."""
    rng, one = np.random.default_rng(0), np.uint64(1)
    sets = np.zeros(draft.rows, np.uint64)
    for last in range(VALUES - L, VALUES - 1):
        drawn = rng.integers(0, last + 1, draft.rows, dtype=np.uint8).astype(np.uint64)
        taken = (sets >> drawn) & one
        sets |= one << np.where(taken == one, np.uint64(last), drawn)
    return sets


def sets_of_l(release: Draft, masks: np.ndarray[Any, Any]) -> bool:
    """Both sides drew for every record: sets of l here, of the l-1 others there."""
    lengths = np.diff(release.table["value"].combine_chunks().offsets.to_numpy())
    return bool((lengths == L).all() and (np.bitwise_count(masks) == L - 1).all())


def released(records: int) -> Dataset:
    """A release, with its sets in a table of DuckDB for the peer."""
    done, name = drawn(people(records)), fresh_name("sets")
    connect().register("benchmark_sets", done.table)
    connect().execute(f"CREATE OR REPLACE TABLE {quote(name)} AS SELECT * FROM benchmark_sets")
    connect().unregister("benchmark_sets")
    release = Dataset.from_arrow(done.table, done.roles, name=name)
    return dataclasses.replace(release, published={"schema": done.schema})


def unnest(release: Dataset) -> pa.Table:
    query = f'SELECT "group", unnest("value") AS value FROM {quote(release.name)}'
    return (
        connect().sql(f'SELECT "group", value, count(*) AS sets FROM ({query}) GROUP BY ALL').to_arrow_table()
    )


def same_counts(estimated: EstimateResult, counted: pa.Table) -> bool:
    """Our estimate is the projection of the inverse (P2) of the same counts: within a group, the estimates
    that are not zero all lie equally far below the inverse.
    """
    found = (
        estimated.to_frame().merge(counted.to_pandas(), on=["group", "value"], how="left").fillna({"sets": 0})
    )
    by_chance = (L - 1) / (VALUES - 1)
    inverse = (found["sets"] - found["records"] * by_chance) / (1 - by_chance)
    gap = (inverse - found["count"])[found["count"] > 0]
    groups = gap.groupby(found["group"])
    return bool((groups.max() - groups.min()).max() < 1e-6)


WORKS = (
    Work(
        name="randomized addition, 50 values, l=10, keyed",
        sizes=SIZES,
        prepare=people,
        ours=drawn,
        peer=floyd,
        peer_name="numpy, Floyd's draw, no key",
        same=sets_of_l,
        goal=at_most(1.5),
    ),
    Work(
        name="the same, written to Parquet",
        sizes=SIZES,
        prepare=people,
        ours=write,
        peer=floyd,
        peer_name="numpy, Floyd's draw, not written",
        same=lambda rows, masks: rows == len(masks),
        goal=at_most(2),
        remains="the draw is a third of it. The rest is Arrow's writer, 17 ns for each of the 100 million members of "
        "the sets: no compression, page size, row group or column without nulls made it faster by a tenth.",
    ),
    Work(
        name="estimate by 1,000 groups",
        sizes=SIZES,
        prepare=released,
        ours=lambda release: sudare.estimate(release, by="group"),
        peer=unnest,
        same=same_counts,
        peer_name="DuckDB unnest and count, no estimate",
        goal=at_most(0.1),
    ),
)
