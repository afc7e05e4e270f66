"""Profiles of attributes by plain DuckDB queries: for tables of a few million rows, with no other import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sudare.data.connection import connect, quote
from sudare.data.dataset import Dataset
from sudare.engine.risk_profile import Profile

TEXT = "VARCHAR"


def profile(ds: Dataset, attributes: Sequence[str], *, missing: str, every_attacker: bool) -> Profile:
    """How many values of the attributes have how many records and users."""
    wide = "records, users, squares, largest" if every_attacker else "records, users"
    query = f"SELECT {wide}, count(*) FROM ({per_value(ds, attributes, missing=missing)}) GROUP BY ALL"
    found = connect().sql(query).fetchall()
    return _from_rows(tuple(attributes), found, _users(ds, attributes, missing), every_attacker)


def per_value(ds: Dataset, attributes: Sequence[str], *, missing: str, condition: str | None = None) -> str:
    """The query of the table of values: value_1.., records, users, squares, largest."""
    columns = [quote(name) for name in attributes]
    named = ", ".join(f"{column} AS value_{place}" for place, column in enumerate(columns, 1))
    places = ", ".join(f"value_{place}" for place in range(1, len(columns) + 1))
    where = where_clause(ds, attributes, missing, condition)
    table = quote(str(ds.view))
    if ds.roles.user is None:
        return (
            f"SELECT {named}, count(*) AS records, count(*) AS users, count(*) AS squares, 1 AS largest "
            f"FROM {table}{where} GROUP BY {', '.join(columns)}"
        )
    user = quote(ds.roles.user)
    owners = f"SELECT {named}, count(*) AS owned FROM {table}{where} GROUP BY {', '.join(columns)}, {user}"
    return (
        f"SELECT {places}, sum(owned)::BIGINT AS records, count(*) AS users, "
        f"sum(owned * owned)::BIGINT AS squares, max(owned) AS largest FROM ({owners}) GROUP BY {places}"
    )


def value_rows(ds: Dataset, attributes: Sequence[str], *, missing: str) -> list[tuple[Any, ...]]:
    """The table of values itself: the value(s), records, users, squares, largest."""
    found = connect().sql(per_value(ds, attributes, missing=missing)).to_arrow_table()
    return list(zip(*(column.to_pylist() for column in found.columns)))


def count_values(ds: Dataset, attributes: Sequence[str], *, missing: str) -> tuple[int, int, int]:
    """|D_X|, the records and the users, without looking at who owns what."""
    columns = ", ".join(quote(name) for name in attributes)
    where = where_clause(ds, attributes, missing)
    counted = f"SELECT count(*) AS n FROM {quote(str(ds.view))}{where} GROUP BY {columns}"
    values, records = connect().sql(f"SELECT count(*), sum(n)::BIGINT FROM ({counted})").fetchall()[0]
    return values, records or 0, _users(ds, attributes, missing)


def count_records(ds: Dataset, attributes: Sequence[str], *, missing: str) -> int:
    """The records that count."""
    where = where_clause(ds, attributes, missing)
    return int(connect().sql(f"SELECT count(*) FROM {quote(str(ds.view))}{where}").fetchall()[0][0])


def exposed(ds: Dataset, attributes: Sequence[str], most: int, *, missing: str) -> float:
    """The share of users who own a value with at most so many owners."""
    columns, where = ", ".join(quote(name) for name in attributes), where_clause(ds, attributes, missing)
    if ds.roles.user is None:
        inner = f"SELECT count(*) AS n FROM {quote(str(ds.view))}{where} GROUP BY {columns}"
        query = f"SELECT coalesce(sum(n) FILTER (n <= {most}), 0) FROM ({inner})"
    else:
        user = quote(ds.roles.user)
        owners = f"SELECT {user} AS owner, {columns} FROM {quote(str(ds.view))}{where} GROUP BY ALL"
        counted = f"SELECT owner, count(*) OVER (PARTITION BY {columns}) AS owners FROM ({owners})"
        query = f"SELECT count(DISTINCT owner) FROM ({counted}) WHERE owners <= {most}"
    return float(connect().sql(query).fetchall()[0][0]) / ds.users


def check_users(ds: Dataset) -> tuple[int, int]:
    """The number of records, and of those without a user."""
    if ds.roles.user is None:
        return ds.rows, 0
    query = f"SELECT count(*), count(*) - count({quote(ds.roles.user)}) FROM {quote(str(ds.view))}"
    rows, without = connect().sql(query).fetchall()[0]
    return int(rows), int(without)


def _users(ds: Dataset, attributes: Sequence[str], missing: str) -> int:
    where = where_clause(ds, attributes, missing)
    if not where:
        return ds.users
    counted = "*" if ds.roles.user is None else f"DISTINCT {quote(ds.roles.user)}"
    found = connect().sql(f"SELECT count({counted}) FROM {quote(str(ds.view))}{where}").fetchall()
    return int(found[0][0])


def where_clause(ds: Dataset, attributes: Sequence[str], missing: str, condition: str | None = None) -> str:
    """The records that count: all, or with missing="drop" those with a value in every attribute."""
    parts = [condition] if condition else []
    if missing == "drop":
        kinds = dict(zip(ds.columns, map(str, connect().table(str(ds.view)).types)))
        for name in attributes:
            parts.append(f"{quote(name)} IS NOT NULL")
            parts += [f"{quote(name)} <> ''"] if kinds[name] == TEXT else []
    return f" WHERE {' AND '.join(parts)}" if parts else ""


def _from_rows(
    attributes: tuple[str, ...], rows: list[tuple[Any, ...]], users: int, every_attacker: bool
) -> Profile:
    if not every_attacker:
        return Profile.of(rows, attributes=attributes, users=users)
    return Profile.of(
        ((records, owners, count) for records, owners, _, _, count in rows),
        squares=((records, squares, count) for records, _, squares, _, count in rows),
        largest=sum(largest * count for _, _, _, largest, count in rows),
        attributes=attributes,
        users=users,
    )
