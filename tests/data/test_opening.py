"""sudare.open: every kind of source, the same table."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import ibis
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.errors import DataError, SudareWarning, UsageError

TABLE = pa.table({"user": ["007", "7"], "zip": ["01234", "1234"], "n": [1, 2], "price": [1.5, None]})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = "user,zip,n,price\n007,01234,1,1.50\n7,1234,2,\n"
    (tmp_path / "t.csv").write_text(text)
    (tmp_path / "bom.csv").write_text(text, encoding="utf-8-sig")
    (tmp_path / "t.tsv").write_text(text.replace(",", "\t"))
    (tmp_path / "semi.csv").write_text(text.replace(",", ";"))
    (tmp_path / "utf16.csv").write_text(text, encoding="utf-16")
    (tmp_path / "mixed.csv").write_bytes(text.encode().replace(b"\n", b"\r\n", 1))
    (tmp_path / "mac.csv").write_bytes(text.encode().replace(b"\n", b"\r"))
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode()))
    with zipfile.ZipFile(tmp_path / "t.csv.zip", "w") as archive:
        archive.writestr("t.csv", text)
    pq.write_table(TABLE, tmp_path / "t.parquet")
    pyarrow.feather.write_feather(TABLE, tmp_path / "t.arrow")
    workbook = openpyxl.Workbook()
    for row in [TABLE.column_names, *zip(*(c.to_pylist() for c in TABLE.columns))]:
        workbook.active.append(row)
    workbook.save(tmp_path / "t.xlsx")
    return tmp_path


FILES = "t.csv bom.csv t.tsv semi.csv utf16.csv mixed.csv mac.csv t.csv.gz t.csv.zip t.parquet t.arrow t.xlsx".split()


@pytest.mark.parametrize("name", FILES)
def test_every_kind_of_file_gives_the_same_table(folder: Path, name: str) -> None:
    ds = sudare.open(folder / name, user="user")
    assert ds.to_pyarrow().to_pydict() == TABLE.to_pydict()
    assert (ds.rows, ds.users, ds.columns) == (2, 2, ("user", "zip", "n", "price"))


def test_tables_in_memory_give_the_same_table() -> None:
    frame = TABLE.to_pandas()
    frame.index = [5, 5]  # labels are not data
    for source in (TABLE, frame, pl.from_arrow(TABLE), pl.from_arrow(TABLE).lazy(), ibis.memtable(TABLE)):
        found = sudare.open(source, user="user").to_pyarrow()
        assert {n: found[n].to_pylist() for n in found.column_names} == TABLE.to_pydict()


def test_a_glob_is_one_table(tmp_path: Path) -> None:
    for i in (2, 1):
        pq.write_table(TABLE, tmp_path / f"{i}.parquet")
        (tmp_path / f"{i}.csv").write_text(f"a,b\n{i},x\n")
    assert sudare.open(str(tmp_path / "*.parquet")).rows == 4
    assert sudare.open(str(tmp_path / "*.csv")).to_pyarrow()["a"].to_pylist() == [1, 2]


def test_numbers_become_numbers_only_when_all_are(tmp_path: Path) -> None:
    rows = "\n".join(f"{i},{i}" for i in range(300))
    (tmp_path / "t.csv").write_text(f"a,b\n{rows}\n1e3,x\n")
    kinds = sudare.open(tmp_path / "t.csv").schema
    assert (kinds.field("a").type, kinds.field("b").type) == (pa.float64(), pa.string())


def test_user_and_identifier_columns_stay_text(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("who,what\n12345678901234567890,1\n2,2\n")
    ds = sudare.open(tmp_path / "t.csv", user="who", identifier="what")
    assert ds.to_pyarrow().to_pydict() == {"who": ["12345678901234567890", "2"], "what": ["1", "2"]}


def test_quoted_newlines_delimiters_and_quotes_survive(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b'a,b\r\n"x,\r\ny","say ""hi"""\r\n"",\r\n')
    assert sudare.open(tmp_path / "t.csv").to_pyarrow().to_pydict() == {
        "a": ["x,\r\ny", ""],
        "b": ['say "hi"', None],
    }


def test_roles_come_from_a_file_and_the_call_wins(tmp_path: Path) -> None:
    (tmp_path / "sudare.toml").write_text('[roles]\nuser = "user"\nquasi = ["zip", "n"]\n')
    ds = sudare.open(TABLE, roles=tmp_path / "sudare.toml", sensitive="n")
    assert ds.roles.to_dict() == {"user": "user", "quasi": ["zip"], "sensitive": ["n"]}


def test_a_record_column_may_have_another_role_and_survives_the_merge(tmp_path: Path) -> None:
    (tmp_path / "sudare.toml").write_text('[roles]\nuser = "user"\nrecord = ["n"]\nquasi = ["zip", "n"]\n')
    ds = sudare.open(TABLE, roles=tmp_path / "sudare.toml", sensitive="n")
    assert ds.roles.to_dict() == {"user": "user", "record": ["n"], "quasi": ["zip"], "sensitive": ["n"]}
    assert (ds.roles.role_of("n"), ds.roles.records_only) == ("sensitive", ())
    alone = sudare.open(TABLE, roles=tmp_path / "sudare.toml", record="zip")
    assert alone.roles.to_dict() == {"user": "user", "record": ["zip"], "quasi": ["zip", "n"]}
    only = sudare.open(TABLE, user="user", record=["n"], quasi="zip")
    assert (only.roles.role_of("n"), only.roles.records_only) == ("record", ("n",))
    with pytest.raises(UsageError, match="'m' \\(record\\)"):
        sudare.open(TABLE, record="m")


def test_unknown_columns_are_named_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'user'"):
        sudare.open(TABLE, user="usr")


