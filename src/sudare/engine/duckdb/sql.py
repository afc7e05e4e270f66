"""Queries that the counts of DuckDB are made of."""

from __future__ import annotations

from collections.abc import Sequence

from sudare.data.connection import connect, quote
from sudare.data.dataset import Dataset

TEXT = "VARCHAR"


def per_value(ds: Dataset, attributes: Sequence[str], *, missing: str, condition: str | None = None) -> str:
    """The query of the table of values: value_1.., records, users, squares, largest."""
    named = ", ".join(f"{quote(name)} AS value_{index}" for index, name in enumerate(attributes, 1))
    values = ", ".join(f"value_{index}" for index in range(1, len(attributes) + 1))
    source = rows(ds, attributes, missing, condition)
    if ds.roles.user is None:
        return (
            f"SELECT {named}, count(*) AS records, count(*) AS users, count(*) AS squares, 1 AS largest "
            f"{source} GROUP BY {names(attributes)}"
        )
    owners = f"SELECT {named}, count(*) AS owned {source} GROUP BY {names([*attributes, ds.roles.user])}"
    return (
        f"SELECT {values}, sum(owned)::BIGINT AS records, count(*) AS users, "
        f"sum(owned * owned)::BIGINT AS squares, max(owned) AS largest FROM ({owners}) GROUP BY {values}"
    )


def rows(ds: Dataset, attributes: Sequence[str], missing: str, condition: str | None = None) -> str:
    """FROM and WHERE of the records that count: all, or with missing="drop" those with a value in every attribute."""
    parts = [condition] if condition else []
    if missing == "drop":
        kinds = dict(zip(ds.columns, map(str, connect().table(str(ds.view)).types)))
        for name in attributes:
            parts.append(f"{quote(name)} IS NOT NULL")
            parts += [f"{quote(name)} <> ''"] if kinds[name] == TEXT else []
    return f"FROM {quote(str(ds.view))}" + (f" WHERE {' AND '.join(parts)}" if parts else "")


def names(columns: Sequence[str]) -> str:
    """A list of quoted columns."""
    return ", ".join(map(quote, columns))
