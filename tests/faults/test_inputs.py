"""Bad input, 1 to 30."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

Run = Callable[..., Any]
fault = pytest.mark.fault
GOOD = "user,goods,price\nu1,tea,1.5\nu2,book,2.5\nu1,tea,1.5\n"
SECRET = "Canary"


@fault(1, "an empty file is refused")
def test_01(sudare: Run, csv: Run) -> None:
    sudare("risk", csv("")).fails(3, "empty")


@fault(2, "a header without rows is refused")
def test_02(sudare: Run, csv: Run) -> None:
    sudare("risk", csv("a,b\n")).fails(3, "no row")


@fault(3, "duplicate column names are refused")
def test_03(sudare: Run, csv: Run) -> None:
    sudare("risk", csv("a,b,a\n1,2,3\n")).fails(3, "same name")


@fault(4, "a ragged row is refused with its line")
@pytest.mark.parametrize("row", [f"{SECRET}", f"{SECRET},2,3,4"])
def test_04(sudare: Run, csv: Run, row: str) -> None:
    csv(f"a,b,c\n1,2,3\n{row}\n1,2,3\n")
    sudare("risk", "t.csv").fails(3, "line 3", secret=SECRET)


@fault(5, "an unclosed quote is refused")
def test_05(sudare: Run, csv: Run) -> None:
    sudare("risk", csv(f'a,b\n1,"{SECRET}\n2,3\n')).fails(3, "quote", secret=SECRET)


@fault(6, "NUL bytes are refused")
def test_06(sudare: Run, csv: Run) -> None:
    sudare("risk", csv(b"a,b\n1,x\x00y\n")).fails(3, "NUL")


@fault(7, "UTF-16 and byte order marks are read")
@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_07(sudare: Run, csv: Run, encoding: str) -> None:
    shown = sudare("risk", csv(GOOD, encoding=encoding), "--user", "user", "--format", "json").works()
    assert {tuple(row["attributes"]) for row in json.loads(shown.out)["rows"]} == {("goods",), ("price",)}


@fault(8, "an undeclared encoding is refused, a declared one read")
def test_08(sudare: Run, csv: Run) -> None:
    path = csv("人,物\n山田,茶\n鈴木,本\n", encoding="shift_jis")
    sudare("risk", path).fails(3, "--encoding")
    assert "物" in sudare("risk", path, "--encoding", "shift_jis", "--user", "人").works().out
    sudare("risk", path, "--encoding", "klingon").fails(2, "klingon")


@fault(9, "mixed line ends are read")
def test_09(sudare: Run, csv: Run) -> None:
    path = csv(b"user,x\r\na,1\nb,2\r\nc,3\n")
    shown = sudare("risk", path, "--user", "user", "--format", "json").works()
    assert json.loads(shown.out)["rows"][0]["records"] == 3


@fault(10, "a CSV larger than memory allows is streamed")
@pytest.mark.slow
def test_10(sudare: Run, tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    path = tmp_path / "large.csv"
    with path.open("w") as file:
        file.write("user,goods,price\n")
        for _ in range(70):
            rows = zip(
                draw.integers(0, 50_000, 100_000),
                draw.integers(0, 900, 100_000),
                draw.integers(0, 90, 100_000),
            )
            file.write("".join(f"customer-{u:09d},goods-with-a-long-name-{g:06d},{p}\n" for u, g, p in rows))
    assert path.stat().st_size > 300_000_000
    # the peak of the process itself: ru_maxrss would begin with that of the process that started it
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_DATA, (3 << 29, 3 << 29)); "
        "from sudare.cli.main import run; code = run(sys.argv[1:]); "
        "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0], file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "risk", str(path), "--user", "user"],
        env={**os.environ, "SUDARE_MEMORY": "300MB", "SUDARE_THREADS": "2"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stderr.split()[-1]) < 900_000  # kilobytes


@fault(11, "10,000 columns work")
def test_11(sudare: Run, tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(10_000)]
    (tmp_path / "wide.csv").write_text(
        ",".join(names) + "\n" + "\n".join(",".join(["1"] * 10_000) for _ in range(3))
    )
    assert "c9999" in sudare("risk", "wide.csv", "-a", "c0,c9999").works().out


@fault(12, "one row or one user: the risk is 1")
@pytest.mark.parametrize("content", ["user,x\na,1\n", "user,x\na,1\na,2\na,2\n"])
def test_12(sudare: Run, csv: Run, content: str) -> None:
    rows = json.loads(sudare("risk", csv(content), "--user", "user", "--format", "json").works().out)["rows"]
    assert [row["risk"] for row in rows] == [1.0]


@fault(13, "an all-null column is warned of")
def test_13(sudare: Run, csv: Run) -> None:
    assert "warning S-" in sudare("risk", csv("user,x\na,\nb,\n"), "--user", "user").works().err


@fault(14, "a null in a quasi-identifier is a value of its own, and the result says so")
def test_14(sudare: Run, csv: Run) -> None:
    path = csv("zip,sex\n1,f\n,f\n,f\n1,f\n")
    shown = json.loads(sudare("disclosure", path, "--quasi", "zip,sex", "--format", "json").works().out)
    assert "2" in json.dumps(shown["rows"])
    assert "missing" in json.dumps(shown).lower() or "null" in json.dumps(shown).lower()
    assert "value of" in sudare("risk", path).works().out


@fault(15, "a null user id is refused with the count")
def test_15(sudare: Run, csv: Run) -> None:
    sudare("risk", csv("user,x\na,1\n,2\n,3\n"), "--user", "user").fails(3, "2 records", "user")


@fault(16, "NaN and infinities are refused by numeric methods")
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_16(sudare: Run, tmp_path: Path, bad: float) -> None:
    pq.write_table(pa.table({"a": [1.0, bad, 2.0], "q": ["x", "y", "x"]}), tmp_path / "t.parquet")
    (tmp_path / "r.toml").write_text('[[step]]\nmethod = "noise"\ncolumns = ["a"]\nsd = 0.1\n')
    call = ("anonymize", "t.parquet", "--sensitive", "a", "--quasi", "q", "-r", "r.toml", "-o", "out.csv")
    sudare(*call).fails(3, "'a'")
    assert not (tmp_path / "out.csv").exists()


@fault(17, "007 and 7 stay different")
def test_17(sudare: Run, csv: Run) -> None:
    rows = json.loads(sudare("risk", csv("agent,zip\n007,01\n7,1\n"), "--format", "json").works().out)["rows"]
    assert [row["values"] for row in rows] == [2, 2]


@fault(18, "ids above 2^53 stay exact")
def test_18(sudare: Run, csv: Run) -> None:
    path = csv("who,x\n9007199254740993,1\n9007199254740992,1\n")
    assert (
        json.loads(sudare("risk", path, "--user", "who", "--format", "json").works().out)["rows"][0]["users"]
        == 2
    )


@fault(19, "values that differ only by Unicode form or outer blanks are warned of")
@pytest.mark.parametrize("content", ["user,x\na,\u00e9\nb,e\u0301\n", "user,x\na,tea\nb,tea \n"])
def test_19(sudare: Run, csv: Run, content: str) -> None:
    assert "warning S-" in sudare("risk", csv(content), "--user", "user").works().err


def blur(folder: Path, column: str, hierarchy: str = "") -> tuple[str, ...]:
    given = f"hierarchy = {hierarchy}\n" if hierarchy else ""
    (folder / "r.toml").write_text(
        f'[[step]]\nmethod = "generalize"\ncolumn = "{column}"\nlevel = 1\n{given}'
    )
    return ("--user", "user", "--quasi", column, "-r", "r.toml", "-o", "o.csv", "--demo")


@fault(20, "ambiguous dates need a format")
def test_20(sudare: Run, csv: Run, tmp_path: Path) -> None:
    path = csv("user,date\na,01/02/2020\nb,03/04/2020\n")
    sudare("anonymize", path, *blur(tmp_path, "date")).fails(2, "'date'", "format", secret="01/02")
    assert not (tmp_path / "o.csv").exists()
    stated = '{ dates = ["month"], format = "%d/%m/%Y" }'
    sudare("anonymize", path, *blur(tmp_path, "date", stated)).works()
    assert "2020-02-01" in (tmp_path / "o.csv").read_text()


@fault(21, "mixed time zones are refused")
def test_21(sudare: Run, csv: Run, tmp_path: Path) -> None:
    path = csv("user,at\na,2020-01-01T10:00:00+01:00\nb,2020-01-01T10:00:00Z\n")
    sudare("anonymize", path, *blur(tmp_path, "at")).fails(3, "'at'", "time zone", secret="10:00")
    assert not (tmp_path / "o.csv").exists()


@fault(22, "cells that a spreadsheet would run are escaped on request and counted")
@pytest.mark.parametrize("out", ["o.csv", "o.xlsx"])
def test_22(sudare: Run, csv: Run, tmp_path: Path, out: str) -> None:
    path = csv("user,x\na,=1+1\nb,@x\nc,ok\n")
    (tmp_path / "r.toml").write_text('[[step]]\nmethod = "pseudonymize"\n')
    call = ("anonymize", path, "--user", "user", "--quasi", "x", "-r", "r.toml", "-o", out)
    shown = sudare(*call, "--escape-formulas").works()
    assert "2 cells" in shown.err
    assert "'=1+1" in _cells(tmp_path / out)


def _cells(path: Path) -> set[Any]:
    if path.suffix == ".csv":
        return {cell.strip('"') for line in path.read_text().splitlines() for cell in line.split(",")}
    sheet = openpyxl.load_workbook(path).active
    return {cell for row in sheet.iter_rows(values_only=True) for cell in row}


@fault(23, "several sheets need --sheet; macros are refused")
def test_23(sudare: Run, tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append(["user", "x"])
    workbook.active.append(["a", 1])
    workbook.create_sheet("more").append(["y"])
    workbook.save(tmp_path / "two.xlsx")
    sudare("risk", "two.xlsx").fails(2, "--sheet")
    sudare("risk", "two.xlsx", "--sheet", "Sheet", "--user", "user").works()
    (tmp_path / "m.xlsm").write_bytes((tmp_path / "two.xlsx").read_bytes())
    sudare("risk", "m.xlsm").fails(3, "macros")


@fault(24, "a packed file that unpacks to a multiple of its size is refused")
def test_24(sudare: Run, tmp_path: Path) -> None:
    with gzip.open(tmp_path / "bomb.csv.gz", "wb") as file:
        file.write(b"a,b\n")
        for _ in range(80):
            file.write(b"0,0\n" * (1 << 18))
    sudare("risk", "bomb.csv.gz").fails(3, "100 times")
    for name, member in (("bomb.csv.zip", "t.csv"), ("bomb.xlsx", "xl/worksheets/sheet1.xml")):
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(member, "a,b\n" + "0,0\n" * (20 << 20))
        sudare("risk", name).fails(3, "100 times")


@fault(25, "a symbolic link as output is refused")
def test_25(sudare: Run, csv: Run, tmp_path: Path) -> None:
    (tmp_path / "o.csv").symlink_to(tmp_path / "target.csv")
    _publish(sudare, csv, tmp_path, "o.csv").fails(2, "symbolic link")
    assert not (tmp_path / "target.csv").exists()


@fault(26, "an output that is the input is refused")
def test_26(sudare: Run, csv: Run, tmp_path: Path) -> None:
    _publish(sudare, csv, tmp_path, "t.csv").fails(2, "input")
    _publish(sudare, csv, tmp_path, "o.csv", "--truth", "t.csv").fails(2, "input")
    (tmp_path / "hard.csv").hardlink_to(tmp_path / "t.csv")
    _publish(sudare, csv, tmp_path, "hard.csv").fails(2, "input")
    sudare("report", "t.csv", "--user", "user", "-o", "t.csv", "--format", "md").fails(2, "input")
    assert (tmp_path / "t.csv").read_text() == GOOD


def _publish(sudare: Run, csv: Run, folder: Path, out: str, *more: str) -> Any:
    (folder / "r.toml").write_text('[[step]]\nmethod = "pseudonymize"\n')
    return sudare(
        "anonymize", csv(GOOD), "--user", "user", "--quasi", "goods,price", "-r", "r.toml", "-o", out, *more
    )


@fault(27, "markup in a column name is escaped")
def test_27(sudare: Run, csv: Run, tmp_path: Path) -> None:
    path = csv("user,<script>alert(1)</script>\na,1\nb,2\n")
    sudare("report", path, "--user", "user", "-o", "report.html").works()
    page = (tmp_path / "report.html").read_text()
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


@fault(28, "a folder, a FIFO, a missing file, no permission are refused")
def test_28(sudare: Run, csv: Run, tmp_path: Path) -> None:
    sudare("risk", tmp_path).fails(3, "folder")
    os.mkfifo(tmp_path / "pipe.csv")
    sudare("risk", "pipe.csv").fails(3, "regular file")
    sudare("risk", "none.csv").fails(3, "no such file")
    csv(GOOD).chmod(0)
    sudare("risk", "t.csv", humble=True).fails(3, "ermission")


@fault(29, "an unknown column in the roles is refused with the nearest name")
def test_29(sudare: Run, csv: Run) -> None:
    sudare("risk", csv(GOOD), "--user", "usr").fails(2, "'user'")
    sudare("risk", csv(GOOD), "-a", "good").fails(2, "'goods'")


@fault(30, "a column in two roles is refused")
def test_30(sudare: Run, csv: Run) -> None:
    sudare("risk", csv(GOOD), "--user", "user", "--quasi", "user").fails(2, "two roles")
