"""52, and 27 and 53 in the studio: the real server in a process of its own, met as its browser and as a stranger."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

fault = pytest.mark.fault
NAME = "<script>alert(1)</script>"
CELL = "=cmd|'/C calc'!A0"
FILE = "<img src=x onerror=alert(1)>.parquet"
PAGES = ("/", "/roles", "/risk", "/cost", "/recipe", "/run", "/result", "/download", "/static/studio.js")


@dataclass
class Studio:
    """A running studio, and requests to it with any headers."""

    port: int
    token: str
    cookie: str = field(default="", init=False)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self, path: str, /, method: str = "GET", body: str | None = None, **headers: str
    ) -> tuple[int, dict[str, str], str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookie and "cookie" not in sent:
            sent["cookie"] = self.cookie
        connection.request(method, path, body, sent)
        answer = connection.getresponse()
        found = answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode()
        connection.close()
        return found

    def post(self, path: str, /, **form: str) -> tuple[int, dict[str, str], str]:
        headers = {"origin": self.origin, "content_type": "application/x-www-form-urlencoded"}
        return self.ask(path, "POST", urlencode(form), **headers)

    def until_done(self, path: str) -> str:
        end = time.monotonic() + 120
        while time.monotonic() < end:
            status, _, page = self.ask(path)
            if 'id="working"' not in page:
                assert status == 200, page
                return page
            time.sleep(0.3)
        raise AssertionError(f"{path} is still working")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    inside = tmp_path_factory.mktemp("studio") / "data"
    inside.mkdir()
    rows = range(60)
    table = {NAME: [i % 4 for i in rows], "cell": [CELL, "a", "b"] * 20, "../up": [f"v{i % 5}" for i in rows]}
    pq.write_table(pa.table(table), inside / FILE)
    (inside.parent / "secret.csv").write_text("a\n1\n")
    (inside / "link.csv").symlink_to(inside.parent / "secret.csv")
    return inside


@pytest.fixture
def studio(folder: Path) -> Iterator[Studio]:
    command = [sys.executable, "-u", "-m", "sudare.cli.main", "studio", "--no-browser"]
    process = subprocess.Popen(
        command, cwd=folder, env=dict(os.environ), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert process.stdout is not None
        told = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", told)
        assert found, told
        yield Studio(int(found[1]), found[2])
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def enter(studio: Studio) -> str:
    """Follow the address; the cookie's header as it was sent."""
    status, headers, _ = studio.ask(f"/?token={studio.token}")
    assert (status, headers["location"]) == (303, "/")
    studio.cookie = headers["set-cookie"].split(";")[0]
    return headers["set-cookie"]


@fault(52, "the studio opens for one person, on this machine, below its folder")
def test_52(studio: Studio) -> None:
    _listens_on_loopback_only(studio.port)
    for path in PAGES:
        assert studio.ask(path)[0] == 403, path
    assert studio.ask("/?token=wrong")[0] == 403
    cookie = enter(studio)
    assert {"HttpOnly", "SameSite=Strict"} <= set(cookie.split("; "))
    assert studio.token not in cookie
    assert studio.ask(f"/?token={studio.token}", cookie="none=1")[0] == 403  # it works once
    for host in ("evil.example", f"evil.example:{studio.port}", "127.0.0.1", f"127.0.0.1:{studio.port + 1}"):
        assert studio.ask("/", host=host)[0] == 400, host
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{studio.port}"):
        assert studio.ask("/", origin=origin)[0] == 403, origin
        assert studio.ask("/choose", "POST", "path=x", origin=origin)[0] == 403, origin
    for path in PAGES:
        _, headers, _ = studio.ask(path)
        _strict(headers)
    for path in ("../secret.csv", "link.csv", "/etc/passwd", "sub/../../secret.csv", "file:///etc/passwd"):
        status, headers, page = studio.post("/choose", path=path)
        assert status == 400, path
        _strict(headers)
        assert "Traceback" not in page
    for path in ("/static/../app.py", "/static/..%2f..%2fapp.py", "/download/..%2f..%2fsecret.csv"):
        assert studio.ask(path)[0] == 404, path


def _listens_on_loopback_only(port: int) -> None:
    """The kernel's own table, and a knock at every other address of this machine."""
    table = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    rows = [line.split() for line in table.splitlines()]
    at = {row[1] for row in rows if len(row) > 3 and row[1].endswith(f":{port:04X}") and row[3] == "0A"}
    assert at == {f"0100007F:{port:04X}"}
    others = {str(found[4][0]) for found in socket.getaddrinfo(socket.gethostname(), port)}
    for address in others - {"127.0.0.1"}:
        if not address.startswith("127."):
            with pytest.raises(OSError):
                socket.create_connection((address, port), timeout=2).close()


def acting(pages: str) -> list[str]:
    """What a browser would run in these pages: scripts written in them, handlers, foreign pictures."""
    found: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            given = dict(attrs)
            if tag == "script" and not (given.get("src") or "").startswith("/static/"):
                found.append("a script without a file of ours")
            found.extend(name for name in given if name.startswith("on"))
            if tag in ("img", "iframe", "object", "embed") or "javascript:" in str(given.get("href")).lower():
                found.append(tag)

    Reader().feed(pages)
    return found


def _strict(headers: dict[str, str]) -> None:
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["cache-control"] == "no-store"


@fault(27, "markup in a column name is escaped")
@fault(53, "formulas, paths and markup in names and values do nothing")
def test_27_and_53_in_the_studio(studio: Studio, folder: Path) -> None:
    enter(studio)
    before = {path.name for path in folder.parent.rglob("*")}
    pages = studio.ask("/")[2]
    assert studio.post("/choose", path=FILE)[0] in (200, 303)
    pages += studio.until_done("/roles")
    studio.post("/roles", **{"role-0": "quasi", "role-1": "sensitive", "role-2": "quasi"})
    pages += studio.until_done("/risk") + studio.until_done(f"/risk/values?{urlencode({'attribute': NAME})}")
    for path in ("/cost", "/recipe", "/run", "/result", "/download"):
        pages += studio.ask(path)[2]
    assert "&lt;script&gt;alert(1)" in pages
    assert acting(pages) == []
    assert {path.name for path in folder.parent.rglob("*")} == before
