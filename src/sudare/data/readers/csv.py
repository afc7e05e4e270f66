"""CSV and TSV files: checked in one streaming pass at the door, then a view that DuckDB reads in parallel.

Every column starts as text. A column becomes numbers only when all its values are numbers written in the
ordinary way, none of them loses a digit by it, and neither its name nor its role says that it is an identifier or a
code: `007` stays `007`.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from sudare.data.connection import connect, file_literal, fresh_name, literal, quote
from sudare.data.readers import unpacking
from sudare.data.readers.expected import Expected
from sudare.data.readers.header import has_header
from sudare.data.readers.missing import without_codes
from sudare.data.roles import check_names
from sudare.errors import DataError, UsageError, warn
from sudare.progress import stage

DELIMITERS = (",", ";", "\t", "|")
# what a name says: the value is a label, however much it looks like a number
LABEL = re.compile(
    r"(^|[^a-z])(id|ids|uid|uuid|guid|key|code|codes|zip|zipcode|plz|postal|postcode|post_code|phone|tel|fax|"
    r"mobile|ssn|iban|account|isbn|ean|sku|invoice|passport|licen[cs]e|"
    r"(user|customer|client|patient|person|member|employee|student|order|product|item|card)id)([^a-z]|$)|番号"
)
WHOLE = r"-?(0|[1-9][0-9]{0,17})"
WIDE = 200
SAMPLE = 101  # rows
FIRST_ROWS = 1001  # that tell whether there is a header
LONGEST_HEADER = 1 << 20  # characters
Counts = tuple[int, ...]
LONGEST_ROW = 16 * 2**20  # bytes
# what a double keeps apart: 15 digits before the point, 17 in all, no exponent that makes it infinite
NUMBER = (
    r"-?((0|[1-9][0-9]{0,14})(\.[0-9]+)?|"
    r"(0|[1-9][0-9]{0,2})(\.[0-9]+)?[eE][+-]?([0-9]{1,2}|[12][0-9]{2}))"
)
DIGITS = 17


@dataclass(frozen=True)
class Dialect:
    delimiter: str
    header: bool
    names: tuple[str, ...]


def open_csv(paths: Sequence[Path], expected: Expected, *, encoding: str | None = None) -> str:
    """A view over CSV files with the same columns."""
    plain = [unpacking.as_utf8(path, encoding) for path in paths]
    dialect = _dialect(paths[0], plain[0], expected.names)
    for path, file in zip(paths[1:], plain[1:]):
        if _dialect(path, file, expected.names) != dialect:
            raise DataError(
                f"{path}: its columns, delimiter or header differ from those of {paths[0]}; open them one by one"
            )
    source = _source(plain, dialect, expected.missing)
    stage(f"reading {paths[0].name}")
    shown = str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
    types = _types(shown, source, dialect, plain[0], expected)
    view = fresh_name()
    columns = ", ".join(
        quote(n) if t == "VARCHAR" else f"CAST({quote(n)} AS {t}) AS {quote(n)}" for n, t in types.items()
    )
    connect().execute(f"CREATE VIEW {view} AS SELECT {columns} FROM {source}")
    return view


def dialect_of(path: Path, names: Sequence[str] = ()) -> Dialect:
    """How a UTF-8 file is written; one in another encoding is refused."""
    if unpacking.as_utf8(path, None) != path:
        raise DataError(f"{path}: not plain UTF-8; save it as UTF-8 first, or open it with --engine duckdb")
    return _dialect(path, path, names)


def _dialect(path: Path, file: Path, known: Sequence[str]) -> Dialect:
    if _has_nul(file):
        raise DataError(
            f"{path}: contains NUL bytes; export it as plain text, or name its encoding, e.g. --encoding utf-16-le"
        )
    head = _head(path, file)
    if not head.strip():
        raise DataError(f"{path}: the file is empty; give a table with a header and at least one row")
    delimiter = "\t" if ".tsv" in path.suffixes else _delimiter(head)
    rows = _rows(head, delimiter, FIRST_ROWS)
    first = rows[0]
    if not first:
        raise DataError(f"{path}: the first line is empty; remove it, so that the header comes first")
    if len("".join(first)) > LONGEST_HEADER:
        raise DataError(f"{path}, line 1: a quote is opened and not closed; correct the row")
    header = has_header(rows, *_sniffed(file, delimiter, len(first)), known)
    names = tuple(first) if header else tuple(f"column{i + 1}" for i in range(len(first)))
    if not header:
        warn(
            "S-HEADER",
            f"{path}: the first row looks like data, so the columns are named column1, column2, ...; if it is a "
            "header, name one of its columns in the roles",
        )
    check_names(path, names)
    return Dialect(delimiter, header, names)


def _head(path: Path, file: Path) -> str:
    try:
        with open(file, encoding="utf-8-sig", newline="") as stream:
            return stream.read(1 << 22)
    except UnicodeDecodeError:
        raise DataError(f"{path}: not UTF-8 text; name its encoding, e.g. --encoding shift_jis") from None


def _delimiter(head: str) -> str:
    """The delimiter that cuts the first rows into the same number of cells, most of them, with no blank behind it.

    Where none does, a row is wrong or there is one column: then the one that is in the first row most often.

    >>> _delimiter("id;price, net\\n1;2,5\\n"), _delimiter("name, first|age|size;unit\\nDoe, Jo|3|4;cm\\n")
    (';', '|')
    """
    widths = {
        mark: {len(row) for row in _rows(head, mark, SAMPLE, strict=True) if row} for mark in DELIMITERS
    }
    fitting = [mark for mark, found in widths.items() if len(found) == 1 and found != {1}]
    line = next(line for line in head.splitlines() if line.strip())
    if fitting:
        return max(fitting, key=lambda mark: (max(widths[mark]), f"{mark} " not in line))
    outside = re.sub(r'"[^"]*"', "", line)
    return max(DELIMITERS, key=outside.count)


def _rows(head: str, delimiter: str, most: int, *, strict: bool = False) -> list[list[str]]:
    """The first rows as Python reads them; none where quotes do not stand around whole cells, if that is asked."""
    with _long_cells(), contextlib.suppress(csv.Error):
        rows = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter, strict=strict)
        return [row for row, _ in zip(rows, range(most))]
    return []


def _sniffed(file: Path, delimiter: str, width: int) -> tuple[list[bool], bool]:
    """DuckDB's opinion: which columns are no text, and whether there is a header.

    A file it cannot sniff is explained when it is read.
    """
    options = f"delim={literal(delimiter)}, quote='\"', escape='\"', strict_mode=false"
    query = f"SELECT Columns, HasHeader FROM sniff_csv({file_literal(file)}, {options})"
    try:
        columns, header = connect().sql(query).fetchall()[0]
    except duckdb.Error:
        return [True] * width, True
    return [column["type"] != "VARCHAR" for column in columns], bool(header)


def _source(files: Sequence[Path], dialect: Dialect, codes: Sequence[str]) -> str:
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in dialect.names)
    listed = ", ".join(map(file_literal, files))
    read = (
        f"read_csv([{listed}], auto_detect=false, columns={{{columns}}}, header={str(dialect.header).lower()}, "
        f"delim={literal(dialect.delimiter)}, quote='\"', escape='\"', nullstr='', allow_quoted_nulls=false, "
        f"null_padding=false, strict_mode=true, max_line_size={LONGEST_ROW}, "
        f"buffer_size={2 * LONGEST_ROW})"  # by default 16 rows of the longest: 256 MB per thread
    )
    if not codes:
        return read
    cells = (f"{without_codes(quote(name), 'VARCHAR', codes)} AS {quote(name)}" for name in dialect.names)
    return f"(SELECT {', '.join(cells)} FROM {read})"


def _types(path: str, source: str, dialect: Dialect, file: Path, expected: Expected) -> dict[str, str]:
    """Read everything once: a bad file's fault comes now, and the type of a column holds for all rows."""
    numeric = _looks_numeric(file, dialect, {"", *expected.missing})
    likely = [n for n in dialect.names if n in numeric and n not in expected.text and not is_label(n)]
    # a column that is read makes DuckDB check every row's shape and encoding
    everything = f"SELECT count(*), count({quote(dialect.names[-1])}) FROM {source}"
    try:
        if len(likely) > WIDE:
            (rows, _), found = connect().sql(everything).fetchall()[0], _count_long(source)
        else:
            rows, found = _count_wide(source, likely, dialect.names[-1])
    except duckdb.Error as error:
        raise _explain(path, error) from None
    if rows == 0:
        raise DataError(f"{path}: there is a header but no row; give a table with at least one row")
    kinds = {n: _kind(f) for n, f in found.items() if n in likely}
    return {name: kinds.get(name, "VARCHAR") for name in dialect.names}


