"""Public data from their publisher: a real server on loopback that holds the publisher's files, byte for byte."""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.cli.main import run
from sudare.data.readers import conversions, publishers
from sudare.data.readers.publishers import PUBLISHERS, fetch
from sudare.errors import DataError, UsageError
from sudare.examples import catalog
from sudare.examples.content import content_digest


class Server(ThreadingHTTPServer):
    """Answers with what it was given; a text is a redirect to it."""

    content: dict[str, bytes | str]
    asked: list[str]

    def at(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        found = self.server.content.get(self.path)
        self.send_response(404 if found is None else 302 if isinstance(found, str) else 200)
        if isinstance(found, str):
            self.send_header("Location", found)
        self.end_headers()
        if isinstance(found, bytes):
            self.wfile.write(found)

    def log_message(self, *told: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as running:
        running.content, running.asked = {}, []
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The empty folder of public data."""
    monkeypatch.setenv("SUDARE_DATA", str(tmp_path))
    return tmp_path


def packed(**files: str) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for name, text in files.items():
            out.writestr(name.replace("_dot_", "."), text)
    return archive.getvalue()


def adult_as_published(data_dir: Path) -> bytes:
    """The two files of the publisher, rebuilt from the table: their checksums say whether we know the format."""
    table = pq.read_table(data_dir / "adult.parquet")
    texts = {}
    for split, first, last in (("data", "", ""), ("test", "|1x3 Cross validator\n", ".")):
        rows = table.filter(pc.equal(table["split"], split)).drop_columns(["split"])
        lines = [", ".join(map(str, row)) for row in zip(*(column.to_pylist() for column in rows.columns))]
        texts[f"adult_dot_{split}"] = first + "".join(f"{line}{last}\n" for line in lines) + "\n"
        known = PUBLISHERS["adult"].files[f"adult.{split}"]
        assert hashlib.sha256(texts[f"adult_dot_{split}"].encode()).hexdigest() == known
    return packed(Index="x", **texts)


def test_the_publishers_files_become_the_table_of_the_published_numbers(
    data_dir: Path, folder: Path, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = adult_as_published(data_dir)
    server.content = {"/adult.zip": "/moved.zip", "/moved.zip": archive}
    assert run(["fetch", "adult", "--url", server.at("/adult.zip")]) == 0
    assert server.at("/adult.zip") in capsys.readouterr().err
    found = sudare.open("adult").to_pyarrow()
    assert found.equals(sudare.open(data_dir / "adult.parquet").to_pyarrow())
    assert [path.name for path in folder.iterdir()] == ["adult.parquet"]
    assert fetch("adult", address=server.at("/none")) == folder / "adult.parquet"
    assert server.asked == ["/adult.zip", "/moved.zip"], "what is there is not fetched again"


@pytest.mark.parametrize(("name", "delimiter", "end"), [("diabetes", ",", "\r\n"), ("adult_arx", ";", "\n")])
def test_text_tables_are_read_as_they_are_published(
    data_dir: Path, folder: Path, server: Server, name: str, delimiter: str, end: str
) -> None:
    table = pq.read_table(data_dir / f"{name}.parquet")
    rows = [table.column_names, *zip(*(column.to_pylist() for column in table.columns))]
    text = "".join(delimiter.join(map(str, row)) + end for row in rows)
    (member,) = PUBLISHERS[name].files
    server.content["/file"] = packed(**{member: text}) if name == "diabetes" else text.encode()
    fetch(name, address=server.at("/file"))
    assert sudare.open(name).rows == table.num_rows


def test_a_workbook_becomes_both_tables_of_purchases(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    moment = dt.datetime(2010, 12, 1, 8, 5)
    for row in (
        conversions.RETAIL,
        [536370, 22728, " CLOCK ", 24, moment, 3.75, 12583, "France"],
        ["C536379", "D", "Discount", -1, moment, 27.5, 14527, "United Kingdom"],
        [536371, "85123A", None, 1, moment, 2, None, "France"],
        [536372, 22633, "WARMER", 6, moment, 1.85, 17850, "Unspecified"],
    ):
        book.active.append(row)
    book.save(tmp_path / "book.xlsx")
    files = {"Online Retail.xlsx": tmp_path / "book.xlsx"}
    whole = conversions.online_retail(files)
    assert whole.column_names == conversions.RETAIL
    assert whole["InvoiceNo"].to_pylist() == ["536370", "C536379", "536371", "536372"]
    assert whole["Description"].to_pylist() == ["CLOCK", "Discount", None, "WARMER"]
    assert whole["UnitPrice"].type == pa.float64()
    assert conversions.retail400(files).to_pylist() == [
        {
            "user_id": 12583,
            "invoice": "536370",
            "date": "2010/12/1",
            "time": "8:05",
            "goods": "22728",
            "price": 3.75,
            "number": 24,
        }
    ]


def test_the_rule_of_the_400_customers_gives_their_table(data_dir: Path) -> None:
    whole = pq.read_table(data_dir / "online_retail.parquet")
    catalog.check_content(conversions.of_400_customers(whole), "retail400", "here")


def test_what_is_not_the_known_file_is_refused_and_not_kept(
    folder: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.content = {
        "/changed": packed(adult_dot_data="1\n", adult_dot_test="1\n"),
        "/other": packed(readme="x"),
        "/text": b"hello",
        "/away": "ftp://127.0.0.1/adult.zip",
        "/loop": "/loop",
        "/large": b"x" * 5000,
    }
    for path, told in (("/changed", "has changed"), ("/other", "not the archive"), ("/text", "has changed")):
        with pytest.raises(DataError, match=told):
            fetch("adult", address=server.at(path))
    with pytest.raises(DataError, match="answered 404"):
        fetch("adult", address=server.at("/none"))
    with pytest.raises(DataError, match="answered 302"):
        fetch("adult", address=server.at("/loop"))
    with pytest.raises(UsageError, match="https"):
        fetch("adult", address=server.at("/away"))
    monkeypatch.setattr(publishers, "LARGEST", 4000)
    with pytest.raises(DataError, match="larger"):
        fetch("adult", address=server.at("/large"))
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("address", ["http://example.org/a.zip", "file:///etc/passwd", "adult.zip", ""])
def test_only_https_addresses_are_asked(folder: Path, address: str) -> None:
    with pytest.raises(UsageError, match="https"):
        publishers._download(address)


def test_names_without_a_publisher_or_a_folder_say_how_to_get_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match="did you mean 'adult'"):
        fetch("adlt")
    with pytest.raises(UsageError, match="Census Bureau"):
        fetch("acs2018")
    with pytest.raises(DataError, match="sudare fetch adult"):
        sudare.open("adult")
    assert run(["fetch", "--format", "csv"]) == 0
    listed = capsys.readouterr().out
    assert all(f"\n{name}," in listed for name in catalog.NAMES)
    monkeypatch.delenv("SUDARE_DATA")
    with pytest.raises(DataError, match="SUDARE_DATA"):
        fetch("adult")


def test_a_file_that_another_program_wrote_counts_by_its_content(data_dir: Path, folder: Path) -> None:
    table = pq.read_table(data_dir / "casc_census.parquet")
    pq.write_table(table, folder / "casc_census.parquet", compression="none")
    assert sudare.open("casc_census").rows == 1080
    changed = table.set_column(0, table.column_names[0], pa.array([1, *table.column(0).to_pylist()[1:]]))
    assert content_digest(changed) != content_digest(table)
    pq.write_table(changed, folder / "casc_census.parquet")
    with pytest.raises(DataError, match="differs"):
        sudare.open("casc_census")