def test_a_column_with_two_roles_is_refused() -> None:
    with pytest.raises(UsageError, match="two roles"):
        sudare.open(TABLE, user="user", quasi=["user"])


@pytest.mark.parametrize(
    "wrong",
    [{"user": ["user"]}, {"quasi": [1]}, {"quasi": None}, {"quasi": {1}}, {"roles": {"user": "user"}}],
)
def test_roles_that_are_no_names_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        sudare.open(TABLE, **wrong)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("roles = 3", "a table of roles"),
        ("[[roles]]", "a table of roles"),
        ("[roles]\nusr = 'a'\nquasy = 'b'\nother = 3", r"'usr', did you mean 'user'.*'quasy'.*other: give"),
        ("[roles]\nuser = ['a']", "user: give"),
        ("[roles]\nquasi = ['n', 'n']", "two roles"),
    ],
)
def test_every_fault_of_a_roles_file_is_told_at_once(tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / "sudare.toml").write_text(content)
    with pytest.raises(UsageError, match=told):
        sudare.open(TABLE, roles=tmp_path / "sudare.toml")


@pytest.mark.parametrize("roles", ["3", '{"user": 3}', '{"quasi": [1]}', '{"x": "n"}'])
def test_a_sidecar_with_wrong_roles_is_explained(tmp_path: Path, roles: str) -> None:
    (tmp_path / "t.csv").write_text("n\n1\n")
    (tmp_path / "t.csv.sudare.json").write_text(f'{{"roles": {roles}}}')
    with pytest.raises(DataError, match="roles beside the release"):
        sudare.open(tmp_path / "t.csv")


def test_files_of_different_kinds_are_no_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("n\n1\n")
    pq.write_table(TABLE, tmp_path / "t.parquet")
    with pytest.raises(UsageError, match="different kinds"):
        sudare.open(str(tmp_path / "t.*"))
    (tmp_path / "t.parquet.gz").write_bytes(b"")
    with pytest.raises(DataError, match="unpack it"):
        sudare.open(tmp_path / "t.parquet.gz")


def test_arrow_files_and_streams_are_one_table(tmp_path: Path) -> None:
    pyarrow.feather.write_feather(TABLE, tmp_path / "1.arrow")
    with pa.OSFile(str(tmp_path / "2.arrow"), "wb") as file, pa.ipc.new_stream(file, TABLE.schema) as stream:
        stream.write_table(TABLE)
    assert sudare.open(str(tmp_path / "*.arrow")).rows == 4
    pyarrow.feather.write_feather(TABLE.rename_columns(["a", "b", "c", "d"]), tmp_path / "3.arrow")
    with pytest.raises(DataError, match=r"3\.arrow: its columns differ"):
        sudare.open(str(tmp_path / "*.arrow"))
    (tmp_path / "3.arrow").write_bytes(b"hello")
    with pytest.raises(DataError, match=r"3\.arrow: not a readable"):
        sudare.open(str(tmp_path / "*.arrow"))


def test_null_users_are_an_error_with_the_count() -> None:
    with pytest.raises(DataError, match="1 records have no user"):
        sudare.open(pa.table({"user": ["a", None]}), user="user")


def test_mixed_types_are_compared_as_text() -> None:
    with pytest.warns(SudareWarning, match="S-MIXED"):
        ds = sudare.open(pd.DataFrame({"a": [1, "x", None]}))
    assert ds.to_pyarrow()["a"].to_pylist() == ["1", "x", None]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "empty"),
        (b"a,b\n", "no row"),
        (b"a,A\n1,2\n", "same name"),
        (b"a,b\n1,2\n3\n", "line 3"),
        (b'a,b\n1,"2\n', "quote"),
        (b"a,b\n1,\x002\n", "NUL"),
        (b"a,b\n\x82\xa0,2\n", "--encoding"),
    ],
)
def test_bad_files_are_explained(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataError, match=told):
        sudare.open(tmp_path / "t.csv")


def test_a_declared_encoding_is_used_and_never_guessed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("名,b\nあ,2\n".encode("shift_jis"))
    assert sudare.open(tmp_path / "t.csv", encoding="shift_jis").to_pyarrow().to_pydict() == {
        "名": ["あ"],
        "b": [2],
    }
    with pytest.raises(DataError, match="not cp932|not shift_jis|not euc_jp"):
        sudare.open(tmp_path / "t.csv", encoding="euc_jp")


def test_repr_shows_shape_and_roles_but_no_cell() -> None:
    shown = repr(sudare.open(TABLE, user="user", quasi="zip"))
    assert "2 records x 4 columns" in shown
    assert "01234" not in shown


def test_batches_stream_while_other_queries_run() -> None:
    ds = sudare.open("example:histories:50", user="user")
    seen = sum(batch.num_rows + 0 * ds.users for batch in ds.batches(["goods"], rows=100))
    assert seen == ds.rows


def test_public_data_are_found_by_name_and_checked(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sudare.open("retail400", user="user_id").users == 400
    (tmp_path / "retail400.parquet").write_bytes(b"PAR1")
    monkeypatch.setenv("SUDARE_DATA", str(tmp_path))
    with pytest.raises(DataError, match="differs"):
        sudare.open("retail400")
    monkeypatch.delenv("SUDARE_DATA")
    with pytest.raises(DataError, match="SUDARE_DATA"):
        sudare.open("retail400")


def test_a_table_in_memory_is_forgotten_with_its_last_dataset() -> None:
    from sudare.data.connection import connect

    ds = sudare.open(TABLE)
    again, view = ds.with_roles(user="user"), str(ds.view)
    del ds
    assert again.rows == 2
    del again
    assert view not in [name for (name,) in connect().sql("SELECT view_name FROM duckdb_views()").fetchall()]
