"""Tables in memory: pandas, polars, pyarrow. What they hold becomes plain Arrow columns; an index is not data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sudare.data.connection import connect, fresh_name, is_odd, quote
from sudare.data.dataset import Dataset
from sudare.data.roles import check_names
from sudare.errors import DataError, UsageError, warn

if TYPE_CHECKING:
    import pyarrow as pa


def open_memory(source: Any) -> Dataset | None:
    """A dataset over a table in memory; None for what is no such table."""
    table = _table(source)
    return None if table is None else Dataset.from_arrow(usable(table, "memory"), name="memory")


def usable(table: pa.Table, name: str) -> pa.Table:
    """A table with rows, distinct names and types that every engine knows."""
    import pyarrow as pa

    _check_whole(table, name)
    check_names(name, table.column_names)
    if table.num_columns == 0 or table.num_rows == 0:
        raise DataError(f"{name}: the table has no row; give one with at least one row")
    columns = [_plain(column) for column in table.columns]
    return _odd_as_text(pa.table(columns, names=table.column_names))


def _check_whole(table: pa.Table, name: str) -> None:
    """Refuse what is no Arrow: engines trust offsets, texts and dictionaries, and would read beside them."""
    import pyarrow as pa

    for number, column in enumerate(table.columns, 1):
        try:
            column.validate(full=True)
        except pa.ArrowException:
            raise DataError(
                f"{name}: column {number} is damaged (offsets, text or dictionary); write the table again"
            ) from None


def _table(source: Any) -> pa.Table | None:
    import pyarrow as pa

    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    if isinstance(source, pa.RecordBatchReader):
        return source.read_all()
    module, kind = type(source).__module__.partition(".")[0], type(source).__name__
    if module == "pandas" and hasattr(source, "columns"):
        return _from_pandas(source)
    if module == "polars" and kind in ("DataFrame", "LazyFrame"):
        return _from_polars(source)
    return None


def _from_pandas(frame: Any) -> pa.Table:
    import pyarrow as pa

    names = [str(name) for name in frame.columns]
    arrays = [_from_series(frame.iloc[:, index], name) for index, name in enumerate(names)]
    return pa.table(arrays, names=names)


def _from_series(series: Any, name: str) -> pa.Array:
    """Arrow's own reading; as text what Arrow has no plain type for: intervals, periods, values of several types."""
    import pyarrow as pa

    try:
        array = pa.array(series, from_pandas=True)
        kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
        if not isinstance(kind, pa.BaseExtensionType):
            return array
    except (pa.ArrowException, OverflowError):
        warn("S-MIXED", f"column '{name}' holds values of different types; they are compared as text")
    missing = series.isna()
    return pa.array([None if gone else str(value) for value, gone in zip(series, missing)], pa.string())


def _from_polars(frame: Any) -> pa.Table:
    import pyarrow as pa

    frame = frame.collect() if hasattr(frame, "collect") else frame
    for name, kind in frame.schema.items():
        if str(kind) == "Object":
            raise DataError(f"column '{name}' holds Python objects; make it text or numbers first")
    try:
        return frame.to_arrow()
    except pa.ArrowException:
        raise UsageError(
            "a column has a type that Arrow does not know; cast it to text or numbers first"
        ) from None


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same values in a type that DuckDB reads too."""
    import pyarrow as pa

    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type)
        kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain(column.cast(kind.value_type))
    if pa.types.is_null(kind):
        return column.cast(pa.string())
    if pa.types.is_float16(kind):
        return column.cast(pa.float32())
    if pa.types.is_decimal256(kind):
        return _narrow(column)
    return column


def _narrow(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Decimals of 38 digits at most, text where they have more."""
    import pyarrow as pa

    try:
        return column.cast(pa.decimal128(38, column.type.scale))
    except pa.ArrowInvalid:
        return column.cast(pa.string())


def _odd_as_text(table: pa.Table) -> pa.Table:
    """Structures, bytes, durations as the text that DuckDB writes for them, in a file or in memory."""
    view = fresh_name()
    connect().register(view, table)
    kinds = connect().sql(f"DESCRIBE {view}").fetchall()
    odd = [name for name, kind, *_ in kinds if is_odd(kind)]
    if odd:
        chosen = ", ".join(f"CAST({quote(name)} AS VARCHAR)" for name in odd)
        texts = connect().sql(f"SELECT {chosen} FROM {view}").to_arrow_table()
        for name, text in zip(odd, texts.columns):
            table = table.set_column(table.column_names.index(name), name, text)
    connect().unregister(view)
    return table
