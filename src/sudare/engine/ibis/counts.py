"""The counts of a table in a database: ibis expressions, of which only aggregates come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.engine.coded import Coded, Cross
from sudare.engine.counts import Counts, Owners, counts_of, in_order, is_simple
from sudare.engine.ibis.classes import Classes
from sudare.engine.profile import Profile

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa


class IbisCounts(Classes, Counts):
    """`Counts` of an ibis expression."""

    @property
    def values_leave(self) -> bool:
        return self.ds.engine == "duckdb"  # a file of DuckDB is no server

    def cross(self, first: str, second: str, *, missing: str = "value") -> Cross:
        columns = list(dict.fromkeys((first, second)))
        if not (records := self.count_records(columns, missing=missing)):
            return Cross()
        if self.ds.roles.user is None:  # a person's only record is the other record too
            values, records, users = self.count_values(columns, missing=missing)
            return Cross(values / records, records, users, values)
        # a pair of values that n people own both of adds, for each of them, the product of their records with either
        # over all their records and n
        rows = _counted_rows(self.ds, [first, second], missing)
        a, b = (_owned(self.ds, name, rows) for name in (first, second))
        a = a.group_by("owner").mutate(mine=a.owned.sum())
        pairs = a.join(b.rename(other="value", with_other="owned"), "owner")
        weight = (pairs.owned * pairs.with_other / pairs.mine).sum()
        per_pair = pairs.group_by(["value", "other"]).agg(n=pairs.count(), weight=weight)
        found = per_pair.agg(total=(per_pair.weight / per_pair.n).sum(), pairs=per_pair.count()).to_pyarrow()
        total, different = (found[name][0].as_py() for name in ("total", "pairs"))
        return Cross(float(total) / records, records, self._users(columns, missing), int(different))

    def coded_values(
        self, columns: Sequence[str], *, missing: str = "value"
    ) -> tuple[Coded, dict[str, list[Any]]]:
        return self._here(self.ds.to_pyarrow(self._with_user(columns))).coded_values(columns, missing=missing)

    def owned_values(
        self, columns: Sequence[str], *, missing: str = "value"
    ) -> tuple[Coded, dict[str, list[Any]]]:
        different = self.ds.table.select(*self._with_user(columns)).distinct()
        return self._here(different.to_pyarrow()).coded_values(columns, missing=missing)

    def _with_user(self, columns: Sequence[str]) -> list[str]:
        user = self.ds.roles.user
        return list(dict.fromkeys([*([user] if user else []), *columns]))

    def _here(self, table: pa.Table) -> Counts:
        return counts_of(Dataset.from_arrow(table, Roles(user=self.ds.roles.user), name=self.ds.name))

    def profile(self, attributes: Sequence[str], *, missing: str, every_attacker: bool) -> Profile:
        by = ["records", "users", "squares", "largest"] if every_attacker else ["records", "users"]
        table = _per_value(self.ds, attributes, missing=missing)
        counted = table.group_by(by).agg(values=table.count()).select(*by, "values").to_pyarrow()
        rows = list(zip(*(column.to_pylist() for column in counted.columns)))
        return Profile.counted(attributes, rows, self._users(attributes, missing), every_attacker)

    def value_rows(self, attributes: Sequence[str], *, missing: str = "value") -> list[tuple[Any, ...]]:
        found = _per_value(self.ds, attributes, missing=missing).to_pyarrow()
        return list(zip(*(column.to_pylist() for column in found.columns)))

    def count_values(self, attributes: Sequence[str], *, missing: str = "value") -> tuple[int, int, int]:
        values = _counted_rows(self.ds, attributes, missing).select(*attributes).distinct().count()
        records, users = self.count_records(attributes, missing=missing), self._users(attributes, missing)
        return int(values.to_pyarrow().as_py()), records, users

    def count_records(self, attributes: Sequence[str], *, missing: str = "value") -> int:
        if missing == "value":
            return self.ds.rows
        return int(_counted_rows(self.ds, attributes, missing).count().to_pyarrow().as_py())

    def exposed(self, attributes: Sequence[str], most: int, *, missing: str = "value") -> float:
        rows, values = _named(self.ds, attributes, missing)
        if self.ds.roles.user is None:
            counted = rows.group_by(values).agg(n=rows.count())
            found = counted.filter(counted.n <= most).n.sum()
        else:
            owned = rows.distinct()
            owned = owned.group_by(values).mutate(n=owned.count())
            found = owned.filter(owned.n <= most).owner.nunique()
        return float(found.to_pyarrow().as_py() or 0) / self.ds.users

    def without_user(self) -> int:
        return int(self.ds.table[str(self.ds.roles.user)].isnull().sum().to_pyarrow().as_py() or 0)

    def lucky(self, attribute: str, *, missing: str = "value") -> float:
        if self.ds.roles.user is None:
            return 0.0
        owned = _owned(self.ds, attribute, _counted_rows(self.ds, [attribute], missing))
        owned = owned.group_by("owner").mutate(others=owned.owned.sum() - owned.owned)
        values = owned.group_by("value").agg(others=owned.others.sum(), n=owned.count())
        return float(values.agg(total=(values.others / values.n).sum()).to_pyarrow()["total"][0].as_py())

    def _users(self, attributes: Sequence[str], missing: str) -> int:
        if missing == "value":
            return self.ds.users
        rows = _counted_rows(self.ds, attributes, missing)
        counted = rows.count() if self.ds.roles.user is None else rows[self.ds.roles.user].nunique()
        return int(counted.to_pyarrow().as_py())

    def domain(self, attributes: Sequence[str], *, missing: str = "value") -> pa.Table:
        rows = _counted_rows(self.ds, attributes, missing)
        return in_order(rows.select(*attributes).distinct().to_pyarrow())

    def owners(self, chosen: pa.Table) -> list[Owners]:
        kept = replace(self.ds, expression=self.ds.table.filter(_one_of(self.ds.table, chosen)))
        found = _per_value(kept, chosen.column_names, missing="value")
        counted = found.select("records", "users", "squares", "largest").to_pyarrow()
        return list(zip(*(column.to_pylist() for column in counted.columns)))


def _per_value(ds: Dataset, attributes: Sequence[str], *, missing: str) -> ir.Table:
    """The table of values as an expression: value_1.., records, users, squares, largest."""
    import ibis

    rows, values = _named(ds, attributes, missing)
    if ds.roles.user is None:
        counted = rows.group_by(values).agg(records=rows.count())
        one = ibis.literal(1).cast("int64")
        return counted.mutate(users=counted.records, squares=counted.records, largest=one)
    owners = rows.group_by([*values, "owner"]).agg(owned=rows.count())
    return owners.group_by(values).agg(
        records=owners.owned.sum().cast("int64"),
        users=owners.count(),
        squares=(owners.owned * owners.owned).sum().cast("int64"),
        largest=owners.owned.max(),
    )


def _counted_rows(ds: Dataset, attributes: Sequence[str], missing: str) -> ir.Table:
    """The records that count: all, or with missing="drop" those with a value in every attribute."""
    table = ds.table
    if missing == "value":
        return table
    for name in attributes:
        table = table.filter(table[name].notnull())
        if table[name].type().is_string():
            table = table.filter(table[name] != "")
    return table


def _named(ds: Dataset, attributes: Sequence[str], missing: str) -> tuple[ir.Table, list[str]]:
    """The records that count as value_1.. and, if there are users, `owner`; and the names of the values."""
    rows = _counted_rows(ds, attributes, missing)
    values = [f"value_{index}" for index in range(1, len(attributes) + 1)]
    owner = {} if ds.roles.user is None else {"owner": rows[ds.roles.user]}
    return rows.select(**{new: rows[old] for new, old in zip(values, attributes)}, **owner), values


def _owned(ds: Dataset, attribute: str, rows: ir.Table) -> ir.Table:
    """How many of the rows with a value a user has: owner, value, owned."""
    pairs = rows.select(value=rows[attribute], owner=rows[str(ds.roles.user)])
    return pairs.group_by(["owner", "value"]).agg(owned=pairs.count().cast("float64"))


def _one_of(table: ir.Table, chosen: pa.Table) -> ir.BooleanValue:
    """Whether a row has one of the chosen values; halves are joined, for engines nest as deep as an expression."""
    if chosen.num_columns == 1 and is_simple(chosen.column(0).type):
        cell = table[chosen.column_names[0]]
        known = [value for value in chosen.column(0).to_pylist() if value is not None]
        return cell.isin(known) | cell.isnull() if len(known) < chosen.num_rows else cell.isin(known)
    if chosen.num_rows > 1:
        half = chosen.num_rows // 2
        return _one_of(table, chosen.slice(0, half)) | _one_of(table, chosen.slice(half))
    (row,) = chosen.to_pylist()
    return reduce(and_, (table[c].isnull() if v is None else table[c] == v for c, v in row.items()))
