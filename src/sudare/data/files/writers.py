"""Tables, JSON and text as files, each written whole or not at all."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from sudare.data.files.outputs import check_output as check_output
from sudare.data.files.private import temporaries_inside
from sudare.data.files.unit import PUBLIC, replacing
from sudare.data.readers.excel import write_excel
from sudare.data.values import sets
from sudare.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".xlsx")


def write_table(
    table: pa.Table, path: str | os.PathLike[str], *, escape_formulas: bool = False, mode: int = PUBLIC
) -> int:
    """Write a table in the format of the path's ending; returns how many cells were escaped."""
    kind = kind_of(path)
    with replacing(path, mode=mode) as file:
        return put_tables([table], file, kind, escape_formulas=escape_formulas)


def kind_of(path: str | os.PathLike[str]) -> str:
    """The format of an output, by its ending."""
    kind = Path(path).suffix.lower()
    if kind not in FORMATS:
        raise UsageError(
            f"{path}: unknown kind of output '{Path(path).suffix}'; sudare writes {' '.join(FORMATS)}"
        )
    return kind


def put_tables(
    tables: Iterable[pa.Table], file: BinaryIO, kind: str, *, escape_formulas: bool = False
) -> int:
    """Put tables one after another into one open file; returns how many cells were escaped.

    With `escape_formulas` a text cell or a column's name that a spreadsheet would run (it begins with = + - @) gets
    a leading quote; a set gets a backslash, which is read back as nothing.
    """
    escaped = 0

    def prepared() -> Iterator[pa.Table]:
        nonlocal escaped
        for number, table in enumerate(tables):
            joined = _join_sets(table) if kind in (".csv", ".tsv", ".xlsx") else table
            if escape_formulas and kind in (".csv", ".tsv", ".xlsx"):
                joined, cells = _escape(joined, table.schema, names=number == 0)
                escaped += cells
            yield joined

    _WRITERS[kind](prepared(), file)
    return escaped


def put_json(content: Any, file: BinaryIO) -> None:
    """Put JSON into an open file."""
    file.write(json.dumps(content, indent=2, ensure_ascii=False, default=str).encode() + b"\n")


def write_json(content: Any, path: str | os.PathLike[str], *, mode: int = PUBLIC) -> None:
    """Write JSON as a file of its own."""
    with replacing(path, mode=mode) as file:
        put_json(content, file)


def write_text(content: str, path: str | os.PathLike[str], *, mode: int = PUBLIC) -> None:
    """Write text as a file of its own."""
    with replacing(path, mode=mode) as file:
        file.write(content.encode())


def _join_sets(table: pa.Table) -> pa.Table:
    """Columns of sets as text, for formats that know no lists."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        if sets.is_sets(field.type):
            text = [None if cell is None else sets.to_text(cell) for cell in table[field.name].to_pylist()]
            table = table.set_column(place, field.name, pa.array(text, pa.string()))
    return table


def escaped_name(name: str) -> str:
    """A column's name as a spreadsheet would leave it alone.

    >>> escaped_name("=1+1"), escaped_name("age")
    ("'=1+1", 'age')
    """
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r")) else name


def _escape(table: pa.Table, original: pa.Schema, *, names: bool) -> tuple[pa.Table, int]:
    """The table with risky cells escaped, and how many; with `names` the columns' names are counted too."""
    import pyarrow as pa
    import pyarrow.compute as pc

    safe = [escaped_name(name) for name in table.column_names]
    count = sum(new != old for new, old in zip(safe, table.column_names)) if names else 0
    table = table.rename_columns(safe)
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            column, mark = table[field.name], "\\" if sets.is_sets(original.field(place).type) else "'"
            risky = pc.fill_null(pc.match_substring_regex(column, r"^[=+\-@\t\r]"), False)
            count += int(pc.sum(risky).as_py() or 0)
            table = table.set_column(
                place, field.name, pc.if_else(risky, pc.binary_join_element_wise(mark, column, ""), column)
            )
    return table, count


def _write_each(tables: Iterable[pa.Table], open_writer: Callable[[pa.Schema], Any]) -> None:
    """All tables through one writer, which is opened with the columns of the first."""
    listed = iter(tables)
    first = next(listed)
    with open_writer(first.schema) as file:
        for table in itertools.chain([first], listed):
            file.write_table(table)


def _write_delimited(tables: Iterable[pa.Table], file: BinaryIO, delimiter: str) -> None:
    import pyarrow.csv

    options = pyarrow.csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
    _write_each(tables, lambda schema: pyarrow.csv.CSVWriter(file, schema, write_options=options))


def _write_parquet(tables: Iterable[pa.Table], file: BinaryIO) -> None:
    import pyarrow.parquet

    def open_writer(schema: pa.Schema) -> Any:
        # the smallest and largest member of a set say nothing, and finding them costs a quarter of the write
        plain = [field.name for field in schema if not sets.is_sets(field.type)]
        return pyarrow.parquet.ParquetWriter(file, schema, compression="zstd", write_statistics=plain)

    _write_each(tables, open_writer)


def _write_ipc(tables: Iterable[pa.Table], file: BinaryIO) -> None:
    import pyarrow as pa

    options = pa.ipc.IpcWriteOptions(compression="lz4")
    _write_each(tables, lambda schema: pa.ipc.new_file(file, schema, options=options))


def _write_sheet(tables: Iterable[pa.Table], file: BinaryIO) -> None:
    import pyarrow as pa

    with temporaries_inside():  # openpyxl keeps rows in temporaries of its own
        write_excel(pa.concat_tables(tables), file)  # type: ignore[arg-type]  # it saves to open files as well


_WRITERS: dict[str, Callable[[Iterable[pa.Table], BinaryIO], None]] = {
    ".csv": lambda tables, file: _write_delimited(tables, file, ","),
    ".tsv": lambda tables, file: _write_delimited(tables, file, "\t"),
    ".parquet": _write_parquet,
    ".arrow": _write_ipc,
    ".feather": _write_ipc,
    ".xlsx": _write_sheet,
}
