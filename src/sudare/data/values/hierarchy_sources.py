"""Where hierarchies come from: a folder, a file, or a mapping."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from sudare.data.values.hierarchies import Hierarchy
from sudare.errors import UsageError, nearest

if TYPE_CHECKING:
    import pyarrow as pa

Hierarchies = Mapping[str, Any] | str | os.PathLike[str] | None
Values: TypeAlias = "pa.Array | pa.ChunkedArray"


def writable(given: Hierarchies) -> Hierarchies:
    """The same hierarchies as a recipe file can hold them: an object as its paths, a missing value as ""."""
    if not isinstance(given, Mapping):
        return given
    for name, entry in given.items():
        if not isinstance(entry, (Hierarchy, Mapping, str, os.PathLike)):
            raise UsageError(
                f"hierarchy of '{name}': give the path of a CSV or a table, e.g. intervals = [5, 10]"
            )
    return {
        name: {"paths": [[label or "" for label in path] for path in entry.paths()]}
        if isinstance(entry, Hierarchy)
        else entry
        for name, entry in given.items()
    }


def located(step: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A step of a recipe file: the relative paths of hierarchies begin in the folder of that file."""
    found = dict(step)
    if "hierarchy" in found:
        found["hierarchy"] = _located(found["hierarchy"], folder)
    if isinstance(given := found.get("hierarchies"), Mapping):
        found["hierarchies"] = {name: _located(entry, folder) for name, entry in given.items()}
    elif given is not None:
        found["hierarchies"] = _located(given, folder)
    return found


def _located(entry: Any, folder: Path) -> Any:
    if isinstance(entry, str) and not Path(entry).is_absolute():
        return os.path.relpath(folder / entry)
    if isinstance(entry, Mapping) and "file" in entry:
        return {**entry, "file": _located(entry["file"], folder)}
    return entry


def hierarchies_of(
    given: Hierarchies, values: Mapping[str, Values], known: Sequence[str]
) -> dict[str, Hierarchy]:
    """The hierarchies of those columns in `values` that have one; `known` are all columns of the table.

    `given`: a folder with a `<column>.csv` per hierarchy, a `sudare.toml` with [hierarchy.<column>] tables, or a
    mapping from columns to a Hierarchy, the path of its CSV, {"paths": [[leaf, ..., root], ...]} or such a table.
    """
    folder = Path(".")
    if given is None:
        return {}
    if isinstance(given, Mapping):
        for name in given:
            if name not in known:
                raise UsageError(f"hierarchy of unknown column '{name}'; {nearest(name, known)}")
    else:
        given, folder = _read(Path(given), list(values))
    return {name: _hierarchy(given[name], values[name], name, folder) for name in values if name in given}


def _read(source: Path, names: Sequence[str]) -> tuple[Mapping[str, Any], Path]:
    """What a folder or a sudare.toml says, and the folder its paths begin in."""
    from sudare.data.values.hierarchy_kinds import read_specs

    found: Mapping[str, Any] = {}
    if source.is_dir():
        plain = [
            name for name in names if Path(name).name == name
        ]  # a column's name leads to no other folder
        found = {name: source / f"{name}.csv" for name in plain if (source / f"{name}.csv").is_file()}
    elif source.suffix == ".toml":
        found = read_specs(source)
    if not found:
        raise UsageError(f"{source}: no hierarchies; give a folder with <column>.csv files or a sudare.toml")
    return found, source.parent


def _hierarchy(entry: Any, column: Values, name: str, folder: Path) -> Hierarchy:
    from sudare.data.values.hierarchy_kinds import from_spec

    values = column.unique().to_pylist()
    try:
        if isinstance(entry, (str, os.PathLike)):
            entry = Hierarchy.from_csv(Path(entry))
        elif isinstance(entry, Mapping) and "paths" in entry:
            entry = Hierarchy.from_paths([[label or None for label in path] for path in entry["paths"]])
        if isinstance(entry, Hierarchy):
            return entry.with_missing() if None in values else entry
        return from_spec(entry, values, folder=folder)
    except (TypeError, ValueError, AttributeError, KeyError):
        raise UsageError(
            f"hierarchy of '{name}': cannot be read as written; see the reference of hierarchies"
        ) from None
