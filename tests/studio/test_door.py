"""Who gets in: one person, on this machine, by an address that works once."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.studio.conftest import BASE, PORT, TOKEN, Browser

from sudare.studio.server import listen, prepared

PAGES = [
    "/",
    "/roles",
    "/risk",
    "/cost",
    "/recipe",
    "/run",
    "/result",
    "/download",
    "/events",
    "/static/studio.js",
]


def test_the_server_listens_on_loopback_only() -> None:
    with listen(0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize("path", PAGES)
def test_without_the_cookie_there_is_nothing(outside: Browser, path: str) -> None:
    answer = outside.get(path)
    assert answer.status_code == 403
    assert "sudare studio" in answer.text
    assert answer.headers["cache-control"] == "no-store"


def test_the_address_works_once(outside: Browser, app: object) -> None:
    first = outside.get(f"/?token={TOKEN}")
    assert first.status_code == 200
    assert str(first.url) == f"{BASE}/"
    (redirect,) = first.history
    cookie = redirect.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert f"sudare_{PORT}=" in cookie
    assert TOKEN not in cookie
    assert Browser(app).get(f"/?token={TOKEN}").status_code == 403


def test_a_wrong_token_opens_nothing(outside: Browser) -> None:
    assert outside.get("/?token=wrong").status_code == 403
    assert outside.get("/?token=").status_code == 403
    assert outside.get(f"/roles?token={TOKEN}").status_code == 403


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1:1", "", f"[::1]:{PORT}"])
def test_a_foreign_host_is_refused(browser: Browser, host: str) -> None:
    assert browser.get("/", headers={"host": host}).status_code == 400


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:8765", "http://127.0.0.1:1"]
)
def test_a_foreign_origin_is_refused(browser: Browser, origin: str) -> None:
    assert browser.get("/", headers={"origin": origin}).status_code == 403


def test_another_site_cannot_even_link_here(browser: Browser) -> None:
    assert browser.get("/risk", headers={"sec-fetch-site": "cross-site"}).status_code == 403


@pytest.mark.parametrize("path", PAGES[:-2])
def test_every_answer_is_strict(browser: Browser, path: str) -> None:
    answer = browser.get(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert " on" + "click=" not in answer.text
    assert "<style" not in answer.text
    assert "style=" not in answer.text
    assert "<script>" not in answer.text


def test_large_bodies_are_refused(browser: Browser) -> None:
    assert browser.post("/recipe", toml="x" * 2_000_000).status_code == 413


@pytest.mark.parametrize(
    "path",
    ["../secret.csv", "/etc/passwd", "link.csv", "sub/../../secret.csv", "", "a\0b", "file:///etc/passwd"],
)
def test_files_outside_the_folder_do_not_open(browser: Browser, folder: Path, path: str) -> None:
    (folder.parent / "secret.csv").write_text("a\n1\n")
    (folder / "link.csv").symlink_to(folder.parent / "secret.csv")
    answer = browser.post("/choose", path=path)
    assert answer.status_code == 400
    assert "That did not work" in answer.text
    assert "secret.csv" not in browser.get("/").text


@pytest.mark.parametrize("name", ["../sudare.css", "..%2f..%2fapp.py", "app.py", "base.html.j2"])
def test_only_named_assets_are_served(browser: Browser, name: str) -> None:
    assert browser.get(f"/static/{name}").status_code == 404
    assert browser.get(f"/download/{name}").status_code == 404


def test_the_printed_address_is_on_loopback_and_unguessable(folder: Path) -> None:
    first, _, address = prepared(str(folder), 4321)
    second, _, other = prepared(str(folder), 4321)
    first.close()
    second.close()
    assert address.startswith("http://127.0.0.1:4321/?token=")
    assert address != other
    assert len(address.partition("token=")[2]) >= 32


def test_an_interrupt_ends_the_studio_and_its_files(folder: Path, tmp_path: Path) -> None:
    import os
    import signal
    import subprocess
    import sys

    command = [sys.executable, "-m", "sudare.cli.main", "studio", "--no-browser"]
    private = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(command, cwd=folder, env=private, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert "http://127.0.0.1:" in process.stdout.readline()
    process.stdout.readline()
    assert list(tmp_path.glob("sudare-*/*/studio-*"))
    process.send_signal(signal.SIGINT)
    told, _ = process.communicate(timeout=60)
    assert "has ended" in told
    assert process.returncode == 0
    assert not list(tmp_path.glob("sudare-*"))
