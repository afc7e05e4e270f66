"""Where an output may go: what cannot be is refused before any work."""

from __future__ import annotations

import os
from pathlib import Path

from sudare.data.files import SIDECAR
from sudare.errors import UsageError

PathLike = str | os.PathLike[str]


def check_output(path: PathLike, inputs: tuple[PathLike, ...] = ()) -> Path:
    """Refuse an output that is a link, a folder, one of the inputs or their cards, or in a missing folder."""
    path = Path(path)
    if path.is_symlink():
        raise UsageError(f"{path}: is a symbolic link; name the file itself")
    if path.is_dir():
        raise UsageError(f"{path}: is a folder; name a file in it")
    for given in inputs:
        if same_file(path, given) or same_file(path, card_path(given)):
            raise UsageError(f"{path}: is also the input; name another output")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{path.parent}: no such folder; make it first")
    return path


def check_apart(*paths: PathLike) -> None:
    """Refuse outputs that are one file under several names."""
    for number, path in enumerate(paths):
        if any(same_file(path, other) for other in paths[:number]):
            raise UsageError(f"{path}: release, card and truth need different files; name another one")


def same_file(first: PathLike, second: PathLike) -> bool:
    """Whether two paths lead to one file, however they are spelled, there already or not."""
    if resolved(first) == resolved(second):
        return True
    return os.path.exists(first) and os.path.exists(second) and os.path.samefile(first, second)


def resolved(path: PathLike) -> Path:
    """The path with links and `..` followed."""
    return Path(path).resolve()


def card_path(release: PathLike) -> str:
    """The file beside a release."""
    return f"{os.fspath(release)}{SIDECAR}"
