"""Files that are replaced together: all of them are old, or all of them are new, whatever ends the process.

Everything is written to temporaries beside the targets, whose names a journal knows before they are made. A marker
beside the journal decides: without it the temporaries are removed, with it they take the targets' place. Whoever finds
the journal of a dead process, at the start of any command, does the same.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from sudare.data.files.outputs import PathLike, check_output, resolved
from sudare.data.files.private import (
    OwnedFolder,
    clear,
    file_lock,
    new_folder,
    state_folder,
    temporary_root,
)
from sudare.errors import DataError, UsageError

if TYPE_CHECKING:
    from filelock import BaseFileLock

TEMPORARY = ".sudare-part"
JOURNAL = "journal.json"
COMMITTED = "committed"
PUBLIC = 0o644
PRIVATE = 0o600  # whatever the umask: people are in it


@contextlib.contextmanager
def writing(*paths: PathLike) -> Iterator[Unit]:
    """A unit to write; it takes the targets' place when all went well, and is gone when not."""
    targets = tuple(map(resolved, paths))
    unit = _reserved.pop(targets, None) or Unit.begin(targets)
    try:
        yield unit
        unit.commit()
    except OSError as error:
        raise DataError(
            f"{paths[0]}: cannot be written ({error.strerror or 'error'}); nothing was changed"
        ) from None
    finally:
        unit.end()


@contextlib.contextmanager
def reserving(*paths: PathLike) -> Iterator[None]:
    """Keep others from a unit that is written at the end of the work: who comes second hears it at once."""
    targets = tuple(map(resolved, paths))
    unit = _reserved[targets] = Unit.begin(targets)
    try:
        yield
    finally:
        _reserved.pop(targets, None)
        unit.end()


@contextlib.contextmanager
def replacing(path: PathLike, *, mode: int = PUBLIC) -> Iterator[BinaryIO]:
    """One file, written whole or not at all."""
    with writing(check_output(path)) as unit, unit.file(path, mode=mode) as file:
        yield file


def create(path: PathLike, content: bytes) -> None:
    """A private file that is there whole or not at all, and replaces none: FileExistsError."""
    unit = Unit.begin((resolved(path),), alone=False)
    try:
        with unit.file(path, mode=PRIVATE) as file:
            file.write(content)
        os.link(unit.part(path), path)
    finally:
        unit.end()


def sweep() -> None:
    """Finish or undo what dead processes were writing, and remove their temporaries."""
    with contextlib.suppress(OSError, UsageError):  # whoever needs the folders says what is wrong with them
        clear(state_folder() / "units", _settle)
        clear(temporary_root())


@dataclass(eq=False)
class Unit:
    """Targets, their temporaries, and the locks that keep others away."""

    targets: tuple[Path, ...]
    folder: OwnedFolder
    owner: int = field(default_factory=os.getpid)
    locks: list[BaseFileLock] = field(default_factory=list)

    @classmethod
    def begin(cls, targets: tuple[Path, ...], *, alone: bool = True) -> Unit:
        """Nobody else writes these targets from now on, and nothing that a dead process left is in the way."""
        unit = cls(targets, new_folder(state_folder() / "units"))
        _alive.append(unit)
        try:
            unit.folder.claim()
            for target in sorted(set(targets)) if alone else ():
                unit._lock(target)
            sweep()
            _write_durably(unit.folder.path / JOURNAL, json.dumps(unit._journal()).encode())
        except BaseException:
            unit.end()
            raise
        return unit

    @contextlib.contextmanager
    def file(self, path: PathLike, *, mode: int = PUBLIC) -> Iterator[BinaryIO]:
        """The temporary of a target, open for writing; only its owner can read it before it is in place."""
        descriptor = os.open(self.part(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fchmod(descriptor, mode if mode == PRIVATE else mode & ~_umask())
            os.fsync(descriptor)

    def part(self, path: PathLike) -> Path:
        """The temporary of a target; a process of somebody else may make a folder of it."""
        target = resolved(path)
        return target.with_name(f".{target.name[:200]}.{self.folder.path.name}{TEMPORARY}")

    def commit(self) -> None:
        """From here on the new files count."""
        _write_durably(self.folder.path / COMMITTED, b"")
        _settle(self.folder.path)
        for folder in {target.parent for target in self.targets}:
            _sync(folder)

    def end(self) -> None:
        """Take back what was not committed, finish what was; let others write."""
        if os.getpid() == self.owner and self in _alive:
            with contextlib.suppress(OSError):
                _settle(self.folder.path)
                self.folder.remove()
            for lock in self.locks:
                lock.release(force=True)
            _alive.remove(self)

    def _lock(self, target: Path) -> None:
        from filelock import Timeout

        folder = state_folder() / "locks"
        folder.mkdir(mode=0o700, exist_ok=True)
        lock = file_lock(folder / hashlib.sha256(os.fsencode(target)).hexdigest()[:32])
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise UsageError(
                f"{target}: another run is writing it; wait for it or name another output"
            ) from None
        self.locks.append(lock)

    def _journal(self) -> list[tuple[str, str]]:
        return [(str(self.part(target)), str(target)) for target in self.targets]


_alive: list[Unit] = []
_reserved: dict[tuple[Path, ...], Unit] = {}


@atexit.register
def _end_all() -> None:
    """What a Ctrl-C left that came between making a unit and guarding it, or while it was being removed."""
    for unit in _alive:
        unit.end()


def _settle(folder: Path) -> None:
    """The temporaries of a journal take their targets' place if the unit was committed, and go if not."""
    try:
        journal: Sequence[tuple[str, str]] = json.loads((folder / JOURNAL).read_text("utf-8"))
    except (OSError, ValueError):  # not whole: no temporary was made yet
        return
    committed = (folder / COMMITTED).exists()
    for part, target in journal:
        with contextlib.suppress(FileNotFoundError):
            if committed:
                os.replace(part, target)
            elif os.path.isdir(part):
                shutil.rmtree(part)
            else:
                os.unlink(part)


def _write_durably(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    _sync(path.parent)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    """What the user's files deny to others; for a moment they deny more, never less."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
