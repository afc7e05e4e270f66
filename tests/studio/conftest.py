"""A studio in this process: its own folder, its door, a client that came in by the one-time address."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from sudare.studio.app import create_app
from sudare.studio.session import Session

PORT = 8765
BASE = f"http://127.0.0.1:{PORT}"
TOKEN = "one-time-token"


class Browser:
    """What a browser does, without one: keeps cookies, follows redirects, waits for work."""

    def __init__(self, app: Any) -> None:
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app), base_url=BASE, follow_redirects=True
        )

    def get(self, path: str, **options: Any) -> httpx.Response:
        return asyncio.run(self._send("GET", path, **options))

    def post(self, path: str, /, **form: str) -> httpx.Response:
        return asyncio.run(self._send("POST", path, data=form, headers={"origin": BASE}))

    def until(self, path: str, heading: str, seconds: float = 120) -> httpx.Response:
        """Look again until the page's work is done."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            page = self.get(path)
            if 'id="working"' not in page.text:
                assert f"<h1>{heading}" in page.text, page.text
                return page
            time.sleep(0.2)
        raise AssertionError(f"{path} is still working")

    async def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        return await self.client.request(method, path, **options)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "data"
    inside.mkdir()
    return inside


@pytest.fixture
def session(folder: Path) -> Iterator[Session]:
    made = Session(folder=folder)
    yield made
    made.close()


@pytest.fixture
def app(session: Session) -> Any:
    return create_app(session, port=PORT, token=TOKEN)


@pytest.fixture
def outside(app: Any) -> Browser:
    """Somebody without the address."""
    return Browser(app)


@pytest.fixture
def browser(app: Any) -> Browser:
    """The person who opened the address."""
    made = Browser(app)
    assert made.get(f"/?token={TOKEN}").status_code == 200
    return made
