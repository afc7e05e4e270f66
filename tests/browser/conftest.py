"""Chromium, a studio in a process of its own, and pictures of what was seen (artifacts/, not in the repository)."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import absent

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
ARTIFACTS = Path(os.environ.get("SUDARE_ARTIFACTS", "artifacts"))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        absent("Chromium (apt-get install chromium)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("playwright (pip install playwright)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def seen() -> Callable[[Any, str], None]:
    """Keep a picture of the whole page."""

    def keep(page: Any, name: str) -> None:
        ARTIFACTS.mkdir(exist_ok=True)
        page.screenshot(path=ARTIFACTS / f"{name}.png", full_page=True)

    return keep


@pytest.fixture
def studio() -> Iterator[Callable[[Path, str | None], str]]:
    """Start `sudare studio` and give the one-time address."""
    started: list[subprocess.Popen[str]] = []

    def start(folder: Path, file: str | None = None) -> str:
        command = [
            sys.executable,
            "-m",
            "sudare.cli.main",
            "studio",
            *([file] if file else []),
            "--no-browser",
        ]
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", process.stdout.readline())
        assert found is not None
        return found.group()

    yield start
    for process in started:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)


def watched(browser: Any, size: str = "desktop", **options: Any) -> tuple[Any, list[str]]:
    """A page and the list of everything that went wrong on it: script errors, blocked or foreign loads."""
    context = browser.new_context(viewport=SIZES[size], accept_downloads=True, **options)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(f"error: {error}"))
    page.on("console", lambda told: faults.append(told.text) if told.type in ("error", "warning") else None)
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith(("http://127.0.0.1", "file://", "blob:", "data:"))
            else faults.append(f"request to {request.url}")
        ),
    )
    return page, faults


def fits(page: Any) -> bool:
    """Nothing sticks out to the right."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1"))