def _kind(counts: Counts) -> str:
    values, not_whole, not_numbers = counts
    if not values or (not_whole and not_numbers):
        return "VARCHAR"
    return "DOUBLE" if not_whole else "BIGINT"


def _count_wide(source: str, columns: Sequence[str], last: str) -> tuple[int, dict[str, Counts]]:
    """Per column: values, values that are not whole numbers, values that are not numbers; one column each."""
    counts = [f"{c}" for n in columns for c in _counts(quote(n))]
    query = f"SELECT {', '.join(['count(*)', f'count({quote(last)})', *counts])} FROM {source}"
    rows, _, *found = connect().sql(query).fetchall()[0]
    return rows, {n: tuple(found[3 * i : 3 * i + 3]) for i, n in enumerate(columns)}


def _count_long(source: str) -> dict[str, Counts]:
    """The same for tables of thousands of columns, whose query would take longer to plan than to run."""
    counts = ", ".join(_counts("value"))
    turned = f"UNPIVOT (SELECT * FROM {source}) ON COLUMNS(*) INTO NAME name VALUE value"
    found = connect().sql(f"SELECT name, {counts} FROM ({turned}) GROUP BY name").fetchall()
    return {name: tuple(rest) for name, *rest in found}


def _counts(value: str) -> tuple[str, str, str]:
    not_whole = f"count(*) FILTER (WHERE NOT regexp_full_match({value}, '{WHOLE}'))"
    digits = f"ltrim(regexp_replace({value}, '[eE].*|[-.]', '', 'g'), '0')"
    too_fine = f"length({value}) > {DIGITS} AND length({digits}) > {DIGITS}"
    not_number = f"count(*) FILTER (WHERE NOT regexp_full_match({value}, '{NUMBER}') OR ({too_fine}))"
    return f"count({value})", not_whole, not_number


