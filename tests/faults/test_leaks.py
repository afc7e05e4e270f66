"""Leaks, 49 to 53: what must appear nowhere."""

from __future__ import annotations

import os
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


@fault(50, "no socket is opened off loopback")
def test_50(folder: Path) -> None:
    guard = """
import sys
def watch(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo"):
        place = arguments[1] if event != "socket.getaddrinfo" else arguments
        host = place[0] if isinstance(place, tuple) else place
        if host not in ("127.0.0.1", "::1", "localhost", None) and not str(host).startswith("/"):
            print("SOCKET", event, host, file=sys.stderr)
sys.addaudithook(watch)
from sudare.cli.main import run
sys.exit(run(sys.argv[1:]))
"""
    for call in (["demo"], ["risk", "shop.parquet", "--user", "user"]):
        done = subprocess.run(
            [sys.executable, "-c", guard, *call], cwd=folder, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert "SOCKET" not in done.stderr


@fault(51, "an external report shows no count below 10 people")
def test_51(folder: Path, sudare: Run) -> None:
    call = ("report", "shop.parquet", "--user", "user", "--quasi", "goods", "--sensitive", "price")
    sudare(*call, "-o", "ext.html", "--audience", "external").works()
    page = (folder / "ext.html").read_text()
    assert CANARY not in page
    assert "u001" not in page


@fault(53, "formulas, paths and markup in names and values do nothing")
def test_53(folder: Path, sudare: Run) -> None:
    nasty = ["=cmd|'/C calc'!A0", "../../etc/passwd", "<img src=x onerror=alert(1)>"]
    table = pa.table({"user": [f"u{i}" for i in range(30)], nasty[2]: nasty * 10, nasty[1]: list(range(30))})
    pq.write_table(table, folder / "nasty.parquet")
    before = set(os.listdir(folder.parent))
    sudare("risk", "nasty.parquet", "--user", "user").works()
    sudare("report", "nasty.parquet", "--user", "user", "-o", "n.html").works()
    page = (folder / "n.html").read_text()
    assert "<img src=x" not in page
    assert set(os.listdir(folder.parent)) == before
