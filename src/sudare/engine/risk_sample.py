"""What the sampling model reads: the different values of an attribute, then the records of the drawn ones alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from sudare.data.connection import connect, fresh_name, quote
from sudare.data.dataset import Dataset
from sudare.data.values.sets import is_sets
from sudare.engine import risk_ibis, risk_sql
from sudare.engine.codes import codes

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa

BATCH_ROWS = 131_072
CLUSTERED = 4  # mean records of a value in a row, from which on it is worth to look for changes only
Counts = tuple[int, int, int, int]


def domain(ds: Dataset, attributes: Sequence[str], *, missing: str) -> pa.Table:
    """D_X in a fixed order, so that a keyed draw does not depend on the engine."""
    if ds.view is None:
        found = risk_ibis.counted_rows(ds, attributes, missing).select(*attributes).distinct().to_pyarrow()
    elif len(attributes) == 1 and missing == "value" and (known := _clustered_domain(ds, *attributes)):
        found = known
    else:
        columns = ", ".join(map(quote, attributes))
        where = risk_sql.where_clause(ds, attributes, missing)
        found = connect().sql(f"SELECT DISTINCT {columns} FROM {quote(ds.view)}{where}").to_arrow_table()
    if any(is_sets(kind) for kind in found.schema.types):  # Arrow does not sort lists; their texts it does
        import numpy as np

        return found.take(np.lexsort(codes(found, attributes)[0].T[::-1]))
    return found.sort_by([(name, "ascending") for name in attributes])


def _clustered_domain(ds: Dataset, attribute: str) -> pa.Table | None:
    """D_X of Parquet files in which equal values stand together: where the value changes, without a table of values.

    None where they do not, as the first batch tells. One thread: handing out so little work costs more than doing it.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    parts, rows, kept = [], 0, 0
    for path in ds.parquet:
        file = pq.ParquetFile(path)
        if attribute not in file.schema_arrow.names or not _plain(file.schema_arrow.field(attribute).type):
            return None
        for batch in file.iter_batches(BATCH_ROWS, columns=[attribute], use_threads=False):
            cells = batch.column(0)
            changes = pc.fill_null(pc.not_equal(cells.slice(1), cells.slice(0, len(cells) - 1)), True)
            parts += [cells.slice(0, 1), cells.slice(1).filter(changes)]
            rows, kept = rows + len(cells), kept + len(parts[-1])
            if CLUSTERED * kept > rows:
                return None
    return pa.table({attribute: pa.chunked_array(parts).unique()}) if parts else None


def counts_of(ds: Dataset, chosen: pa.Table) -> list[Counts]:
    """Records, users, squares and largest owner of the chosen values, reading no other value's records."""
    if ds.view is None:
        return _counts_by_expression(ds, chosen)
    attributes = chosen.column_names
    if len(attributes) > 1 or not _plain(chosen.column(0).type):
        return _counts_by_join(ds, chosen)
    known = [value for value in chosen.column(0).to_pylist() if value is not None]
    column = quote(attributes[0])
    tests = [f"{column} IN ({', '.join('?' * len(known))})"] if known else []
    tests += [f"{column} IS NULL"] if len(known) < chosen.num_rows else []
    return connect().execute(_counted(ds, attributes, f"({' OR '.join(tests)})"), known).fetchall()


def _counts_by_join(ds: Dataset, chosen: pa.Table) -> list[Counts]:
    name = fresh_name()
    connect().register(name, chosen)
    try:
        same = " AND ".join(
            f"{quote(name)}.{quote(c)} IS NOT DISTINCT FROM {quote(str(ds.view))}.{quote(c)}"
            for c in chosen.column_names
        )
        condition = f"EXISTS (SELECT 1 FROM {quote(name)} WHERE {same})"
        return connect().sql(_counted(ds, chosen.column_names, condition)).fetchall()
    finally:
        connect().unregister(name)


def _counted(ds: Dataset, attributes: Sequence[str], condition: str) -> str:
    values = risk_sql.per_value(ds, attributes, missing="value", condition=condition)
    return f"SELECT records, users, squares, largest FROM ({values})"


def _counts_by_expression(ds: Dataset, chosen: pa.Table) -> list[Counts]:
    from dataclasses import replace

    kept = replace(ds, expression=ds.table.filter(_one_of(ds.table, chosen)))
    return [row[-4:] for row in risk_ibis.value_rows(kept, chosen.column_names, missing="value")]


def _one_of(table: ir.Table, chosen: pa.Table) -> ir.BooleanValue:
    """Whether a row has one of the chosen values; halves are joined, for engines nest as deep as an expression."""
    if chosen.num_columns == 1 and _plain(chosen.column(0).type):
        cell = table[chosen.column_names[0]]
        known = [value for value in chosen.column(0).to_pylist() if value is not None]
        return cell.isin(known) | cell.isnull() if len(known) < chosen.num_rows else cell.isin(known)
    if chosen.num_rows > 1:
        half = chosen.num_rows // 2
        return _one_of(table, chosen.slice(0, half)) | _one_of(table, chosen.slice(half))
    (row,) = chosen.to_pylist()
    return reduce(and_, (table[c].isnull() if v is None else table[c] == v for c, v in row.items()))


def _plain(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_date32(kind)
    )
