"""The values of attributes and their owners as ibis expressions: only counts of them leave the database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sudare.data.dataset import Dataset
from sudare.engine.profile import Profile

if TYPE_CHECKING:
    import ibis.expr.types as ir


class Values:
    """What `Counts` says of values, for an ibis expression."""

    ds: Dataset

    def profile(self, attributes: Sequence[str], *, missing: str, every_attacker: bool) -> Profile:
        by = ["records", "users", "squares", "largest"] if every_attacker else ["records", "users"]
        table = per_value(self.ds, attributes, missing=missing)
        counted = table.group_by(by).agg(values=table.count()).select(*by, "values").to_pyarrow()
        rows = list(zip(*(column.to_pylist() for column in counted.columns)))
        return Profile.counted(attributes, rows, self._users(attributes, missing), every_attacker)

    def value_rows(self, attributes: Sequence[str], *, missing: str = "value") -> list[tuple[Any, ...]]:
        found = per_value(self.ds, attributes, missing=missing).to_pyarrow()
        return list(zip(*(column.to_pylist() for column in found.columns)))

    def count_values(self, attributes: Sequence[str], *, missing: str = "value") -> tuple[int, int, int]:
        values = counted_rows(self.ds, attributes, missing).select(*attributes).distinct().count()
        records, users = self.count_records(attributes, missing=missing), self._users(attributes, missing)
        return int(values.to_pyarrow().as_py()), records, users

    def count_records(self, attributes: Sequence[str], *, missing: str = "value") -> int:
        if missing == "value":
            return self.ds.rows
        return int(counted_rows(self.ds, attributes, missing).count().to_pyarrow().as_py())

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
        owned = _owned(self.ds, attribute, counted_rows(self.ds, [attribute], missing))
        owned = owned.group_by("owner").mutate(others=owned.owned.sum() - owned.owned)
        values = owned.group_by("value").agg(others=owned.others.sum(), n=owned.count())
        return float(values.agg(total=(values.others / values.n).sum()).to_pyarrow()["total"][0].as_py())

    def _cross_sums(self, first: str, second: str, missing: str) -> tuple[float, int]:
        """The sum that R_cross is the m-th part of, and the pairs of values: one row leaves the engine.

        A pair of values that n people own both of adds, for each of them, the product of their records with either
        over all their records and n.
        """
        rows = counted_rows(self.ds, [first, second], missing)
        a, b = (_owned(self.ds, name, rows) for name in (first, second))
        a = a.group_by("owner").mutate(mine=a.owned.sum())
        pairs = a.join(b.rename(other="value", with_other="owned"), "owner")
        weight = (pairs.owned * pairs.with_other / pairs.mine).sum()
        per_pair = pairs.group_by(["value", "other"]).agg(n=pairs.count(), weight=weight)
        found = per_pair.agg(total=(per_pair.weight / per_pair.n).sum(), pairs=per_pair.count()).to_pyarrow()
        return float(found["total"][0].as_py()), int(found["pairs"][0].as_py())

    def _users(self, attributes: Sequence[str], missing: str) -> int:
        if missing == "value":
            return self.ds.users
        rows = counted_rows(self.ds, attributes, missing)
        counted = rows.count() if self.ds.roles.user is None else rows[self.ds.roles.user].nunique()
        return int(counted.to_pyarrow().as_py())


def per_value(ds: Dataset, attributes: Sequence[str], *, missing: str) -> ir.Table:
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


def counted_rows(ds: Dataset, attributes: Sequence[str], missing: str) -> ir.Table:
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
    rows = counted_rows(ds, attributes, missing)
    values = [f"value_{index}" for index in range(1, len(attributes) + 1)]
    owner = {} if ds.roles.user is None else {"owner": rows[ds.roles.user]}
    return rows.select(**{new: rows[old] for new, old in zip(values, attributes)}, **owner), values


def _owned(ds: Dataset, attribute: str, rows: ir.Table) -> ir.Table:
    """How many of the rows with a value a user has: owner, value, owned."""
    pairs = rows.select(value=rows[attribute], owner=rows[str(ds.roles.user)])
    return pairs.group_by(["owner", "value"]).agg(owned=pairs.count().cast("float64"))
