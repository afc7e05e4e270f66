"""What counts as missing becomes null at the door: NaN and the codes that the roles name. -0.0 becomes 0.0.

Nobody behind the door has to know: a null is a null on every engine and from every kind of file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from sudare.data.connection import connect, fresh_name, literal, quote, scalar
from sudare.data.dataset import Dataset

if TYPE_CHECKING:
    import ibis.expr.types as ir

FLOATS = ("FLOAT", "DOUBLE")
TEXTS = ("VARCHAR", "STRING", "UUID")
WHOLE = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "INT",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
)
AT_ONCE = 200  # columns that one query looks at


def with_nulls(ds: Dataset, codes: Sequence[str] = ()) -> Dataset:
    """The same table with null where a cell is NaN or one of the codes, and without -0.0.

    A code stands for a text that is written like it, and for a number that is equal to it: `-9` is -9.0 too.
    """
    if ds.view is None:
        return _on_spark(ds, codes) if ds.engine == "pyspark" else _on_ibis(ds, codes)
    kinds = {name: kind for name, kind, *_ in connect().sql(f"DESCRIBE {quote(ds.view)}").fetchall()}
    changed = _changed(kinds, codes, quote, literal)
    if ds.memory is not None:
        return _in_memory(
            ds, {name: sql for name, sql in changed.items() if codes or name in _unclean(ds, changed)}
        )
    if not changed:
        return ds
    view = fresh_name()
    replaced = ", ".join(f"{sql} AS {quote(name)}" for name, sql in changed.items())
    connect().execute(f"CREATE VIEW {view} AS SELECT * REPLACE ({replaced}) FROM {quote(ds.view)}")
    return replace(ds, view=view, parquet=() if codes else ds.parquet, keep_alive=ds.keep_alive)


def without_codes(
    column: str, kind: str, codes: Sequence[str], as_text: Callable[[str], str] = literal
) -> str:
    """SQL of a column with null in place of the codes; the column itself where none of them can stand in it."""
    if kind in TEXTS:
        listed = [as_text(code) for code in codes]
    elif kind in FLOATS:
        listed = [f"CAST({as_text(str(number))} AS {kind})" for number in _numbers(codes)]
    elif kind in WHOLE or kind.startswith("DECIMAL"):
        whole = kind in WHOLE
        listed = [f"{n:f}" for n in _numbers(codes) if abs(n) < 10**19 and not (whole and n % 1)]
    elif kind.startswith(("DATE", "TIMESTAMP")):
        listed = [f"TRY_CAST({as_text(code)} AS {kind})" for code in codes]
    else:
        listed = []
    return f"CASE WHEN {column} IN ({', '.join(listed)}) THEN NULL ELSE {column} END" if listed else column


def _changed(
    kinds: dict[str, str], codes: Sequence[str], name_of: Callable[[str], str], as_text: Callable[[str], str]
) -> dict[str, str]:
    """The SQL of every column that may hold something else than nulls, numbers and texts."""
    changed = {}
    for name, kind in kinds.items():
        column = name_of(name)
        signless = f"CASE WHEN isnan({column}) THEN NULL ELSE {column} + CAST(0 AS {kind}) END"
        plain = signless if kind in FLOATS else column
        sql = without_codes(plain, kind, codes, as_text)
        if sql != column:
            changed[name] = sql
    return changed


def _numbers(codes: Sequence[str]) -> list[Decimal]:
    """The codes that are numbers."""
    found = []
    for code in codes:
        try:
            number = Decimal(code)
        except InvalidOperation:
            continue
        if number.is_finite():
            found.append(number)
    return found


def _unclean(ds: Dataset, names: Sequence[str] | dict[str, str]) -> set[str]:
    """The columns of numbers in memory that hold NaN or -0.0: only they are copied."""
    listed, found = list(names), set()
    for start in range(0, len(listed), AT_ONCE):
        part = listed[start : start + AT_ONCE]
        tests = ", ".join(f"bool_or(isnan({c}) OR ({c} = 0 AND signbit({c})))" for c in map(quote, part))
        found |= {
            name for name, held in zip(part, scalar(f"SELECT [{tests}] FROM {quote(str(ds.view))}")) if held
        }
    return found


def _in_memory(ds: Dataset, changed: dict[str, str]) -> Dataset:
    """A table in memory with some of its columns replaced."""
    if not changed or ds.memory is None:
        return ds
    chosen = ", ".join(f"{sql} AS {quote(name)}" for name, sql in changed.items())
    columns = connect().sql(f"SELECT {chosen} FROM {quote(str(ds.view))}").to_arrow_table()
    table = ds.memory.table
    for name in changed:
        table = table.set_column(table.column_names.index(name), name, columns[name])
    return Dataset.from_arrow(table, name=ds.name)


def _on_spark(ds: Dataset, codes: Sequence[str]) -> Dataset:
    """The same on the frame itself, from which rows are numbered and read."""
    from sudare.data.readers.databases import open_spark_frame

    frame = ds.keep_alive
    kinds = {field.name: field.dataType.simpleString().upper() for field in frame.schema.fields}
    changed = _changed(kinds, codes, _spark_name, _spark_text)
    if not changed:
        return ds
    chosen = (f"{changed.get(name, _spark_name(name))} AS {_spark_name(name)}" for name in frame.columns)
    return open_spark_frame(frame.selectExpr(*chosen), ds.name)


def spark_cells(schema: Any, codes: Sequence[str]) -> list[str]:
    """The SQL of columns that Spark reads as text, without the codes and in the types of a schema."""
    cells = []
    for field in schema.fields:
        column = _spark_name(field.name)
        known = without_codes(column, "STRING", codes, _spark_text)
        cells.append(f"CAST({known} AS {field.dataType.simpleString()}) AS {column}")
    return cells


def _spark_name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _spark_text(text: str) -> str:
    """A text as Spark's SQL writes it: with a backslash before what has a meaning of its own."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _on_ibis(ds: Dataset, codes: Sequence[str]) -> Dataset:
    """The same where a database has the table."""
    table = ds.table
    changed = {name: cell for name in table.columns if (cell := _cell(table[name], codes)) is not None}
    return replace(ds, expression=table.mutate(**changed)) if changed else ds


def _cell(column: Any, codes: Sequence[str]) -> ir.Value | None:
    """A column of a database without what is missing; None if it stays as it is."""
    import ibis

    kind = column.type()
    nothing = ibis.null(kind)
    changed = column
    if kind.is_floating():
        changed = column.isnan().ifelse(nothing, (column == 0).ifelse(ibis.literal(0.0, kind), column))
    numbers = [number for number in _numbers(codes) if not (kind.is_integer() and number % 1)]
    if kind.is_string() and codes:
        changed = column.isin(list(codes)).ifelse(nothing, column)
    elif kind.is_numeric() and numbers:
        listed = [int(n) if kind.is_integer() else float(n) if kind.is_floating() else n for n in numbers]
        changed = changed.isin(listed).ifelse(nothing, changed)
    elif kind.is_temporal() and codes:
        changed = column.cast("string").isin(list(codes)).ifelse(nothing, column)
    return None if changed is column else changed
