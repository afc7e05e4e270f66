"""The values of attributes and their owners by plain DuckDB queries, with no other import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sudare.data.connection import connect, quote, scalar
from sudare.data.dataset import Dataset
from sudare.engine.profile import Profile

TEXT = "VARCHAR"


class Values:
    """What `Counts` says of values, for a view of DuckDB."""

    ds: Dataset

    def profile(self, attributes: Sequence[str], *, missing: str, every_attacker: bool) -> Profile:
        wide = "records, users, squares, largest" if every_attacker else "records, users"
        query = (
            f"SELECT {wide}, count(*) FROM ({per_value(self.ds, attributes, missing=missing)}) GROUP BY ALL"
        )
        found = connect().sql(query).fetchall()
        return Profile.counted(attributes, found, self._users(attributes, missing), every_attacker)

    def value_rows(self, attributes: Sequence[str], *, missing: str = "value") -> list[tuple[Any, ...]]:
        found = connect().sql(per_value(self.ds, attributes, missing=missing)).to_arrow_table()
        return list(zip(*(column.to_pylist() for column in found.columns)))

    def count_values(self, attributes: Sequence[str], *, missing: str = "value") -> tuple[int, int, int]:
        counted = f"SELECT count(*) AS n {rows(self.ds, attributes, missing)} GROUP BY {names(attributes)}"
        values, records = connect().sql(f"SELECT count(*), sum(n)::BIGINT FROM ({counted})").fetchall()[0]
        return values, records or 0, self._users(attributes, missing)

    def count_records(self, attributes: Sequence[str], *, missing: str = "value") -> int:
        if missing == "value":
            return self.ds.rows
        return int(scalar(f"SELECT count(*) {rows(self.ds, attributes, missing)}"))

    def exposed(self, attributes: Sequence[str], most: int, *, missing: str = "value") -> float:
        columns, source = names(attributes), rows(self.ds, attributes, missing)
        if self.ds.roles.user is None:
            inner = f"SELECT count(*) AS n {source} GROUP BY {columns}"
            query = f"SELECT coalesce(sum(n) FILTER (n <= {most}), 0) FROM ({inner})"
        else:
            owners = f"SELECT {quote(self.ds.roles.user)} AS owner, {columns} {source} GROUP BY ALL"
            counted = f"SELECT owner, count(*) OVER (PARTITION BY {columns}) AS owners FROM ({owners})"
            query = f"SELECT count(DISTINCT owner) FROM ({counted}) WHERE owners <= {most}"
        return float(scalar(query)) / self.ds.users

    def without_user(self) -> int:
        user, view = quote(str(self.ds.roles.user)), quote(str(self.ds.view))
        return int(scalar(f"SELECT count(*) - count({user}) FROM {view}"))

    def _users(self, attributes: Sequence[str], missing: str) -> int:
        if missing == "value":
            return self.ds.users
        counted = "*" if self.ds.roles.user is None else f"DISTINCT {quote(self.ds.roles.user)}"
        return int(scalar(f"SELECT count({counted}) {rows(self.ds, attributes, missing)}"))


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
