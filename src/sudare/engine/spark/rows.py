"""Rows on Spark: the same methods, the same keyed draws, the same release; the rows never come to the driver."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sudare.data.dataset import Dataset
from sudare.data.readers.databases import open_spark_frame
from sudare.data.readers.spark import column, in_batches, numbered, parts_for
from sudare.data.truth import ROW
from sudare.engine.rows import (
    DRAWS,
    HIDDEN,
    IDS,
    Draft,
    Made,
    Method,
    Outcome,
    Together,
    card_of,
    with_draws,
    words_of,
)
from sudare.engine.spark.ids import Secret, mapped, with_ids
from sudare.engine.spark.parts import PART, dealt, parts_of
from sudare.engine.summary import COUNT, Summary, SummaryOf, T, without_dictionaries
from sudare.errors import DataError, UsageError
from sudare.keys import Key

if TYPE_CHECKING:
    import pyarrow as pa

GROUP_ROWS = 1_000_000
Tables = Iterator["pa.Table"]


def rows_of(ds: Dataset, key: Key) -> SparkRows:
    """The rows, on the cluster."""
    frame = numbered(ds)
    spark, parts = frame.sparkSession, parts_for(frame, ds.rows)
    secret = Secret.of(spark, key)
    rows = with_ids(frame, ds.roles, secret, parts).persist()
    shape = Draft.of(Dataset.from_arrow(_empty(frame, ds.columns), ds.roles), key.without_file)
    return SparkRows(rows, shape, key, secret, spark.sparkContext.accumulator({}, _union()), parts, rows)


@dataclass(frozen=True, eq=False)
class SparkRows:
    """A frame with the draft's columns, the original row and the record's id.

    `facts` is an accumulator that collects what the steps measured, by step and partition: a partition that is
    computed twice, because a worker was lost, still counts once. `parts` says into how many the rows are partitioned,
    `met` by which columns they already are.
    """

    frame: Any
    shape: Draft
    key: Key
    secret: Secret
    facts: Any
    parts: int
    start: Any = None
    done: int = 0
    met: tuple[str, ...] = ()
    whole = False

    @property
    def summary(self) -> Summary:
        return SparkSummary(self)

    def each(self, step: Method) -> SparkRows:
        return self._applied(step, step.apply(self.shape.replace(details={}), self.key.without_file))

    def groups(self, step: Method, together: Together) -> SparkRows:
        """Steps that meet by the same columns one after another meet once."""
        shape = step.apply(self.shape.replace(details={}), self.key.without_file)
        if together.alike is not None:
            frame = dealt(self.frame, together, self.summary.people())
        elif together.by == self.met:
            frame = self.frame
        else:
            partitions = max(2, -(-self.frame.count() // GROUP_ROWS))
            frame = self.frame.repartition(partitions, *map(column, together.by))
        met = together.by if together.alike is None else ()
        return replace(self, frame=frame)._applied(step, shape, whole=True, met=met)

    def in_one(self, step: Method) -> SparkRows:
        raise UsageError("all rows in one place: not on Spark")

    def publish(self, digest: str, name: str) -> Made:
        """The rows in the order of their draws. Draws are uniform, so where a row goes needs no sample of them."""
        names = self.shape.table.column_names
        with readable_errors():
            shuffled = _in_order(self._drawn(digest), self.parts)
            published = shuffled.select(*map(column, (*names, ROW))).persist()
            published.count()  # what the steps measured comes with the rows
            self.start.unpersist()
        data = open_spark_frame(published.select(*map(column, names)), name)
        return Made(
            replace(data, roles=self.shape.roles, published=card_of(self.shape)),
            open_spark_frame(published, name),
            [self._outcomes(number) for number in range(self.done)],
        )

    def _drawn(self, digest: str) -> Any:
        secret = self.secret

        def draw(batches: Any) -> Any:
            import pyarrow as pa

            key = secret.key()
            for batch in batches:
                table = pa.Table.from_batches([batch])
                yield from with_draws(table, words_of(table, IDS), key, "shuffle", digest).to_batches()

        return mapped(self.frame, draw, extra=DRAWS)

    def _outcomes(self, number: int) -> list[Outcome]:
        known = sorted((part, found) for (step, part), found in self.facts.value.items() if step == number)
        return [outcome for _, found in known for outcome in found]

    def _applied(
        self, step: Method, shape: Draft, *, whole: bool = False, met: tuple[str, ...] = ()
    ) -> SparkRows:
        """The frame after the step on every batch, or on every partition as a whole; `shape` comes out of no rows."""
        work = _applying(step, self, tuple(shape.table.column_names), whole)
        frame = in_batches(self.frame, work, _spark_schema(shape.table))
        return replace(self, frame=frame, shape=shape, done=self.done + 1, met=met)


class SparkSummary(SummaryOf[SparkRows]):
    """Aggregates that the workers compute."""

    def counts(self, columns: Sequence[str]) -> pa.Table:
        from pyspark.sql import functions as f

        names = self.require(*columns)
        with readable_errors():
            found = self.of.frame.groupBy(*map(column, names)).agg(f.count("*").alias(COUNT)).toArrow()
        return found

    def size(self) -> int:
        with readable_errors():
            return int(self.of.frame.count())

    def parts(self, groups: int, most: int) -> int:
        return parts_of(groups, most)

    def dataset(self, columns: Sequence[str]) -> Dataset:
        return open_spark_frame(self.of.frame.select(*map(column, self.require(*columns))))

    def people(self) -> int:
        user = self.shape.roles.user
        if user is None:
            return self.size()
        with readable_errors():
            return int(self.of.frame.select(column(user)).distinct().count())

    def reduce(self, work: Callable[[Draft], T], key: Key | None = None) -> list[T]:
        shape = self.shape.replace(key=None)
        secret = self.of.secret if key is None else Secret.of(self.of.frame.sparkSession, key)

        def every(batches: Any) -> Any:
            import pyarrow as pa

            own = shape.replace(key=secret.key())
            for batch in batches:
                found = work(own.unpacked(pa.Table.from_batches([batch])))
                yield pa.RecordBatch.from_arrays([pa.array([pickle.dumps(found)])], names=["found"])

        with readable_errors():
            rows = in_batches(self.of.frame, every, "found binary").collect()
        return [pickle.loads(row[0]) for row in rows]


@contextmanager
def readable_errors() -> Iterator[None]:
    """What a worker says of the data, without Spark's pages around it; what Spark says, in one line."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        lines = [line for line in str(error).splitlines() if line.startswith("sudare.errors.")]
        if lines:
            raise DataError(lines[-1].partition(": ")[2]) from None
        raise DataError(
            f"Spark could not finish the job ({type(error).__name__}); see the logs of its workers"
        ) from None


