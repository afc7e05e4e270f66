"""Progress on standard error for anything that takes longer than a second.

Whoever works says what it is doing (`stage`); that costs nothing. The command line shows it: in a terminal one
line that is rewritten, elsewhere (a log, a CI system) a line after a second and then every ten seconds.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from typing import TextIO

_doing = ""
_part = 0.0


def stage(what: str, done: int = 0, total: int | None = None) -> None:
    """Say what is being done; `stage("attack euclid", 3, 9)`. Never the value of a cell."""
    global _doing, _part
    _part = done / total if total else 0.0
    _doing = what if not total else f"{what} ({done:,}/{total:,})"


def current() -> str:
    """What is being done; empty when nobody said."""
    return _doing


def part() -> float:
    """How much of the stage is done, from 0 to 1; 0 when nobody said."""
    return _part


@contextlib.contextmanager
def shown(stream: TextIO | None = None, *, first: float = 1.0) -> Iterator[None]:
    """Show the stages of the work inside on `stream` (standard error)."""
    stream = stream or sys.stderr
    stage("working")
    over = threading.Event()
    terminal = stream.isatty()
    line = threading.Thread(target=_show, args=(stream, over, first, terminal), daemon=True)
    line.start()
    try:
        yield
    finally:
        over.set()
        line.join()


def _show(stream: TextIO, over: threading.Event, first: float, terminal: bool) -> None:
    with contextlib.suppress(OSError):  # a stream that takes nothing shows nothing
        _draw(stream, over, first, terminal)


def _draw(stream: TextIO, over: threading.Event, first: float, terminal: bool) -> None:
    start = time.monotonic()
    wait = first
    drawn = False
    while not over.wait(wait):
        if not _doing:  # a server waits, it does not work
            continue
        text = f"{_doing} ... {time.monotonic() - start:.0f} s"
        stream.write(f"\r\x1b[2K{text}" if terminal else f"{text}\n")
        stream.flush()
        drawn, wait = True, 0.25 if terminal else 10.0
    if drawn and terminal:
        stream.write("\r\x1b[2K")
        stream.flush()
