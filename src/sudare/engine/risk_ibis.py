"""Profiles of attributes as ibis expressions: on Spark, in Postgres, anywhere; only the histogram leaves the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sudare.data.dataset import Dataset
from sudare.engine.risk_profile import Profile

if TYPE_CHECKING:
    import ibis.expr.types as ir


def profile(ds: Dataset, attributes: Sequence[str], *, missing: str, every_attacker: bool) -> Profile:
    """How many values of the attributes have how many records and users."""
    by = ["records", "users", "squares", "largest"] if every_attacker else ["records", "users"]
    table = per_value(ds, attributes, missing=missing)
    counted = table.group_by(by).agg(values=table.count())
    rows = [tuple(int(row[name]) for name in (*by, "values")) for row in counted.to_pyarrow().to_pylist()]
    users = _users(ds, attributes, missing)
    if not every_attacker:
        return Profile.of(((r, u, c) for r, u, c in rows), attributes=tuple(attributes), users=users)
    return Profile.of(
        ((r, u, c) for r, u, _, _, c in rows),
        squares=((r, s, c) for r, _, s, _, c in rows),
        largest=sum(largest * c for _, _, _, largest, c in rows),
        attributes=tuple(attributes),
        users=users,
    )


def per_value(ds: Dataset, attributes: Sequence[str], *, missing: str) -> ir.Table:
    """The table of values as an expression: value_1.., records, users, squares, largest."""
    import ibis

    rows = counted_rows(ds, attributes, missing)
    values = [f"value_{place}" for place in range(1, len(attributes) + 1)]
    named = {new: rows[old] for new, old in zip(values, attributes)}
    if ds.roles.user is None:
        counted = rows.select(**named)
        counted = counted.group_by(values).agg(records=counted.count())
        one = ibis.literal(1).cast("int64")
        return counted.mutate(users=counted.records, squares=counted.records, largest=one)
    owners = rows.select(**named, owner=rows[ds.roles.user])
    owners = owners.group_by([*values, "owner"]).agg(owned=owners.count())
    return owners.group_by(values).agg(
        records=owners.owned.sum().cast("int64"),
        users=owners.count(),
        squares=(owners.owned * owners.owned).sum().cast("int64"),
        largest=owners.owned.max(),
    )


def value_rows(ds: Dataset, attributes: Sequence[str], *, missing: str) -> list[tuple[Any, ...]]:
    """The table of values itself: the value(s), records, users, squares, largest."""
    found = per_value(ds, attributes, missing=missing).to_pyarrow()
    return list(zip(*(column.to_pylist() for column in found.columns)))


def count_values(ds: Dataset, attributes: Sequence[str], *, missing: str) -> tuple[int, int, int]:
    """|D_X|, the records and the users, without looking at who owns what."""
    rows = counted_rows(ds, attributes, missing)
    values = rows.select(*attributes).distinct().count().to_pyarrow().as_py()
    return int(values), count_records(ds, attributes, missing=missing), _users(ds, attributes, missing)


def count_records(ds: Dataset, attributes: Sequence[str], *, missing: str) -> int:
    """The records that count."""
    return int(counted_rows(ds, attributes, missing).count().to_pyarrow().as_py())


def exposed(ds: Dataset, attributes: Sequence[str], most: int, *, missing: str) -> float:
    """The share of users who own a value with at most so many owners."""
    rows = counted_rows(ds, attributes, missing)
    values = [f"value_{place}" for place in range(1, len(attributes) + 1)]
    named = {new: rows[old] for new, old in zip(values, attributes)}
    if ds.roles.user is None:
        counted = rows.select(**named)
        counted = counted.group_by(values).agg(n=counted.count())
        found = counted.filter(counted.n <= most).n.sum()
    else:
        owned = rows.select(**named, owner=rows[ds.roles.user]).distinct()
        owned = owned.group_by(values).mutate(n=owned.count())
        found = owned.filter(owned.n <= most).owner.nunique()
    return float(found.to_pyarrow().as_py() or 0) / ds.users


def cross(ds: Dataset, first: str, second: str, *, missing: str) -> tuple[float, int, int, int]:
    """R_cross of two attributes, the records, the users and the pairs of values: one row leaves the engine.

    A pair of values that n people own both of adds, for each of them, the product of their records with either over
    all their records and n.
    """
    rows = counted_rows(ds, [first, second], missing)
    m = count_records(ds, [first, second], missing=missing)
    owners = [rows.select(value=rows[name], owner=rows[str(ds.roles.user)]) for name in (first, second)]
    a, b = (o.group_by(["owner", "value"]).agg(owned=o.count().cast("float64")) for o in owners)
    a = a.group_by("owner").mutate(mine=a.owned.sum())
    pairs = a.join(b.rename(other="value", with_other="owned"), "owner")
    weight = (pairs.owned * pairs.with_other / pairs.mine).sum()
    per_pair = pairs.group_by(["value", "other"]).agg(n=pairs.count(), weight=weight)
    found = per_pair.agg(total=(per_pair.weight / per_pair.n).sum(), pairs=per_pair.count()).to_pyarrow()
    total, different = (found[name][0].as_py() for name in ("total", "pairs"))
    return float(total) / m, m, _users(ds, [first, second], missing), int(different)


def lucky(ds: Dataset, attribute: str, *, missing: str) -> float:
    """Sum over users and their values of their records with other values over the owners of the value."""
    if ds.roles.user is None:
        return 0.0
    rows = counted_rows(ds, [attribute], missing)
    owned = rows.select(value=rows[attribute], owner=rows[ds.roles.user])
    owned = owned.group_by(["owner", "value"]).agg(owned=owned.count().cast("float64"))
    owned = owned.group_by("owner").mutate(others=owned.owned.sum() - owned.owned)
    values = owned.group_by("value").agg(others=owned.others.sum(), n=owned.count())
    return float(values.agg(total=(values.others / values.n).sum()).to_pyarrow()["total"][0].as_py())


def check_users(ds: Dataset) -> tuple[int, int]:
    """The number of records, and of those without a user."""
    if ds.roles.user is None:
        return ds.rows, 0
    return ds.rows, int(ds.table[ds.roles.user].isnull().sum().to_pyarrow().as_py() or 0)


def _users(ds: Dataset, attributes: Sequence[str], missing: str) -> int:
    if missing == "value":
        return ds.users
    rows = counted_rows(ds, attributes, missing)
    counted = rows.count() if ds.roles.user is None else rows[ds.roles.user].nunique()
    return int(counted.to_pyarrow().as_py())


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
