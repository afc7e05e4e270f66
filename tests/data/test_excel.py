"""Workbooks: a sheet is a table, several are one, and a damaged one is explained."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.chart import BarChart

import sudare
from sudare.errors import DataError, UsageError


def workbook(path: Path, *rows: list[Any]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def changed(path: Path, part: str, change: Callable[[bytes], bytes]) -> Path:
    """The same workbook with one part of its archive changed."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(path.with_stem("changed"), "w") as new:
        for name in old.namelist():
            new.writestr(name, change(old.read(name)) if name.endswith(part) else old.read(name))
    return path.with_stem("changed")


def test_several_workbooks_are_one_table(tmp_path: Path) -> None:
    workbook(tmp_path / "1.xlsx", ["a", "b"], [1, "x"])
    workbook(tmp_path / "2.xlsx", ["b", "a"], ["y", 2])
    assert sudare.open(str(tmp_path / "*.xlsx")).to_pyarrow().to_pydict() == {"a": [1, 2], "b": ["x", "y"]}
    workbook(tmp_path / "3.xlsx", ["a", "c"], [1, "x"])
    with pytest.raises(DataError, match=r"3\.xlsx: its columns differ"):
        sudare.open(str(tmp_path / "*.xlsx"))


def test_whole_numbers_beside_fractions_keep_their_digits(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", ["a", "b"], [1, 1], [0.5, 2])
    assert sudare.open(path).to_pyarrow().to_pydict() == {"a": [1.0, 0.5], "b": [1, 2]}
    large = changed(path, "sheet1.xml", lambda xml: xml.replace(b"<v>1</v>", b"<v>9007199254740993</v>"))
    assert sudare.open(large).to_pyarrow()["a"].to_pylist() == ["9007199254740993", "0.5"]
    huge = changed(path, "sheet1.xml", lambda xml: xml.replace(b"<v>1</v>", b"<v>" + b"9" * 30 + b"</v>"))
    assert sudare.open(huge).to_pyarrow()["b"].to_pylist() == ["9" * 30, "2"]


def test_a_cell_beside_the_named_columns_is_not_dropped_in_silence(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", ["a"], [1], [2, "Canary"])
    with pytest.raises(DataError, match="row 3") as caught:
        sudare.open(path)
    assert "Canary" not in str(caught.value)


def test_a_sheet_of_a_chart_is_no_table(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["a"])
    book.active.append([1])
    book.create_chartsheet("picture").add_chart(BarChart())
    book.save(tmp_path / "t.xlsx")
    assert sudare.open(tmp_path / "t.xlsx").rows == 1
    with pytest.raises(UsageError, match="no sheet"):
        sudare.open(tmp_path / "t.xlsx", sheet="picture")


@pytest.mark.parametrize(
    ("part", "content"),
    [("sheet1.xml", b"<broken>"), ("workbook.xml", b"<broken>"), ("sheet1.xml", None)],
)
def test_damaged_workbooks_are_explained(tmp_path: Path, part: str, content: bytes | None) -> None:
    path = workbook(tmp_path / "t.xlsx", ["a"], [1])
    wrong = changed(path, part, lambda xml: content or xml.replace(b"<v>1</v>", b"<v>one</v>"))
    with pytest.raises(DataError, match="save"):
        sudare.open(wrong)


@pytest.mark.parametrize(
    ("rows", "told"), [([], "no name"), ([["a"]], "no row"), ([["a", None, "b"], [1, 2, 3]], "no name")]
)
def test_sheets_without_a_table_are_explained(tmp_path: Path, rows: list[list[Any]], told: str) -> None:
    with pytest.raises(DataError, match=told):
        sudare.open(workbook(tmp_path / "t.xlsx", *rows))
