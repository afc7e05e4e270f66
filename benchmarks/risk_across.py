"""Two known goods of a person (10 records each): pairs counted once, against matching every pair with every user.

The peer is the search that packages for location data do: for every pair of a user's values, go through all users.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import sudare
from sudare.data import Dataset, Roles

SIZES = (50, 500, 5_000)
PEER_SIZES = (50, 500)
GOAL = "<= 0.0001 at 50 users of scikit-mobility's 365 s; 100,000 users in seconds"


def table(users: int) -> pa.Table:
    rng = np.random.default_rng(1)
    goods = np.floor(rng.random(users * 10) ** 2 * max(users // 2, 20)).astype(np.int32)
    return pa.table({"u": np.repeat(np.arange(users), 10), "goods": goods})


def ours(users: int) -> float:
    ds = Dataset.from_arrow(table(users), Roles.of(user="u"))
    return float(sudare.risk(ds, across="goods+goods").rows[0]["risk"])


def peer(users: int) -> float:
    goods = table(users)["goods"].to_numpy().reshape(users, 10)
    owned = [set(row.tolist()) for row in goods]
    total = 0.0
    for row in goods.tolist():
        total += sum(1 / sum(a in mine and b in mine for mine in owned) for a in row for b in row) / 100
    return total / users
