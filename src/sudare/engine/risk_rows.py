"""Rows that a kernel can read: on DuckDB, with the records that have a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sudare.data.connection import connect, fresh_name, quote
from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.engine import risk_sql
from sudare.engine.codes import codes
from sudare.engine.risk_lattice import Coded


def at_hand(ds: Dataset, columns: Sequence[str], *, missing: str) -> Dataset:
    """The table on DuckDB, fetched if need be, without the records that lack a value if they do not count."""
    user = ds.roles.user
    if ds.view is None:
        wanted = list(dict.fromkeys([*([user] if user else []), *columns]))
        ds = Dataset.from_arrow(ds.to_pyarrow(wanted), Roles(user=user), name=ds.name)
    where = risk_sql.where_clause(ds, columns, missing)
    if not where:
        return ds
    view = fresh_name()
    connect().execute(f"CREATE TEMP VIEW {view} AS SELECT * FROM {quote(str(ds.view))}{where}")
    return replace(ds, view=view, parquet=())


def coded_values(ds: Dataset, columns: Sequence[str], *, missing: str) -> tuple[Coded, dict[str, list[Any]]]:
    """The rows as codes ordered by user, and per column the values by code."""
    user = ds.roles.user
    wanted = list(dict.fromkeys([*([user] if user else []), *columns]))
    table = at_hand(ds, columns, missing=missing).to_pyarrow(wanted)
    matrix, values = codes(table, wanted)
    place = {name: number for number, name in enumerate(wanted)}
    owners = matrix[:, place[user]] if user else np.arange(table.num_rows, dtype=np.int32)
    order = np.argsort(owners, kind="stable")
    return (
        Coded(
            owners=(owners[order] + 1).astype(np.int32),
            codes={name: np.ascontiguousarray(matrix[order, place[name]]) for name in columns},
            widths={name: len(values[place[name]]) for name in columns},
            users=int(owners.max()) + 1 if len(owners) else 0,
        ),
        {name: values[place[name]].to_pylist() for name in columns},
    )
