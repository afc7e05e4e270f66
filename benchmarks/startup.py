"""How long a command line keeps its user waiting, beside a bare import of DuckDB: CPU seconds of a new process."""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.meters import CHILDREN
from benchmarks.work import Work, more_than_peer

TEN = {"full": (10,), "small": (10,)}
PARSER = (
    "typer reads the arguments and imports pydantic for it: more than half of the difference. The rest is the check of "
    "the CSV file and the query."
)
SUDARE = [sys.executable, "-m", "sudare.cli.main"]


def ten_rows(rows: int) -> Path:
    path = Path(tempfile.mkdtemp(prefix="sudare-bench-")) / "ten.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["user", "goods"])
        writer.writerows((f"u{i % 3}", f"g{i % 4}") for i in range(rows))
    return path


def started(path: Path, *, command: list[str]) -> bool:
    line = [str(path) if word == "FILE" else word for word in command]
    return subprocess.run(line, stdout=subprocess.DEVNULL, check=True).returncode == 0


def against_import(name: str, *command: str) -> Work:
    return Work(
        name=name,
        sizes=TEN,
        prepare=ten_rows,
        ours=partial(started, command=[*SUDARE, *command]),
        peer=partial(started, command=[sys.executable, "-c", "import duckdb"]),
        peer_name='python -c "import duckdb"',
        meter=CHILDREN,
        goal=more_than_peer(0.3),
        remains=PARSER,
    )


WORKS = (
    against_import("sudare --help", "--help"),
    against_import("sudare risk on ten rows", "risk", "FILE", "--user", "user"),
    Work(
        name="import sudare",
        sizes=TEN,
        prepare=ten_rows,
        ours=partial(started, command=[sys.executable, "-c", "import sudare"]),
        peer=partial(started, command=[sys.executable, "-c", "pass"]),
        peer_name="python -c pass",
        meter=CHILDREN,
        goal=more_than_peer(0.3),
    ),
)
