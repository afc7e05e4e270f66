"""Strict doors, 65 to 75: what a table holds is what is measured, and no fault of a file is met in silence."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sudare.data.opening import open as open_table
from sudare.disclosure.measure import disclosure
from sudare.errors import DataError, SudareWarning
from sudare.risk.measure import risk

Run = Callable[..., Any]
fault = pytest.mark.fault
GOOD = "user,goods,price\nu1,tea,1.5\nu2,book,2.5\nu1,tea,1.5\n"
SECRET = "Canary"


def rows_of(outcome: Any) -> dict[str, dict[str, Any]]:
    return {"+".join(row["attributes"]): row for row in json.loads(outcome.works().out)["rows"]}


def smallest_class(outcome: Any) -> Any:
    return next(row["value"] for row in json.loads(outcome.works().out)["rows"] if row["measure"] == "k")


@fault(65, "a Parquet file below age=30 keeps its own column")
def test_a_folder_named_like_a_column_does_not_change_k(sudare: Run, tmp_path: Path) -> None:
    table = pa.table({"age": [20, 21, 22, 23] + [40] * 8, "sex": ["f"] * 12})
    (tmp_path / "age=30").mkdir()
    for path in (tmp_path / "t.parquet", tmp_path / "age=30" / "t.parquet"):
        pq.write_table(table, path)
    apart, within = (
        sudare("disclosure", path, "--quasi", "age,sex", "-f", "json")
        for path in ("t.parquet", "age=30/t.parquet")
    )
    assert smallest_class(apart) == smallest_class(within) == 1
    assert apart.out == within.out
    sudare("risk", "age=30/t.parquet", "--partitions").fails(3, "'age'")


@fault(66, "decimals and whole numbers of any length stay exact")
@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv", "memory"])
def test_long_numbers_stay_exact(tmp_path: Path, kind: str) -> None:
    many = [Decimal("1" * 50 + digit) for digit in "12"]
    table = pa.table(
        {
            "wide": pa.array(many, pa.decimal256(60, 0)),
            "unsigned": pa.array([2**64 - 1, 2**64 - 2], pa.uint64()),
            "long": pa.array([Decimal(10**22 + 1), Decimal(10**22 + 2)], pa.decimal128(23, 0)),
        }
    )
    ds = open_table(_saved(table, tmp_path, kind))
    assert [row["values"] for row in risk(ds).rows] == [2, 2, 2]
    cells = {name: list(map(str, column)) for name, column in ds.to_pyarrow().to_pydict().items()}
    assert cells == {name: list(map(str, column)) for name, column in table.to_pydict().items()}


def _saved(table: pa.Table, folder: Path, kind: str) -> Any:
    path = folder / f"t.{kind}"
    if kind == "memory":
        return table
    if kind == "parquet":
        pq.write_table(table, path)
    elif kind == "arrow":
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    else:
        lines = [
            ",".join(table.column_names),
            *(",".join(map(str, row.values())) for row in table.to_pylist()),
        ]
        path.write_text("\n".join(lines) + "\n")
    return path


def forged(kind: str) -> pa.Table:
    """A table that was right when it was made, and whose memory is not any more."""
    if kind == "dictionary":
        codes = pa.array([0, 1, 7], pa.int32())
        return pa.table({"x": pa.DictionaryArray.from_arrays(codes, pa.array(["a", SECRET]), safe=False)})
    offsets, text = (
        np.array([0, 6, 8, 10], np.int32),
        np.frombuffer(f"{SECRET}bbcc".encode(), np.uint8).copy(),
    )
    array = pa.Array.from_buffers(pa.string(), 3, [None, pa.py_buffer(offsets), pa.py_buffer(text)])
    if kind == "offsets":
        offsets[1] = 100_000_000
    else:
        text[6:8] = [0xFF, 0xFE]
    return pa.table({"x": array})


@fault(67, "Arrow with invalid offsets, text or dictionary is refused")
@pytest.mark.parametrize("kind", ["offsets", "text", "dictionary"])
def test_invalid_arrow_is_refused(sudare: Run, tmp_path: Path, kind: str) -> None:
    table = forged(kind)
    with pytest.raises(DataError, match="column 1 is damaged"):
        open_table(table)
    _saved(table, tmp_path, "arrow")
    sudare("risk", "t.arrow").fails(3, "t.arrow", "damaged", secret=SECRET)


@fault(68, "of a DuckDB file the tables are opened, and no view")
def test_views_of_a_database_are_refused(sudare: Run, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text(SECRET)
    with duckdb.connect(str(tmp_path / "t.duckdb")) as database:
        database.execute("CREATE TABLE visits AS SELECT range % 3 AS who, 'x' AS what FROM range(9)")
        database.execute(f"CREATE VIEW other AS SELECT * FROM read_text('{tmp_path}/secret.txt')")
        database.execute("CREATE RECURSIVE VIEW endless(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless)")
    for view in ("other", "endless"):
        sudare("risk", "duckdb://t.duckdb", "--table", view, timeout=60).fails(3, view, "view", secret=SECRET)
    assert "what" in sudare("risk", "duckdb://t.duckdb", "--table", "visits", "--user", "who").works().out


@fault(69, "a table without a header is noticed, and no message has a cell of it")
@pytest.mark.parametrize(
    "content",
    [
        "Canary,Berlin,flu\nBob,Paris,cold\nCarol,Rome,flu\n",
        "Canary,Berlin,flu\nBob,Paris,cold\nCarol,Rome,cough\n",
        "Canary,30,flu\nBob,31,cold\nCarol,32,cough\n",
        "Canary,NA,flu\nBob,31,cold\nCarol,32,flu\n",
    ],
)
def test_a_table_without_a_header_is_noticed(sudare: Run, csv: Run, content: str) -> None:
    path = csv(content)
    for call in (("--user", "Canery"), ("-a", "zip"), ("--quasi", "flue")):
        shown = sudare("risk", path, *call)
        shown.fails(2, "S-HEADER", secret=SECRET)
        assert "flu," not in shown.err
        assert "Berlin" not in shown.err
    assert SECRET not in sudare("risk", path).works().out


@fault(69, "a header of words is one, if anything speaks for it")
def test_a_header_above_words_is_read(sudare: Run, csv: Run) -> None:
    words = "colour,shape\n" + "red,round\nblue,square\n" * 30
    for content, name in ((words, "colour"), ("city,colour\nRome,red\nParis,blue\n", "colour")):
        shown = sudare("risk", csv(content))
        assert name in shown.works().out
        assert "S-HEADER" not in shown.err
    unsure = csv("colour,shape\nred,round\nblue,square\n")
    assert "S-HEADER" in sudare("risk", unsure).works().err
    assert "S-HEADER" not in sudare("risk", unsure, "--quasi", "shape").works().err


@fault(70, "rows of a sheet without values are kept")
def test_blank_rows_of_a_sheet_are_records(sudare: Run, tmp_path: Path) -> None:
    _workbook(tmp_path, ["age", "sex"], [30, "f"], [None, None], [30, "f"])
    shown = sudare("risk", "t.xlsx", "-f", "json")
    assert rows_of(shown)["age"]["records"] == 3
    assert "S-BLANK" in shown.err


@fault(70, "formulas without their values and merged cells are refused")
def test_formulas_and_merged_cells_are_refused(sudare: Run, tmp_path: Path) -> None:
    _workbook(tmp_path, ["age", "sex"], [30, "f"], ["=A2+1", "m"])
    sudare("risk", "t.xlsx").fails(3, "cell A3", "formula", secret="A2+1")
    book = _workbook(tmp_path, ["age", "sex"], [30, "f"], [31, "m"])
    book.active.merge_cells("A2:A3")
    book.save(tmp_path / "t.xlsx")
    sudare("risk", "t.xlsx").fails(3, "merged")


def _workbook(folder: Path, *rows: list[Any]) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    if any(cell is None for row in rows for cell in row):
        book.active.cell(3, 1).value = None
    book.save(folder / "t.xlsx")
    return book


@fault(71, "deep files, bad settings and odd addresses are explained")
def test_odd_settings_and_files_are_explained(sudare: Run, csv: Run) -> None:
    path = csv(GOOD)
    csv("a = " + "[" * 50_000 + "]" * 50_000, "deep.toml")
    sudare("risk", path, "--roles", "deep.toml").fails(2, "deep.toml")
    sudare("anonymize", path, "-r", "deep.toml", "-o", "o.csv").fails(2, "deep.toml")
    csv("[" * 50_000 + "]" * 50_000, "t.csv.sudare.json")
    sudare("risk", path).fails(3, "t.csv.sudare.json")
    (path.parent / "t.csv.sudare.json").unlink()
    for name, value in (("SUDARE_THREADS", "many"), ("SUDARE_THREADS", "-4"), ("SUDARE_MEMORY", "lots")):
        sudare("risk", path, env={name: value}).fails(2, name)
    for address in ("postgres://[::1", "duckdb://[x", "postgres://h:999999/x", "http://h/t.csv", "://"):
        sudare("risk", address, "--table", "t").fails(2)
    sudare("risk", "duckdb://", "--table", "t").fails(3, "duckdb://")


@fault(71, "a damaged page of a Parquet file is explained")
def test_a_damaged_page_is_explained(sudare: Run, tmp_path: Path) -> None:
    cells = np.random.default_rng(1).random(20_000)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": cells, "b": list(map(str, cells))}), path, use_dictionary=False)
    damaged = bytearray(path.read_bytes())
    for start in (60_000, 300_000):
        damaged[start : start + 400] = bytes(byte ^ 0x5A for byte in damaged[start : start + 400])
    path.write_bytes(damaged)
    sudare("risk", "t.parquet").fails(3, "damaged")
    with pytest.raises(DataError, match="damaged"):
        risk(open_table(path))


@fault(71, "closed and full streams are explained where there is a stream left")
@pytest.mark.parametrize(
    ("streams", "code", "told"),
    [
        (">&-", 3, "standard output"),
        (">/dev/full", 3, "No space left"),
        (">/dev/full -f csv", 3, "No space left"),
        ("2>&-", 0, ""),
        ("2>/dev/full", 0, ""),
        (">&- 2>&-", 3, ""),
        ("--nonsense 2>/dev/full", 2, ""),
        ("--nonsense 2>&-", 2, ""),
    ],
)
def test_streams_that_take_nothing(csv: Run, streams: str, code: int, told: str) -> None:
    command = f"{sys.executable} -m sudare.cli.main risk {csv(GOOD)} {streams}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert "unexpectedly" not in done.stderr + done.stdout
    assert "Exception ignored" not in done.stderr
    assert "error:" not in done.stdout


@fault(72, "columns called 2019 and 2020 survive a CSV release")
def test_columns_called_by_years_survive(sudare: Run, tmp_path: Path) -> None:
    years = pa.table({"2019": [1, 2, 3, 4], "2020": [5, 6, 7, 8]})
    pq.write_table(years, tmp_path / "t.parquet")
    (tmp_path / "r.toml").write_text('[[step]]\nmethod = "noise"\ncolumns = ["2019"]\nsd = 0.1\n')
    roles = ("--quasi", "2019", "--sensitive", "2020")
    call = ("-r", "r.toml", "-o", "o.csv", "--truth", "truth.csv", "--demo")
    sudare("anonymize", "t.parquet", *roles, *call).works()
    assert open_table(tmp_path / "o.csv").columns == ("2019", "2020")
    assert open_table(tmp_path / "o.csv").rows == 4
    sudare("utility", "t.parquet", "o.csv", "--truth", "truth.csv", *roles).works()


@fault(73, "names of columns are no links and no tags in Markdown")
def test_markdown_is_escaped(sudare: Run, csv: Run) -> None:
    path = csv("user,[x](http://evil),<img src=x>,a|b,![y](z)\na,1,2,3,4\nb,2,3,4,5\n")
    shown = sudare("risk", path, "--user", "user", "-f", "md").works().out
    assert "](" not in shown.replace("\\](", "")
    assert "<img" not in shown
    assert "http://" not in shown
    assert {line.replace("\\|", "").count("|") for line in shown.splitlines() if line.startswith("|")} == {11}


CODED = "user,age,zip,income\na,30,?,-9\nb,?,10115,20\nc,-9,NA,20\nd,30,10115,-9.0\n"


@fault(74, "codes of missing values named in the roles are missing everywhere")
def test_codes_are_missing_values(sudare: Run, csv: Run, tmp_path: Path) -> None:
    path = csv(CODED)
    csv(
        '[roles]\nuser = "user"\nquasi = ["age", "zip"]\nsensitive = ["income"]\nmissing = ["?", -9, "NA"]\n',
        "r.toml",
    )
    plain = csv("user,age,zip,income\na,30,,\nb,,10115,20\nc,,,20\nd,30,10115,\n", "plain.csv")
    roles = ("--user", "user", "--quasi", "age,zip", "--sensitive", "income")
    for verb in (("risk",), ("risk", "--missing", "drop"), ("disclosure",)):
        coded = sudare(*verb, path, "--roles", "r.toml", "-f", "json").works()
        assert (
            json.loads(coded.out)["rows"]
            == json.loads(sudare(*verb, plain, *roles, "-f", "json").works().out)["rows"]
        )
    (tmp_path / "s.toml").write_text('[[step]]\nmethod = "round"\ncolumn = "income"\nto = 10\n')
    sudare("anonymize", path, "--roles", "r.toml", "-r", "s.toml", "-o", "o.csv", "--demo").works()
    assert open_table(tmp_path / "o.csv").to_pyarrow()["income"].to_pylist().count(None) == 2
    csv('[roles]\nmissing = [["?"]]\n', "wrong.toml")
    sudare("risk", path, "--roles", "wrong.toml").fails(2, "missing")


@fault(74, "codes are missing in files and in memory alike")
@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv", "memory"])
def test_codes_are_nulls_whatever_the_table_was(tmp_path: Path, kind: str) -> None:
    table = pa.table({"a": [1, -9, 3], "b": [0.5, -9.0, 9.0], "c": ["x", "?", "-9"]})
    found = open_table(_saved(table, tmp_path, kind), missing=["?", "-9"]).to_pyarrow().to_pydict()
    assert found == {"a": [1, None, 3], "b": [0.5, None, 9.0], "c": ["x", None, None]}


NAN = float("nan")


@fault(75, "NaN is missing and -0.0 is 0.0, whatever the table was")
@pytest.mark.parametrize("kind", ["pandas", "arrow backed", "polars", "memory", "arrow", "parquet", "duckdb"])
def test_nan_is_missing_and_zero_has_no_sign(tmp_path: Path, kind: str) -> None:
    table = pa.table({"x": [NAN, None, 0.0, -0.0, 1.0, NAN], "y": pa.array([0.0, -0.0] * 3, pa.float32())})
    ds = open_table(**_source(table, tmp_path, kind), quasi=["x", "y"])
    cells = ds.to_pyarrow()
    assert cells["x"].to_pylist() == [None, None, 0.0, 0.0, 1.0, None]
    assert not np.signbit(cells["x"].to_numpy()[2:5]).any()
    assert not np.signbit(cells["y"].to_numpy()).any()
    assert {row["attributes"][0]: row["values"] for row in risk(ds).rows} == {"x": 3, "y": 1}
    assert {row["attributes"][0]: row["values"] for row in risk(ds, missing="drop").rows} == {"x": 2, "y": 1}
    assert next(row["value"] for row in disclosure(ds).rows if row["measure"] == "k") == 1


def _source(table: pa.Table, folder: Path, kind: str) -> dict[str, Any]:
    if kind == "duckdb":
        with duckdb.connect(str(folder / "t.duckdb")) as database:
            database.register("given", table)
            database.execute("CREATE TABLE t AS FROM given")
        return {"source": f"duckdb://{folder}/t.duckdb", "table": "t"}
    frames = {
        "pandas": lambda: table.to_pandas(),
        "arrow backed": lambda: table.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": lambda: pl.from_arrow(table),
    }
    return {"source": frames[kind]() if kind in frames else _saved(table, folder, kind)}


@fault(75, "-0.0 in a text file is 0.0")
def test_zero_of_a_text_file_has_no_sign(sudare: Run, csv: Run) -> None:
    assert (
        rows_of(sudare("risk", csv("user,x\na,0.0\nb,-0.0\nc,1.5\n"), "-a", "x", "-f", "json"))["x"]["values"]
        == 2
    )


def test_a_warning_of_partitions_names_the_column(tmp_path: Path) -> None:
    (tmp_path / "zip=007").mkdir()
    pq.write_table(pa.table({"a": [1]}), tmp_path / "zip=007" / "t.parquet")
    with pytest.warns(SudareWarning, match="zip=") as caught:
        open_table(tmp_path / "zip=007" / "t.parquet")
    assert "007" not in str(caught[0].message)
