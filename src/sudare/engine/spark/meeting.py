"""Rows of two tables with equal values meet in one partition, where somebody visits them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.readers.spark import column
from sudare.data.truth import DUMMY, ROW
from sudare.engine.pair import ELSEWHERE, Pair, Visitor
from sudare.engine.side import Held, Side

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_ROWS = 1_000_000

Ints = NDArray[np.int64]


def meeting(
    original: Any,
    release: Any,
    equal: Sequence[str],
    visit: Visitor,
    middles: Mapping[str, float],
    alike: tuple[Any, ...],
    rows: int,
) -> Any:
    """What a visitor finds wherever rows with equal values meet: a row of sums per partition, and the lost rows.

    Both frames have the number of the original row beside. `alike` is what a part has of the whole tables: roles, the
    columns of sets, what the release says of itself. Columns of lost rows have plain names; `named_rows` gives them
    theirs back.
    """
    from pyspark.sql.types import ArrayType, DoubleType, StructField, StructType

    plain = StructType(
        [StructField(name, field.dataType) for name, field in zip(plain_names(release), release.schema)]
    )
    schema = StructType([StructField("sums", ArrayType(DoubleType())), StructField("lost", plain)])
    return _together(original, release, equal, rows).mapInArrow(_visiting(visit, middles, alike), schema)


def plain_names(frame: Any) -> list[str]:
    """Plain names, for Spark reads dots and backticks of a name as its own."""
    return [f"c{index}" for index in range(len(frame.columns))]


def named_rows(frame: Any, names: Sequence[str]) -> pa.Table:
    """The rows of a frame with plain names, here, by the names they had."""
    return frame.toArrow().rename_columns(list(names))


def _together(original: Any, release: Any, equal: Sequence[str], rows: int) -> Any:
    """Both tables in one, packed in two columns of rows so that their types need not agree."""
    from pyspark.sql import functions as f

    def packed(frame: Any, side: int) -> Any:
        empty = [f.lit(None).cast(other.schema) for other in (original, release)]
        whole = f.struct(*(column(name) for name in frame.columns))
        sides = [whole if index == side else empty[index] for index in (0, 1)]
        marks = [_mark(name, original, release).alias(f"sudare mark {i}") for i, name in enumerate(equal)]
        return frame.select(sides[0].alias("original"), sides[1].alias("release"), *marks)

    both = packed(original, 0).unionByName(packed(release, 1))
    marks = [column(f"sudare mark {i}") for i in range(len(equal))]
    partitions = max(2, -(-2 * rows // BLOCK_ROWS))
    return both.repartition(partitions, *marks).select("original", "release")


def _mark(name: str, original: Any, release: Any) -> Any:
    """What decides in which partition a row goes: equal cells must agree, unequal ones may."""
    from pyspark.sql import functions as f

    kinds = {dict(frame.dtypes)[name] for frame in (original, release)}
    if len(kinds) == 1:
        return column(name)
    if kinds <= {"string", "tinyint", "smallint", "int", "bigint", "date"}:
        return column(name).cast("string")
    return f.lit(None).cast("string")


def _visiting(
    visit: Visitor, middles: Mapping[str, float], alike: tuple[Any, ...]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        tables = [pa.Table.from_batches([batch]) for batch in batches if batch.num_rows]
        whole = pa.concat_tables(tables) if tables else None
        release = None if whole is None else _unpacked(whole, "release")
        if whole is None or release is None or release.num_rows == 0:
            return
        original = _unpacked(whole, "original").sort_by(ROW)
        sides = [
            Side(Held(table.drop_columns([ROW]), *alike), None, middles) for table in (original, release)
        ]
        truth = _indices(np.asarray(original[ROW]), np.asarray(release[ROW]))
        sums, lost = visit(Pair(sides[0], sides[1]), truth)
        yield from _answer(sums, release.take(lost))

    return work


def _answer(sums: Sequence[float], lost: pa.Table) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    plain = lost.rename_columns([f"c{index}" for index in range(lost.num_columns)])
    kind = pa.struct(list(plain.schema))
    kinds = pa.schema([("sums", pa.list_(pa.float64())), ("lost", kind)])
    yield pa.RecordBatch.from_arrays(
        [pa.array([list(sums)], kinds.types[0]), pa.nulls(1, kind)], schema=kinds
    )
    for batch in plain.combine_chunks().to_batches():
        yield pa.RecordBatch.from_arrays(
            [pa.nulls(len(batch), kinds.types[0]), batch.to_struct_array()], schema=kinds
        )


def _unpacked(whole: pa.Table, side: str) -> pa.Table:
    import pyarrow as pa

    there = whole.filter(whole[side].is_valid())[side].combine_chunks()
    there = pa.concat_arrays(there.chunks) if isinstance(there, pa.ChunkedArray) else there
    return pa.Table.from_batches([pa.RecordBatch.from_struct_array(there)])


def _indices(rows: Ints, truth: Ints) -> Ints:
    """The index of every true row among sorted rows; DUMMY of a dummy, ELSEWHERE of a row that is not among them."""
    absent = np.where(truth < 0, DUMMY, ELSEWHERE)
    if len(rows) == 0:
        return absent
    index = np.minimum(np.searchsorted(rows, truth), len(rows) - 1)
    return np.where(rows[index] == truth, index, absent)
