"""Leaks, 49 to 53: what must appear nowhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sudare.methods import Noise, Suppress
from sudare.methods.recipe import Recipe

Run = Callable[..., Any]
fault = pytest.mark.fault
CANARY = "Zebediah-Canary-4711"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A shop with one customer whom everybody would recognise."""
    draw = np.random.default_rng(3)
    users = [f"u{i:03d}" for i in draw.integers(0, 60, 800)] + [CANARY] * 3
    goods = [f"g{i:02d}" for i in draw.integers(0, 25, 800)] + [f"goods of {CANARY}"] * 3
    table = {"user": users, "goods": goods, "price": [*draw.integers(1, 90, 800).tolist(), 1, 2, 3]}
    pq.write_table(pa.table(table), tmp_path / "shop.parquet")
    steps = (Suppress(columns=["goods"]), Noise(columns=["price"], sd=0.5))
    (tmp_path / "r.toml").write_text(Recipe(steps).to_toml())
    return tmp_path


@fault(49, "a canary person appears in no stream, report, temporary or error")
def test_49(folder: Path, sudare: Run) -> None:
    roles = ("--user", "user", "--quasi", "goods", "--sensitive", "price")
    env = {"TMPDIR": str(folder / "tmp")}
    (folder / "tmp").mkdir()
    streams = ""
    for call in (
        ("risk", "shop.parquet", *roles),
        ("risk", "shop.parquet", *roles, "--combine", "2", "--format", "json"),
        ("disclosure", "shop.parquet", *roles),
        ("plan", "shop.parquet", *roles, "--value", "goods", "-k", "2..4"),
        (
            "anonymize",
            "shop.parquet",
            *roles,
            "-r",
            "r.toml",
            "-o",
            "out.parquet",
            "--truth",
            "truth.parquet",
            "--demo",
        ),
        ("attack", "shop.parquet", "out.parquet", *roles, "--truth", "truth.parquet"),
        ("utility", "shop.parquet", "out.parquet", *roles),
        ("report", "shop.parquet", *roles, "-o", "report.html", "--audience", "external"),
        ("risk", "shop.parquet", "--user", "goods_", *roles[2:]),
        ("anonymize", "shop.parquet", *roles, "-r", "none.toml", "-o", "o2.parquet"),
    ):
        done = sudare(*call, env=env)
        assert "Traceback" not in done.err
        streams += done.out + done.err
    assert CANARY not in streams
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in ("shop.parquet",):
            assert CANARY.encode() not in path.read_bytes(), path.name
    assert CANARY not in str(pq.read_table(folder / "out.parquet").to_pydict())


WHOLE_LOOP = (
    "demo --users 30",
    "init shop.parquet -o roles.toml",
    "risk shop.parquet --roles roles.toml --combine 2",
    "disclosure shop.parquet --roles roles.toml",
    "plan shop.parquet --user user --value goods -k 2..4",
    "anonymize shop.parquet --user user --quasi goods --sensitive price -r r.toml -o o.csv --truth truth.csv --demo",
    "attack shop.parquet o.csv --user user --quasi goods --sensitive price --truth truth.csv",
    "utility shop.parquet o.csv --user user --quasi goods --sensitive price",
    "report shop.parquet o.csv --user user --quasi goods --sensitive price --truth truth.csv",
    "fetch",
)
GUARD = """
import sys
def watch(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo"):
        place = arguments[1] if event != "socket.getaddrinfo" else arguments
        host = place[0] if isinstance(place, tuple) else place
        if host not in ("127.0.0.1", "::1", "localhost", None) and not str(host).startswith("/"):
            print("SOCKET", event, host, file=sys.stderr)
sys.addaudithook(watch)
from sudare.cli.main import run
for line in sys.argv[1:]:
    code = run(line.split())
    assert code == 0, (line, code)
told = [line.split() for line in open("/proc/net/snmp") if line.startswith("Ip:")]
print("NO ROUTE", dict(zip(*told))["OutNoRoutes"])
"""


@fault(50, "no socket is opened off loopback")
def test_50(folder: Path) -> None:
    """Python tells of its own sockets; in a network of its own the kernel counts whatever else looks for a way out."""
    alone = subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode == 0
    command = [*(["unshare", "-rn"] if alone else []), sys.executable, "-c", GUARD, *WHOLE_LOOP]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "SOCKET" not in done.stderr
    if alone:
        assert done.stdout.splitlines()[-1] == "NO ROUTE 0"


COUNTED = {"records", "people", "different values", "missing", "gave up", "clusters", "pilot (our optimiser)"}
SHARED = {"re-identified", "95% from", "to", "blind guess", "distribution moved by"}
PEOPLE = 61


