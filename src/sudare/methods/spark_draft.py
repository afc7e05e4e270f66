"""A draft whose rows stay on Spark, and how a method's `apply` runs on a part of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sudare.data.readers.spark import column, in_batches
from sudare.data.roles import Roles
from sudare.data.truth import ROW
from sudare.engine import spark_rows
from sudare.engine.spark_rows import HIDDEN, IDS, Secret
from sudare.errors import UsageError, nearest
from sudare.keys import Key
from sudare.methods.draft import Draft

if TYPE_CHECKING:
    import pyarrow as pa

Facts = dict[tuple[int, int], dict[str, Any]]
SUMS = set("changed moved_cells groups alone deleted top_coded bottom_coded suppressed cells".split())
SUMS |= {"users", "clusters", "dummies", "lower_bound"}
MEANS = {"ncp"}
PART = "sudare part"  # where a frame has this column, its parts are worked on one by one


@dataclass(frozen=True, eq=False)
class SparkDraft:
    """Like a Draft; `frame` has the table's columns, the original row and the record's id.

    `facts` is an accumulator that collects what the steps measured, by step and partition: a partition that is
    computed twice, because a worker was lost, still counts once. `parts` says into how many the rows are dealt.
    """

    frame: Any
    roles: Roles
    key: Key
    secret: Secret
    facts: Any
    parts: int
    step: int = 0
    schema: Mapping[str, Any] = field(default_factory=dict)
    pseudonymised: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name in self.frame.columns if name not in (*HIDDEN, PART))

    def replace(self, **changes: Any) -> Self:
        return replace(self, **changes)

    def require(self, *columns: str) -> tuple[str, ...]:
        for name in columns:
            if name not in self.columns:
                raise UsageError(f"unknown column '{name}'; {nearest(name, self.columns)}")
        return columns

    def of_table(self, table: pa.Table) -> Draft:
        """A local draft over a table that need not have ids."""
        rows = table.num_rows
        return Draft(
            table,
            self.roles,
            np.arange(rows),
            np.zeros((rows, 2), np.uint64),
            self.schema,
            {},
            self.pseudonymised,
        )

    def empty(self) -> Draft:
        """A local draft without rows: its columns have the right types."""
        import pyarrow as pa
        from pyspark.sql.pandas.types import to_arrow_schema

        schema = to_arrow_schema(self.frame.select(*map(column, self.columns)).schema)
        return self.of_table(pa.schema(schema).empty_table())

    def distinct(self, *columns: str) -> Draft:
        """A local draft of the different values of some columns: an aggregate."""
        chosen = self.frame.select(*map(column, self.require(*columns)))
        return self.of_table(chosen.distinct().toArrow())

    def apply(self, method: Any, *, whole: bool = False, shape: Draft | None = None) -> SparkDraft:
        """Run a method on every batch, or on every partition as a whole; `shape` is what comes out of no rows."""
        shape = shape or method.apply(self.empty(), self.key_without_file)
        columns = tuple(shape.table.column_names)
        work = _applying(method, self, columns, whole)
        frame = in_batches(self.frame, work, _spark_schema(shape.table))
        return self.replace(
            frame=frame, roles=shape.roles, schema=shape.schema, pseudonymised=shape.pseudonymised
        )

    @property
    def key_without_file(self) -> Key:
        """The key as the workers have it: the ledger beside its file is asked once, on the driver."""
        return Key(self.key.secret, insecure=self.key.insecure)


def _applying(method: Any, draft: SparkDraft, columns: Sequence[str], whole: bool) -> Callable[..., Any]:
    secret, facts, step = draft.secret, draft.facts, draft.step
    names, roles, schema, done = draft.columns, draft.roles, dict(draft.schema), draft.pseudonymised

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        from pyspark import TaskContext

        key, found = secret.key(), []
        tables = (pa.Table.from_batches([batch]) for batch in batches)
        for table in _in_one(tables) if whole else tables:
            ids, rows = spark_rows.ids_of(table), spark_rows.rows_of(table)
            out = method.apply(Draft(table.select(names), roles, rows, ids, schema, {}, done), key)
            found.append((table.num_rows, dict(out.details)))
            yield from _batches(out, columns)
        context = TaskContext.get()
        if found and context is not None:
            facts.add({(step, context.partitionId()): merged(found)})

    return work


def _in_one(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """All rows of a partition, or of each part of it, in the order of the original: sums of floats depend on it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    every = [table for table in tables if table.num_rows]
    if not every:
        return
    whole = pa.concat_tables(every).combine_chunks().sort_by(ROW)
    if PART not in whole.column_names:
        yield whole
        return
    for part in sorted(whole[PART].unique().to_pylist()):
        yield whole.filter(pc.equal(whole[PART], part))


def _batches(draft: Draft, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    table = plain(draft.table.select(columns))
    for name, longs in zip(HIDDEN, (draft.truth, draft.ids[:, 0], draft.ids[:, 1])):
        table = table.append_column(name, pa.array(np.ascontiguousarray(longs).view(np.int64)))
    yield from table.combine_chunks().to_batches()


def plain(table: pa.Table) -> pa.Table:
    """A table in types that Spark has: no dictionaries, no large lists."""
    import pyarrow as pa

    schema = pa.schema([pa.field(f.name, _plain_type(f.type)) for f in table.schema])
    return table if schema == table.schema else table.cast(schema)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_plain_type(kind.value_type))
    return pa.string() if pa.types.is_large_string(kind) else kind


def _spark_schema(table: pa.Table) -> Any:
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import LongType, StructType

    schema = StructType(list(from_arrow_schema(plain(table).schema).fields))
    for name in (ROW, *IDS):
        schema = schema.add(name, LongType())
    return schema


def merged(found: Sequence[tuple[int, Mapping[str, Any]]]) -> dict[str, Any]:
    """What a step measured on the whole, from what it measured on parts with so many rows.

    >>> merged([(2, {"changed": 1, "ncp": 0.5, "to": 10}), (6, {"changed": 4, "ncp": 0.1, "to": 10})])
    {'changed': 5, 'ncp': 0.2, 'to': 10, 'sudare rows': 8}
    """
    rows = sum(part.get("sudare rows", n) for n, part in found)
    whole: dict[str, Any] = {}
    for name in dict.fromkeys(name for _, part in found for name in part if name != "sudare rows"):
        values = [part[name] for _, part in found if name in part]
        if name in SUMS:
            whole[name] = sum(values)
        elif name in MEANS:
            weighted = sum(part.get("sudare rows", n) * part[name] for n, part in found if name in part)
            whole[name] = weighted / rows if rows else 0.0
        else:
            whole[name] = values[0]
    return {**whole, "sudare rows": rows}


def gathered(facts: Facts, step: int) -> dict[str, Any]:
    """The details of a step from all partitions."""
    found = [(0, part) for (number, _), part in sorted(facts.items()) if number == step]
    return {name: value for name, value in merged(found).items() if name != "sudare rows"} if found else {}
