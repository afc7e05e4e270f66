"""CSV files: what becomes a number, and what the errors say."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path
from typing import Any

import pytest

import sudare
from sudare.errors import DataError, UsageError


def column(folder: Path, *cells: str) -> list[Any]:
    (folder / "t.csv").write_text("\n".join(["v,x", *(f"{cell},{i}" for i, cell in enumerate(cells))]) + "\n")
    return sudare.open(folder / "t.csv").to_pyarrow()["v"].to_pylist()


def test_numbers_that_a_double_cannot_tell_apart_stay_text(tmp_path: Path) -> None:
    for cells in (
        ("1234567890123456789", "1234567890123456788"),
        ("9007199254740993", "9007199254740992", "0.5"),
        ("0.12345678901234567891", "0.12345678901234567892"),
        ("1700000000.123456789", "1700000000.123456788"),
        ("1e999", "1e998"),
    ):
        assert column(tmp_path, *cells) == list(cells)


def test_numbers_that_keep_every_digit_are_numbers(tmp_path: Path) -> None:
    assert column(tmp_path, "123456789012345678", "-1") == [123456789012345678, -1]
    assert column(tmp_path, "0.30000000000000004", "-2.2250738585072014e-299", "1e3") == [
        0.30000000000000004,
        -2.2250738585072014e-299,
        1000.0,
    ]
    assert column(tmp_path, "1", "0.5", "") == [1.0, 0.5, None]


@pytest.mark.parametrize("name", ["userid", "CustomerID", "zip", "顧客番号", "card id"])
def test_what_a_name_calls_a_code_stays_text(tmp_path: Path, name: str) -> None:
    (tmp_path / "t.csv").write_text(f"{name},x\n12,1\n34,2\n")
    assert sudare.open(tmp_path / "t.csv").to_pyarrow()[name].to_pylist() == ["12", "34"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("id;price, net\n1;2,5\n", ["id", "price, net"]),
        ("c0;|c1;|c2;\n1|2|3\n", ["c0;", "c1;", "c2;"]),
        ("name, first|age\nDoe, Jo|3\nRoe|4\n", ["name, first", "age"]),
        ("x\n1;2\n3\n", ["x"]),
        ('"a;b;c",d\n1,2\n', ["a;b;c", "d"]),
        ('"c0,"|"c1,"\n""|""\n"7"|"x"\n', ["c0,", "c1,"]),
    ],
)
def test_the_delimiter_is_the_one_that_fits_all_rows(tmp_path: Path, text: str, names: list[str]) -> None:
    (tmp_path / "t.csv").write_text(text)
    assert list(sudare.open(tmp_path / "t.csv").columns) == names


def test_a_quote_that_never_ends_is_explained_wherever_it_begins(tmp_path: Path) -> None:
    for start in ('"a,b\n', 'a,b\n"x'):
        (tmp_path / "t.csv").write_text(start + "x,y\n" * 300_000)
        with pytest.raises(DataError, match="quote"):
            sudare.open(tmp_path / "t.csv")


def test_files_of_a_glob_must_be_alike(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b\n1,x\n")
    for other in ("b,a\n1,x\n", "a;b\n1;x\n"):
        (tmp_path / "2.csv").write_text(other)
        with pytest.raises(DataError, match=r"2\.csv: .*differ"):
            sudare.open(str(tmp_path / "*.csv"))


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    for name, value in (("t[1].csv", 1), ("t1.csv", 2), ("t*.csv", 3)):
        (tmp_path / name).write_text(f"a\n{value}\n")
    assert sudare.open(tmp_path / "t[1].csv").to_pyarrow()["a"].to_pylist() == [1]
    assert sudare.open(tmp_path / "t*.csv").to_pyarrow()["a"].to_pylist() == [3]


def test_a_line_before_the_header_is_explained(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("\na,b\n1,x\n")
    with pytest.raises(DataError, match="first line is empty"):
        sudare.open(tmp_path / "t.csv")


def test_packed_files_are_known_by_their_ending_in_any_case(tmp_path: Path) -> None:
    (tmp_path / "T.CSV.GZ").write_bytes(gzip.compress(b"a,b\n1,x\n"))
    assert sudare.open(tmp_path / "T.CSV.GZ").rows == 1


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.zip"])
def test_damaged_packed_files_are_explained(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"hello")
    with pytest.raises(DataError, match="damaged"):
        sudare.open(tmp_path / name)


def test_an_archive_of_two_tables_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.csv.zip", "w") as archive:
        archive.writestr("a.csv", "a\n1\n")
        archive.writestr("b.csv", "a\n1\n")
    with pytest.raises(DataError, match="2 files"):
        sudare.open(tmp_path / "t.csv.zip")


def test_an_archive_with_a_password_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "a\n1\n")
    marked = bytearray(path.read_bytes())
    marked[6] |= 1  # the member says that it is encrypted, in both of its headers
    marked[marked.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(marked)
    with pytest.raises(DataError, match="password"):
        sudare.open(path)


@pytest.mark.parametrize("encoding", ["klingon", "base64", "undefined", "a\0b"])
def test_what_is_no_encoding_of_text_is_refused(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(UsageError, match="unknown encoding"):
        sudare.open(tmp_path / "t.csv", encoding=encoding)