def is_label(name: str) -> bool:
    """
    >>> [is_label(n) for n in ("CustomerID", "zip_code", "price", "number", "StockCode")]
    [True, True, False, False, True]
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return LABEL.search(spaced.lower()) is not None


def _looks_numeric(file: Path, dialect: Dialect, missing: set[str]) -> set[str]:
    """Columns whose first values are all numbers: a cheap filter before the full pass."""
    with open(file, encoding="utf-8-sig", newline="", errors="ignore") as stream, _long_cells():
        rows = csv.reader(stream, delimiter=dialect.delimiter)
        sample = [row for row, _ in zip(rows, range(SAMPLE))][1 if dialect.header else 0 :]
    number = re.compile(f"{WHOLE}|{NUMBER}")
    return {
        name
        for index, name in enumerate(dialect.names)
        if all(index >= len(row) or row[index] in missing or number.fullmatch(row[index]) for row in sample)
    }


@contextlib.contextmanager
def _long_cells() -> Iterator[None]:
    """Cells of any length, for a while: the limit belongs to the whole process."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _has_nul(file: Path) -> bool:
    """Read in pieces: a mapped file would count as memory of this process."""
    with open(file, "rb") as stream:
        return any(b"\0" in piece for piece in iter(lambda: stream.read(1 << 20), b""))


def _explain(path: str, error: duckdb.Error) -> DataError | UsageError:
    """DuckDB's message quotes the line it stumbled over; ours says where, not what."""
    text = str(error)
    if "Out of Memory" in text:
        return DataError(
            f"{path}: not enough memory; set SUDARE_MEMORY to what this process may take (e.g. 2GB)"
        )
    line = re.search(r"Line: (\d+)", text)
    where = f"{path}, line {line.group(1)}" if line else path
    if "unicode" in text.partition("Possible")[0].lower():
        return DataError(f"{where}: not UTF-8 text; name its encoding, e.g. --encoding shift_jis")
    if "Expected Number of Columns" in text:
        return DataError(f"{where}: the row has another number of cells than the header; correct the row")
    if "quote" in text.partition("Possible")[0].lower():
        return DataError(f"{where}: a quote is opened and not closed; correct the row")
    if "Maximum line size" in text:
        return DataError(f"{where}: a row is longer than 16 MB; a quote may be missing")
    return DataError(f"{where}: the file cannot be read as CSV; correct the row or export it again")
