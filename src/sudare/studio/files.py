"""Tables below the start folder, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sudare.errors import UsageError

ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".arrow", ".feather", ".ipc", ".xlsx", ".csv.gz")
EXAMPLES = (
    ("example:histories", "purchase histories of 400 people who do not exist"),
    ("example:patients", "eight patients, one row each"),
    ("example:purchases", "ten purchases of three people"),
)
MOST = 500


@dataclass(frozen=True)
class TableFile:
    """A file as the first page lists it."""

    path: str
    size: int


def tables_below(folder: Path) -> list[TableFile]:
    """Files that look like tables, in alphabetical order; hidden folders and releases' sidecars are left out."""
    found: list[TableFile] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(
            f for f in folders if not f.startswith(".") and f not in ("node_modules", "__pycache__")
        )
        for name in sorted(names):
            path = Path(place) / name
            if name.lower().endswith(ENDINGS) and not name.startswith(".") and _inside(path, folder):
                found.append(TableFile(path.relative_to(folder).as_posix(), path.stat().st_size))
        if len(found) >= MOST:
            break
    return found[:MOST]


def chosen(folder: Path, given: str) -> str:
    """The path of a table that the page names: below the folder, links followed, or a built-in example."""
    if given.startswith("example:"):
        return given
    if not given or "\0" in given or "://" in given:
        raise UsageError("choose a file from the list")
    path = folder / given
    if not _inside(path, folder) or not path.is_file():
        raise UsageError("this file is not below the folder that the studio was started in; start it there")
    return str(path.resolve())


def check_files(steps: Iterable[Mapping[str, Any]], folder: Path) -> None:
    """Hierarchies that a recipe reads from files must lie below the folder, too."""
    for step in steps:
        for given in _hierarchy_files(step):
            if not _inside(Path(given), folder):
                raise UsageError(
                    f"{step['method']}: the file of a hierarchy is not below the folder that the studio was started in"
                )


def _hierarchy_files(step: Mapping[str, Any]) -> Iterator[str]:
    """The files that a step names: one, one per column, or in the description of a hierarchy."""
    one, many = step.get("hierarchy"), step.get("hierarchies")
    listed = [one, many, *(many.values() if isinstance(many, Mapping) else ())]
    for given in listed:
        found = given.get("file") if isinstance(given, Mapping) else given
        if isinstance(found, str):
            yield found


def _inside(path: Path, folder: Path) -> bool:
    try:
        return path.resolve(strict=True).is_relative_to(folder.resolve())
    except OSError:
        return False


def size_of(bytes_: int) -> str:
    """
    >>> size_of(512), size_of(136_737), size_of(2_900_552)
    ('512 B', '137 kB', '2.9 MB')
    """
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if bytes_ >= scale:
            return (
                f"{bytes_ / scale:.3g} {unit}"
                if bytes_ / scale < 10 and unit != "kB"
                else f"{bytes_ / scale:.0f} {unit}"
            )
    return f"{bytes_} B"
