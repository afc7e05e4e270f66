"""benchmarks/results.json: the machine, the versions, and one row per work and size."""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.one import MODULES, verdict, works
from benchmarks.work import Row

FILE = Path(__file__).with_name("results.json")
PACKAGES = """sudare duckdb pyarrow numpy scipy numba pandas pyspark scikit-learn polars pycanon anjana
anonymeter anonypy""".split()


def load(file: Path = FILE) -> dict[str, Any]:
    return json.loads(file.read_text("utf-8")) if file.exists() else {"rows": []}


def keep(row: Row, file: Path = FILE) -> None:
    """Put a row in its place; an older row of the same work and size goes."""
    old = [one for one in load(file)["rows"] if place(one)[2:] != place(row)[2:]]
    found = {
        "machine": machine(),
        "versions": versions(),
        "rows": sorted(map(judged, [*old, rounded(row)]), key=place),
    }
    file.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def place(row: Row) -> tuple[int, int, str, int]:
    """The order of the table: modules, their works as they are written, sizes."""
    names = _names(row["module"])
    known = names.index(row["work"]) if row["work"] in names else len(names)
    return MODULES.index(row["module"]), known, row["work"], row["size"]


def judged(row: Row) -> Row:
    """The row with the verdict of today's goals, which may have been set after it was measured."""
    known = [work for work in works(row["module"]) if work.name == row["work"]]
    return row | verdict(known[0], row) if known else row


@cache
def _names(module: str) -> list[str]:
    return [work.name for work in works(module)]


def rounded(row: Row) -> Row:
    """Four digits are more than a repetition would keep."""
    return {name: float(f"{value:.4g}") if isinstance(value, float) else value for name, value in row.items()}


def machine() -> dict[str, Any]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory),
        "system": platform.system(),
        "python": platform.python_version(),
        "date": datetime.now(UTC).date().isoformat(),
    }


def processor() -> str:
    """The name of the processor, as far as the system tells it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine()
    )


def versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found
