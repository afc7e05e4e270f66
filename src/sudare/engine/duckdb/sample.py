"""What the sampling model reads: the different values of an attribute, then the records of the drawn ones alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sudare.data.connection import connect, fresh_name, quote
from sudare.data.dataset import BATCH_ROWS, Dataset
from sudare.engine.domains import in_order, is_simple
from sudare.engine.duckdb.values import names, per_value, rows

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.engine.counts import Owners

CLUSTERED = 4  # mean records of a value in a row, from which on it is worth to look for changes only


class Sample:
    """What `Counts` says of drawn values, for a view of DuckDB."""

    ds: Dataset

    def domain(self, attributes: Sequence[str], *, missing: str = "value") -> pa.Table:
        if len(attributes) == 1 and missing == "value" and (known := _clustered(self.ds, *attributes)):
            return in_order(known)
        query = f"SELECT DISTINCT {names(attributes)} {rows(self.ds, attributes, missing)}"
        return in_order(connect().sql(query).to_arrow_table())

    def histories(self, value: str, users: pa.Array | None = None) -> pa.Table:
        user = quote(str(self.ds.roles.user))
        pairs = f"SELECT DISTINCT {user} AS user, {quote(value)} AS value FROM {quote(str(self.ds.view))}"
        if users is None:
            return connect().sql(pairs).to_arrow_table()
        import pyarrow as pa

        with _registered(pa.table({"user": users})) as name:
            return connect().sql(f"{pairs} WHERE {user} IN (FROM {name})").to_arrow_table()

    def owners(self, chosen: pa.Table) -> list[Owners]:
        attributes = chosen.column_names
        if len(attributes) > 1 or not is_simple(chosen.column(0).type):
            return self._owners_by_join(chosen)
        known = [value for value in chosen.column(0).to_pylist() if value is not None]
        column = quote(attributes[0])
        tests = [f"{column} IN ({', '.join('?' * len(known))})"] if known else []
        tests += [f"{column} IS NULL"] if len(known) < chosen.num_rows else []
        return connect().execute(self._owners(attributes, f"({' OR '.join(tests)})"), known).fetchall()

    def _owners_by_join(self, chosen: pa.Table) -> list[Owners]:
        with _registered(chosen) as name:
            same = " AND ".join(
                f"{name}.{quote(c)} IS NOT DISTINCT FROM {quote(str(self.ds.view))}.{quote(c)}"
                for c in chosen.column_names
            )
            condition = f"EXISTS (SELECT 1 FROM {name} WHERE {same})"
            return connect().sql(self._owners(chosen.column_names, condition)).fetchall()

    def _owners(self, attributes: Sequence[str], condition: str) -> str:
        values = per_value(self.ds, attributes, missing="value", condition=condition)
        return f"SELECT records, users, squares, largest FROM ({values})"


@contextmanager
def _registered(table: pa.Table) -> Iterator[str]:
    """The name of an Arrow table in queries, for a while."""
    name = fresh_name()
    connect().register(name, table)
    try:
        yield name
    finally:
        connect().unregister(name)


def _clustered(ds: Dataset, attribute: str) -> pa.Table | None:
    """D_X of Parquet files in which equal values stand together: where the value changes, without a table of values.

    None where they do not, as the first batch tells. One thread: handing out so little work costs more than doing it.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    parts, seen, kept = [], 0, 0
    for path in ds.parquet:
        file = pq.ParquetFile(path)
        if attribute not in file.schema_arrow.names or not is_simple(file.schema_arrow.field(attribute).type):
            return None
        for batch in file.iter_batches(BATCH_ROWS, columns=[attribute], use_threads=False):
            cells = batch.column(0)
            changes = pc.fill_null(pc.not_equal(cells.slice(1), cells.slice(0, len(cells) - 1)), True)
            parts += [cells.slice(0, 1), cells.slice(1).filter(changes)]
            seen, kept = seen + len(cells), kept + len(parts[-1])
            if CLUSTERED * kept > seen:
                return None
    return pa.table({attribute: pa.chunked_array(parts).unique()}) if parts else None
