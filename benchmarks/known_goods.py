"""Two known goods of a person, ten records each: counted once, against matching every pair with every user.

The peer is the search that packages for location data do: for every pair of a user's values, go through all users.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import sudare
from benchmarks.work import Goal, Published, Work, at_most
from sudare.data import Dataset, Roles

SMALL = (20, 40, 80)
SECONDS_OF_100K = 10


def table(users: int) -> pa.Table:
    rng = np.random.default_rng(1)
    goods = np.floor(rng.random(users * 10) ** 2 * max(users // 2, 20)).astype(np.int32)
    return pa.table({"u": np.repeat(np.arange(users), 10), "goods": goods})


def ours(bought: pa.Table) -> float:
    ds = Dataset.from_arrow(bought, Roles.of(user="u"))
    return float(sudare.risk(ds, across="goods+goods").rows[0]["risk"])


def peer(bought: pa.Table) -> float:
    goods = bought["goods"].to_numpy().reshape(-1, 10)
    owned = [set(row.tolist()) for row in goods]
    total = 0.0
    for row in goods.tolist():
        total += sum(1 / sum(a in mine and b in mine for mine in owned) for a in row for b in row) / 100
    return total / len(goods)


WORKS = (
    Work(
        name="risk of two known goods of a user with 10 records",
        unit="users",
        sizes={"full": (1_000, 10_000, 100_000), "small": SMALL},
        prepare=table,
        ours=ours,
        peer=peer,
        peer_name="every pair against every user, in Python",
        peer_limit=1_000,
        peer_growth=2.0,
        goal=Goal(f"100,000 users in <= {SECONDS_OF_100K} s", lambda row: row["seconds"] <= SECONDS_OF_100K),
    ),
    Work(
        name="risk of two known goods, 50 users",
        unit="users",
        sizes={"full": (50,), "small": (50,)},
        prepare=table,
        ours=ours,
        peer_name="scikit-mobility",
        published=Published(365, 50, "with older packages; it does not import with current numpy"),
        goal=at_most(0.0001),
    ),
)
