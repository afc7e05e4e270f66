"""Excel workbooks, one sheet at a time, read and written row by row."""

from __future__ import annotations

import math
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.data.readers.sheets import check_sheet
from sudare.errors import DataError, MissingPart, UsageError, nearest, warn

if TYPE_CHECKING:
    import pyarrow as pa

EXACT = 2**53  # beyond it a double does not keep whole numbers apart
SHEET = (1_048_576, 16_384)  # rows and columns of a sheet
CELL = 32_767  # characters of a cell
LARGE = 10**15  # a sheet keeps 15 digits
UNPRINTABLE = r"[\x00-\x08\x0b\x0c\x0e-\x1f]"


def read_excel(path: Path, sheet: str | None = None) -> pa.Table:
    """The sheet's cells: the first row names the columns; a column of mixed types is text."""
    import pyarrow as pa

    workbook = load(path)
    try:
        chosen = workbook[_sheet(path, _tables(workbook), sheet)]
        check_sheet(path, chosen)
        chosen.reset_dimensions()  # what the sheet says of its size may be wrong: cells beyond it would be lost
        names, columns = _cells(path, chosen)
    except (SyntaxError, ValueError, KeyError, TypeError):  # a part that is no XML, a number that is none
        raise DataError(f"{path}: the sheet is damaged; save the workbook again") from None
    finally:
        workbook.close()
    if not columns[0]:
        raise DataError(f"{path}: the sheet has no row below the header; give one with at least one row")
    return pa.table([_array(column) for column in columns], names=names)


def write_excel(table: pa.Table, path: Path) -> None:
    """One sheet of a new workbook: the names of the columns, then the rows."""
    try:
        import openpyxl
    except ImportError:
        raise MissingPart.extra("an Excel file", "excel") from None
    _check_fits(table)
    workbook = openpyxl.Workbook(write_only=True)
    sheet = workbook.create_sheet("release")
    sheet.append([_plain_cell(sheet, name) for name in table.column_names])
    for batch in table.to_batches():
        for row in zip(*(column.to_pylist() for column in batch.columns)):
            sheet.append([_plain_cell(sheet, cell) for cell in row])
    workbook.save(path)


def _cells(path: Path, sheet: Any) -> tuple[list[str], list[list[Any]]]:
    """The names and the columns; a row without any value is a record too."""
    rows = sheet.iter_rows(values_only=True)
    names = _names(path, next(rows, ()))
    columns: list[list[Any]] = [[] for _ in names]
    blank = 0
    for number, row in enumerate(rows, 2):
        if number > SHEET[0]:
            raise DataError(f"{path}: a row has a number that no sheet has; save the workbook again")
        if any(cell is not None for cell in row[len(names) :]):
            raise DataError(f"{path}, row {number}: a cell stands beside the named columns; name its column")
        blank += all(cell is None for cell in row)
        for index, column in enumerate(columns):
            column.append(row[index] if index < len(row) else None)
    if blank:
        warn(
            "S-BLANK",
            f"{path}: {blank:,} rows of the sheet hold no value; they count as records: delete them if they are none",
        )
    return names, columns


def _tables(workbook: Any) -> list[str]:
    """The sheets that hold cells; a chart has a sheet too."""
    charts = {chart.title for chart in workbook.chartsheets}
    return [name for name in workbook.sheetnames if name not in charts]


def load(path: Path) -> Any:
    """A workbook to read from: no macros, no bomb, no links."""
    try:
        import openpyxl
    except ImportError:
        raise MissingPart.extra("an Excel file", "excel") from None
    try:
        with zipfile.ZipFile(path) as archive:
            if any("vbaProject" in name for name in archive.namelist()):
                raise DataError(f"{path}: the workbook holds macros; save it as .xlsx without macros")
            if sum(member.file_size for member in archive.infolist()) > max(
                64 << 20, 100 * path.stat().st_size
            ):
                raise DataError(f"{path}: unpacks to more than 100 times its size; export it as CSV")
        return openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
    except (zipfile.BadZipFile, SyntaxError, AttributeError, KeyError, ValueError, TypeError, OSError):
        raise DataError(f"{path}: not a readable .xlsx file; save it again") from None


def _sheet(path: Path, names: list[str], wanted: str | None) -> str:
    if wanted is None and len(names) > 1:
        raise UsageError(f"{path}: has {len(names)} sheets; choose one with --sheet ({', '.join(names)})")
    if wanted is not None and wanted not in names:
        raise UsageError(f"{path}: no sheet '{wanted}'; {nearest(wanted, names)}")
    return wanted or names[0]


def _names(path: Path, header: tuple[Any, ...]) -> list[str]:
    names = ["" if cell is None else str(cell) for cell in header]
    while names and not names[-1].strip():
        names.pop()
    if not names or any(not name.strip() for name in names):
        raise DataError(f"{path}: a column of the sheet has no name; name it in the first row")
    return names


def _array(column: list[Any]) -> pa.Array:
    import pyarrow as pa

    kinds = {type(cell) for cell in column if cell is not None}
    largest = max((abs(cell) for cell in column if isinstance(cell, int)), default=0)
    if kinds == {int, float} and largest <= EXACT:
        return pa.array([None if c is None else float(c) for c in column])
    if len(kinds) == 1 and largest < 2**63:
        return pa.array(column)
    return pa.array([None if c is None else str(c) for c in column], pa.string())


def _check_fits(table: pa.Table) -> None:
    """Refuse what a sheet cannot hold: it would be cut, or the workbook would not open."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rows, columns = SHEET
    if table.num_rows >= rows or table.num_columns > columns:
        raise UsageError(f"a sheet has at most {rows:,} rows and {columns:,} columns; write .csv or .parquet")
    names = pa.chunked_array([table.column_names])
    for name, column in zip(["(names)", *table.column_names], [names, *table.columns]):
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            longest = pc.max(pc.utf8_length(column)).as_py() or 0
            if longest > CELL or pc.any(pc.match_substring_regex(column, UNPRINTABLE)).as_py():
                raise DataError(
                    f"column '{name}': a cell has control characters or more than {CELL:,} characters, which a "
                    "sheet cannot hold; write .csv or .parquet"
                )


def _plain_cell(sheet: Any, value: Any) -> Any:
    """What a sheet would change stays text: a formula, a number of many digits, a moment with its zone."""
    if isinstance(value, str) and value.startswith("="):
        from openpyxl.cell import WriteOnlyCell

        cell = WriteOnlyCell(sheet, value)
        cell.data_type = "s"
        return cell
    if isinstance(value, (int, Decimal)) and not -LARGE < value < LARGE:
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value.isoformat() if getattr(value, "tzinfo", None) is not None else value