@fault(51, "an external report shows no count below 10 people, and none by subtraction")
def test_51(folder: Path, sudare: Run) -> None:
    roles = ("--user", "user", "--quasi", "goods", "--sensitive", "price")
    files = ("-r", "r.toml", "-o", "out.parquet", "--truth", "truth.parquet", "--demo")
    sudare("anonymize", "shop.parquet", *roles, *files).works()
    call = ("report", "shop.parquet", "out.parquet", "--truth", "truth.parquet", *roles)
    for name in ("ext.html", "ext.md"):
        sudare(*call, "-o", name, "--audience", "external").works()
        sizes = r'(?:width|height|viewBox)="[\d. ]+"'  # of pictures, in points
        text = re.sub(sizes, "", (folder / name).read_text())
        for secret in (CANARY, "u001", "g07", "803"):
            assert secret not in text, (name, secret)
    page = (folder / "ext.md").read_text()
    assert not re.search(rf"(?<![\d.,]){PEOPLE}(?![\d.,]*\d)", page)
    counts = [(*place, _count(cell)) for *place, cell in _cells(page, COUNTED)]
    counts += [(name, "", _count(told)) for name, told in re.findall(r"- (Records|People): (.*)", page)]
    assert len(counts) > 20
    for column, row, shown in counts:  # tens, so that differences are tens as well
        assert shown >= 10, (column, row, shown)
        assert shown % 10 == 0, (column, row, shown)
    shares = _cells(page, SHARED)
    assert len(shares) > 20
    for column, row, cell in shares:
        people = float(cell.split()[-1].rstrip("%")) / 100 * 60  # the people shown
        bound = cell.startswith(("below", "above"))
        assert people == pytest.approx(round(people / 10) * 10, abs=0.1), (column, row, cell)
        assert 9.9 < people < 50.1 or (bound and people >= 9.9), (column, row, cell)


def _cells(page: str, wanted: set[str]) -> list[tuple[str, str, str]]:
    """Column, row and cell of every table of a Markdown page, in the wanted columns."""
    found, header = [], []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")] if line.startswith("|") else []
        if not cells:
            header = []
        elif not header:
            header = cells
        elif not set(cells[0]) <= set("-:"):
            found += [(name, cells[0], cell) for name, cell in zip(header, cells) if name in wanted and cell]
    return found


def _count(shown: str) -> float:
    return float(shown.replace("below ", "").replace(",", ""))


@fault(53, "formulas, paths and markup in names and values do nothing")
def test_53(folder: Path, sudare: Run) -> None:
    cells = ["=cmd|'/C calc'!A0", "../../etc/passwd", "<img src=x onerror=alert(1)>"]
    formula, path, markup = '=HYPERLINK("http://evil")', "../../up", "<img src=x onerror=alert(1)>"
    rows = range(60)
    table = {
        "user": [f"u{i}" for i in rows],
        markup: cells * 20,
        path: [i % 4 for i in rows],
        formula: cells * 20,
    }
    pq.write_table(pa.table(table), folder / "nasty.parquet")
    toml = f"[roles]\nuser = 'user'\nquasi = ['{markup}', '{path}']\nsensitive = ['{formula}']\n"
    (folder / "roles.toml").write_text(toml)
    (folder / "p.toml").write_text('[[step]]\nmethod = "pseudonymize"\n')
    before = set(os.listdir(folder.parent))
    source = ("nasty.parquet", "--roles", "roles.toml")
    sudare("risk", *source).works()
    for name in ("n.html", "n.md"):
        sudare("report", *source, "-o", name).works()
        page = (folder / name).read_text()
        assert "<img src=x" not in page
        assert "onerror=alert(1)&gt;" in page, "the name is there, as text"
    for name in ("n.csv", "n.xlsx"):
        call = ("anonymize", *source, "-r", "p.toml", "-o", name, "--demo", "--escape-formulas")
        assert "warning S-FORMULA" in sudare(*call).works().err
    risky = ("=", "+", "-", "@")
    assert [c for c in _texts(folder / "n.csv") + _texts(folder / "n.xlsx") if c.startswith(risky)] == []
    assert set(os.listdir(folder.parent)) == before


@fault(53, "formulas, paths and markup in names and values do nothing")
def test_53_text_stays_text_in_a_workbook_without_escapes(folder: Path) -> None:
    import openpyxl

    from sudare.data.files.writers import write_table

    name = "=1+1"
    write_table(pa.table({name: ["=2+2", "+3", None]}), folder / "n.xlsx")
    sheet = openpyxl.load_workbook(folder / "n.xlsx").active
    kinds = {cell.value: cell.data_type for row in sheet.iter_rows() for cell in row}
    assert kinds["=2+2"] == kinds[name] == "s"


def _texts(path: Path) -> list[str]:
    """Every text cell of a file, with the names of its columns."""
    if path.suffix == ".csv":
        import csv

        with path.open(newline="") as file:
            return [cell for row in csv.reader(file) for cell in row]
    import openpyxl

    sheet = openpyxl.load_workbook(path).active
    return [cell for row in sheet.iter_rows(values_only=True) for cell in row if isinstance(cell, str)]