def _applying(step: Method, rows: SparkRows, columns: Sequence[str], whole: bool) -> Callable[..., Any]:
    secret, facts, number, shape = (
        rows.secret,
        rows.facts,
        rows.done,
        rows.shape.replace(key=None, details={}),
    )

    def work(batches: Any) -> Any:
        import pyarrow as pa
        from pyspark import TaskContext

        key, found = secret.key(), []
        tables = (pa.Table.from_batches([batch]) for batch in batches)
        for table in _in_one(tables) if whole else tables:
            out = step.apply(shape.unpacked(table), key)
            found.append(Outcome(table.num_rows, dict(out.details)))
            out = out.replace(table=plain(out.table.select(columns)))
            yield from out.packed().combine_chunks().to_batches()
        context = TaskContext.get()
        if found and context is not None:
            facts.add({(number, context.partitionId()): found})

    return work


def _in_one(tables: Tables) -> Tables:
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


def _in_order(drawn: Any, parts: int) -> Any:
    from pyspark.sql import functions as f

    by = [column(name) for name in DRAWS]
    if not hasattr(drawn, "repartitionById"):
        return drawn.orderBy(*by)
    share = (by[0] / f.lit(2.0**64) + f.lit(0.5)) * f.lit(parts)
    part = f.least(f.floor(share).cast("int"), f.lit(parts - 1))
    return drawn.repartitionById(parts, part).sortWithinPartitions(*by)


def _union() -> Any:
    from pyspark.accumulators import AccumulatorParam

    class Union(AccumulatorParam):  # type: ignore[misc]
        """Facts by step and partition; the same partition again replaces itself."""

        def zero(self, value: dict[Any, Any]) -> dict[Any, Any]:
            return {}

        def addInPlace(self, first: dict[Any, Any], second: dict[Any, Any]) -> dict[Any, Any]:
            return {**first, **second}

    return Union()


def _empty(frame: Any, columns: Sequence[str]) -> pa.Table:
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    return pa.schema(
        to_arrow_schema(frame.select(*map(column, columns)).schema, timezone="UTC")
    ).empty_table()


def plain(table: pa.Table) -> pa.Table:
    """A table in types that Spark has: no dictionaries, no large lists."""
    import pyarrow as pa

    table = without_dictionaries(table)
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
    for name in HIDDEN:
        schema = schema.add(name, LongType())
    return schema
