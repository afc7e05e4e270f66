"""Dataset: a table, wherever it lives, and the roles of its columns."""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sudare.data.connection import connect, fresh_name, quote, scalar, setting
from sudare.data.roles import Roles
from sudare.errors import UsageError, nearest

if TYPE_CHECKING:
    import duckdb
    import ibis.expr.types as ir
    import pyarrow as pa

BATCH_ROWS = 131_072
TABLE_ROWS = 1 << 20
FETCH_ROWS = 20_000_000


class InMemory:
    """An Arrow table behind a view; the view goes when the last dataset that uses it does."""

    def __init__(self, view: str, table: pa.Table) -> None:
        self.table = table
        weakref.finalize(self, _forget, view)


def _forget(view: str) -> None:
    with contextlib.suppress(Exception):  # at the end of the process the connection may be gone
        connect().unregister(view)


@dataclass(frozen=True, repr=False, eq=False)
class Dataset:
    """A table about people. It is never copied without need, and its repr shows no cell.

    A table in a file or in memory is a view of DuckDB (`view`); a table in a database or on Spark is an
    ibis expression (`expression`). `table` is the ibis expression of either. `published` is what a release
    says of itself in its sidecar: empty for a table that is no release. `files` are the files that are read: no
    output may take their place; `parquet` are those whose rows are the view's, if it is a view of Parquet files.
    `missing` are the codes that were made nulls when the table was opened.

    >>> import sudare
    >>> ds = sudare.open("example:purchases", user="user")
    >>> ds.rows, ds.users, ds.columns[:3]
    (10, 3, ('user', 'date', 'time'))
    """

    roles: Roles
    name: str = "table"
    view: str | None = None
    expression: ir.Table | None = None
    memory: InMemory | None = None
    keep_alive: Any = None
    published: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    parquet: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @classmethod
    def from_arrow(cls, table: pa.Table, roles: Roles | None = None, *, name: str = "table") -> Dataset:
        """A dataset over an Arrow table, without a copy."""
        view = fresh_name()
        connect().register(view, table)
        dataset = cls(roles=roles or Roles(), name=name, view=view, memory=InMemory(view, table))
        dataset.roles.check(dataset.columns)
        return dataset

    @property
    def engine(self) -> str:
        """Where the work runs: duckdb, pyspark, postgres."""
        if self.view is not None:
            return "duckdb"
        return str(self.table.get_backend().name)

    @property
    def master(self) -> str | None:
        """The Spark cluster the table lives on, None elsewhere: where to open what belongs to it."""
        return self.keep_alive.sparkSession.sparkContext.master if self.engine == "pyspark" else None

    @property
    def relation(self) -> duckdb.DuckDBPyRelation | None:
        """The DuckDB relation, None when the table lives elsewhere."""
        return None if self.view is None else connect().table(self.view)

    @cached_property
    def table(self) -> ir.Table:
        """The table as an ibis expression."""
        if self.expression is not None:
            return self.expression
        import ibis

        return ibis.duckdb.from_connection(connect()).table(self.view)

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and Arrow types of the columns."""
        if self.view is None:
            return self.table.schema().to_pyarrow()
        return connect().sql(f"SELECT * FROM {quote(self.view)} LIMIT 0").to_arrow_table().schema

    @cached_property
    def columns(self) -> tuple[str, ...]:
        if self.view is None:
            return tuple(self.table.columns)
        return tuple(connect().table(self.view).columns)

    @cached_property
    def set_columns(self) -> frozenset[str]:
        """The columns whose cells are sets of values: lists, and texts that the sidecar says are sets."""
        from sudare.data.values.sets import columns_of, is_sets

        lists = (field.name for field in self.schema if is_sets(field.type))
        return frozenset((*columns_of(self.published), *lists))

    @cached_property
    def rows(self) -> int:
        """How many records there are."""
        if self.view is None:
            return int(self.table.count().to_pyarrow().as_py())
        return int(scalar(f"SELECT count(*) FROM {quote(self.view)}"))

    @cached_property
    def users(self) -> int:
        """How many people there are; without a user column every row is a person."""
        return self.rows if self.roles.user is None else self.different([self.roles.user])

    def different(self, columns: Sequence[str]) -> int:
        """How many different combinations of values some columns have."""
        if self.view is None:
            return int(self.table.select(*columns).distinct().count().to_pyarrow().as_py())
        names = ", ".join(map(quote, columns))
        return int(scalar(f"SELECT count(*) FROM (SELECT DISTINCT {names} FROM {quote(self.view)})"))

    @cached_property
    def digest(self) -> str | None:
        """The checksum of names and cells, for which every row is read; None where the table lives elsewhere."""
        from sudare.data.digest import table_digest

        return None if self.view is None else table_digest(self)

    def to_pyarrow(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows in the order of the source."""
        chosen = self.require(columns if columns is not None else self.columns)
        if self.view is None:
            self._check_fetch()
            return self._fetched(chosen)
        return connect().sql(self._select(chosen)).to_arrow_table()

    def batches(
        self, columns: Sequence[str] | None = None, rows: int = BATCH_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """The rows in the order of the source, a batch at a time."""
        chosen = self.require(columns if columns is not None else self.columns)
        if self.view is None:
            self._check_fetch()
            yield from self._fetched(chosen).to_batches(max_chunksize=rows)
        else:
            yield from self.stream(self._select(chosen), rows)

    def tables(self, columns: Sequence[str], rows: int = TABLE_ROWS) -> Iterator[pa.Table]:
        """The rows in the order of the source, so many at a time; a table in memory comes whole."""
        import pyarrow as pa

        if self.memory is not None or self.view is None:
            yield self.to_pyarrow(columns)
            return
        held: list[pa.RecordBatch] = []
        schema = None
        for batch in self.batches(columns):
            schema = batch.schema
            held.append(batch)
            if sum(len(one) for one in held) >= rows:
                yield pa.Table.from_batches(held)
                held = []
        if held or schema is None:
            yield pa.Table.from_batches(held) if held else self.to_pyarrow(columns)

    def linked(self, truth: Any) -> Dataset:
        """The table with the original row beside every row, from a truth: row numbers, or the path of their file."""
        from sudare.data.truth import ROW, checked_truth, read_truth

        if self.engine == "pyspark":
            from sudare.data.readers import spark
            from sudare.data.readers.databases import open_spark_frame

            beside = open_spark_frame(spark.linked(self, truth), self.name)
            return replace(beside, roles=self.roles, published=self.published)
        import pyarrow as pa

        rows = read_truth(truth) if isinstance(truth, (str, os.PathLike)) else truth
        table = self.to_pyarrow().append_column(ROW, pa.array(checked_truth(rows, self.rows)))
        return replace(Dataset.from_arrow(table, name=self.name), roles=self.roles, published=self.published)

    def stream(self, query: str, rows: int = BATCH_ROWS) -> pa.RecordBatchReader:
        """The batches of an SQL query over `view`, on a cursor of its own: other queries may run meanwhile."""
        assert self.view is not None
        cursor = connect().cursor()
        if self.memory is not None:  # registered tables belong to one cursor
            cursor.register(self.view, self.memory.table)
        return cursor.sql(query).to_arrow_reader(rows)

    def with_roles(self, roles: Roles | None = None, **changes: Any) -> Dataset:
        """The same table with other roles."""
        new = roles or Roles.of(**{**self.roles.to_dict(), **changes})
        new.check(self.columns)
        return replace(self, roles=new)

    def require(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The columns, or a UsageError with the nearest name for one that is not there."""
        for column in columns:
            if column not in self.columns:
                raise UsageError(f"{self.name}: unknown column '{column}'; {nearest(column, self.columns)}")
        return tuple(columns)

    def _fetched(self, columns: Sequence[str]) -> pa.Table:
        if self.engine != "pyspark":
            return self.table.select(*columns).to_pyarrow()
        from sudare.data.readers.spark import in_order

        return in_order(self, columns)

    def _check_fetch(self) -> None:
        """Refuse to fetch a table that lives elsewhere because it is large."""
        most = setting("SUDARE_FETCH_ROWS", FETCH_ROWS)
        if self.rows > most:
            raise UsageError(
                f"{self.name}: this needs all {self.rows:,} rows in one process, more than {most:,}; work on a sample, "
                "open the table as Parquet with DuckDB, or raise SUDARE_FETCH_ROWS"
            )

    def _select(self, columns: Sequence[str]) -> str:
        assert self.view is not None
        return f"SELECT {', '.join(map(quote, columns))} FROM {quote(self.view)}"

    def __repr__(self) -> str:
        roles = ", ".join(
            f"{name}={value if isinstance(value, str) else '+'.join(value)}"
            for name, value in self.roles.to_dict().items()
        )
        shape = f"{self.rows:,} records x {len(self.columns)} columns"
        return f"Dataset({self.name}: {shape}; {roles or 'no roles'}; engine {self.engine})"
