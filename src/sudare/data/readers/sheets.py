"""What the cells of a sheet do not tell: formulas whose value nobody computed, and merged cells.

Both are read as missing cells though a person who opens the workbook sees values there, so they are refused.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import IO, Any

from sudare.errors import DataError

CHUNK = 1 << 20
FORMULA = re.compile(rb"<(\w+:)?f[\s/>]")
MERGED = re.compile(rb"<(\w+:)?mergeCell\s")
LONGEST = 64  # bytes of a tag that two pieces may share


def check_sheet(path: Path, sheet: Any) -> None:
    """Refuse a sheet of an open workbook that has merged cells, or formulas without the values they had last."""
    with sheet._get_source() as file:
        formulas, merged = _has(file)
    if merged:
        raise DataError(f"{path}: the sheet has merged cells; unmerge them and fill in every cell")
    if formulas:
        with sheet._get_source() as file:
            _check_values(path, file)


def _has(file: IO[bytes]) -> tuple[bool, bool]:
    """Whether there are formulas, and merged cells: a look at the bytes, since most sheets have neither."""
    formulas = merged = False
    last = b""
    while chunk := file.read(CHUNK):
        piece = last + chunk
        formulas = formulas or FORMULA.search(piece) is not None
        merged = merged or MERGED.search(piece) is not None
        last = chunk[-LONGEST:]
    return formulas, merged


def _check_values(path: Path, file: IO[bytes]) -> None:
    from openpyxl.xml.functions import iterparse

    for _, element in iterparse(file):
        kind = element.tag.rpartition("}")[2]
        if kind == "c":
            parts = {part.tag.rpartition("}")[2]: part for part in element}
            empty = parts.get("v") is None or (not parts["v"].text and element.get("t") != "str")
            if "f" in parts and empty:
                raise DataError(
                    f"{path}, cell {element.get('r', '')}: a formula without its value; open the workbook in a "
                    "spreadsheet program and save it, or put values in its place"
                )
        if kind == "row":
            element.clear()
