"""Faults as a user meets them: the real command in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

# root without the right to pass over permissions; anybody else has not got it anyway
HUMBLE = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--") if os.geteuid() == 0 else ()
PROGRESS = re.compile(r" \.\.\. \d+ s$")  # what a slow machine is told every ten seconds


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.err.strip().splitlines()

    def fails(self, code: int, *told: str, secret: str = "") -> None:
        """An error as promised: the exit code, one or two lines, no traceback, no cell, nothing on stdout."""
        assert self.code == code, (self.code, self.err, self.out)
        assert "Traceback" not in self.err
        assert "unexpectedly" not in self.err, self.err
        errors = [line for line in self.lines if not line.startswith("warning") and not PROGRESS.search(line)]
        assert errors, "an error says what is wrong"
        assert errors[0].startswith("error: ")
        assert len(errors) <= 2, self.err
        for text in told:
            assert text in self.err, self.err
        if secret:
            assert secret not in self.err + self.out

    def works(self) -> Outcome:
        assert self.code == 0, self.err
        assert "Traceback" not in self.err
        return self


@pytest.fixture
def sudare(tmp_path: Path) -> Callable[..., Outcome]:
    """Run `sudare ...` in an empty folder of its own."""

    def run(
        *arguments: object, env: dict[str, str] | None = None, timeout: float = 240, humble: bool = False
    ) -> Outcome:
        done = subprocess.run(
            [*(HUMBLE if humble else ()), sys.executable, "-m", "sudare.cli.main", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def csv(tmp_path: Path) -> Callable[..., Path]:
    """A file with this content in the folder of the run."""

    def write(content: str | bytes, name: str = "t.csv", encoding: str = "utf-8") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write
