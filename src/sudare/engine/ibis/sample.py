"""What the sampling model reads of a database: the different values of an attribute, the records of the drawn ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from sudare.data.dataset import Dataset
from sudare.engine.domains import in_order, is_simple
from sudare.engine.ibis.values import counted_rows, per_value

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

    from sudare.engine.counts import Owners


class Sample:
    """What `Counts` says of drawn values, for an ibis expression."""

    ds: Dataset

    def domain(self, attributes: Sequence[str], *, missing: str = "value") -> pa.Table:
        rows = counted_rows(self.ds, attributes, missing)
        return in_order(rows.select(*attributes).distinct().to_pyarrow())

    def histories(self, value: str, users: pa.Array | None = None) -> pa.Table:
        table = self.ds.table
        pairs = table.select(user=table[str(self.ds.roles.user)], value=table[value]).distinct()
        return (pairs if users is None else pairs.filter(pairs.user.isin(users.to_pylist()))).to_pyarrow()

    def owners(self, chosen: pa.Table) -> list[Owners]:
        kept = replace(self.ds, expression=self.ds.table.filter(_one_of(self.ds.table, chosen)))
        found = per_value(kept, chosen.column_names, missing="value")
        counted = found.select("records", "users", "squares", "largest").to_pyarrow()
        return list(zip(*(column.to_pylist() for column in counted.columns)))


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
