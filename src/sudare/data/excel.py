"""Excel workbooks, one sheet at a time, streamed."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.errors import DataError, MissingPart, UsageError, nearest

if TYPE_CHECKING:
    import pyarrow as pa


def read_excel(path: Path, sheet: str | None = None) -> pa.Table:
    """The sheet's cells: the first row names the columns; a column of mixed types is text."""
    import pyarrow as pa

    workbook = _load(path)
    try:
        chosen = _sheet(path, workbook.sheetnames, sheet)
        rows = workbook[chosen].iter_rows(values_only=True)
        names = _names(path, next(rows, ()))
        columns: list[list[Any]] = [[] for _ in names]
        for row in rows:
            if any(cell is not None for cell in row):
                for place, column in enumerate(columns):
                    column.append(row[place] if place < len(row) else None)
    finally:
        workbook.close()
    if not columns or not columns[0]:
        raise DataError(f"{path}: the sheet has no row below the header; give one with at least one row")
    return pa.table([_array(column) for column in columns], names=names)


def _load(path: Path) -> Any:
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
    except (zipfile.BadZipFile, KeyError, ValueError, OSError):
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
    if kinds == {int, float}:
        return pa.array([None if c is None else float(c) for c in column])
    if len(kinds) > 1:
        return pa.array([None if c is None else str(c) for c in column], pa.string())
    return pa.array(column) if kinds else pa.array(column, pa.string())
