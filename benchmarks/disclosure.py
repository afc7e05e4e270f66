"""k, l and t of one table with 8 quasi-identifiers: against the bare DuckDB query and against pyCANON."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import sudare
from benchmarks.work import Work, at_most
from sudare.data import Dataset, Roles
from sudare.data.connection import connect, fresh_name, quote

KINDS = 3000
SIZES = {"full": (100_000, 300_000, 1_000_000), "small": (1_000, 2_000, 4_000)}
# the numbers of values of Adult's columns, as skewed as they are there
WIDTHS = {"age": 74, "work": 9, "school": 16, "marital": 7, "job": 15, "race": 5, "sex": 2, "country": 42}
QUASI = list(WIDTHS)


class People(NamedTuple):
    """The table inside DuckDB, so that both sides read the same storage, and as a frame."""

    data: Dataset
    frame: Any


@cache
def people(records: int) -> People:
    table = drawn(records)
    name = fresh_name("benchmark")
    connect().register("benchmark_source", table)
    connect().execute(f"CREATE TABLE {quote(name)} AS SELECT * FROM benchmark_source")
    return People(Dataset(roles=Roles.of(quasi=QUASI, sensitive="income"), view=name), table.to_pandas())


def drawn(records: int) -> pa.Table:
    """Text columns with the cardinalities of Adult, in two halves that are drawn from 3,000 kinds of people each:
    about a quarter as many classes as a million records, like Adult mixed with itself.
    """
    rng = np.random.default_rng(0)
    kind = {half: rng.choice(KINDS, records, p=falling(KINDS)) for half in (0, 1)}
    columns = {}
    for place, (name, width) in enumerate(WIDTHS.items()):
        of_kind = rng.choice(width, KINDS, p=falling(width)).astype(np.int32)
        labels = pa.array([f"{name} {code:02}" for code in range(width)])
        coded = pa.DictionaryArray.from_arrays(pa.array(of_kind[kind[place // 4]]), labels)
        columns[name] = coded.cast(pa.string())
    columns["income"] = pa.array(np.where(rng.random(records) < 0.24, ">50K", "<=50K"))
    return pa.table(columns)


def falling(width: int) -> np.ndarray[Any, Any]:
    weight = 1 / np.arange(1, width + 1)
    return weight / weight.sum()


def ours(asked: People) -> tuple[float, float, float]:
    found = sudare.disclosure(asked.data, measures=["k", "l", "t"])
    return found.k, found.l["income"], found.t["income"]


def bare(asked: People) -> tuple[float, ...]:
    """k, distinct l and t of the same table in one query: counts per class, joined with the table's shares."""
    quasi, table = ", ".join(map(quote, QUASI)), quote(str(asked.data.view))
    query = f"""
        WITH p AS (SELECT income, count(*) / (SELECT count(*) FROM {table}) AS p FROM {table} GROUP BY income),
        c AS (SELECT {quasi}, income, count(*) AS n FROM {table} GROUP BY ALL),
        g AS (SELECT {quasi}, sum(n) AS size, count(*) AS l FROM c GROUP BY {quasi})
        SELECT min(size), min(l), max(t) FROM (
            SELECT any_value(size) AS size, any_value(l) AS l, sum(greatest(n / size - p, 0)) AS t
            FROM c JOIN g USING ({quasi}) JOIN p USING (income) GROUP BY {quasi})"""
    return tuple(map(float, connect().sql(query).fetchall()[0]))


def pycanon(asked: People) -> tuple[float, float, float]:
    from pycanon import anonymity

    frame = asked.frame
    return (
        anonymity.k_anonymity(frame, QUASI),
        anonymity.l_diversity(frame, QUASI, ["income"]),
        anonymity.t_closeness(frame, QUASI, ["income"]),
    )


WORKS = (
    Work(
        name="k, l and t, 8 quasi-identifiers",
        sizes=SIZES,
        prepare=people,
        ours=ours,
        peer=bare,
        peer_name="bare DuckDB query",
        goal=at_most(1.3),
    ),
    Work(
        name="k, l and t, 8 quasi-identifiers (pyCANON)",
        sizes={"full": (10_000, 100_000, 1_000_000), "small": (100, 200, 400)},
        prepare=people,
        ours=ours,
        peer=pycanon,
        peer_name="pyCANON",
        peer_needs="pycanon",
        goal=at_most(0.01),
    ),
)
