"""Files that are replaced together: all of them are old, or all of them are new, whatever ends the process.

Everything is written to temporaries beside the targets, whose names a journal knows before they are made. A second
file beside the journal decides: without it the temporaries are removed, with it they take the targets' place. Whoever
finds the journal of a dead process, at the start of any command, does the same. A target that somebody else has
replaced meanwhile ends the unit: its rest is removed, so that two units never mix.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from sudare.data.files.outputs import PathLike, check_output, resolved
from sudare.data.files.private import (
    OwnedFolder,
    clear,
    file_lock,
    new_folder,
    state_folder,
    sweep_temporaries,
)
from sudare.errors import DataError, UsageError

if TYPE_CHECKING:
    from filelock import BaseFileLock

TEMPORARY = ".sudare-part"
UNITS = "units"
JOURNAL = "journal.json"
COMMITTED = "committed.json"
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
        done = "the next command finishes it" if unit.committed else "nothing was changed"
        raise DataError(f"{paths[0]}: cannot be written ({error.strerror or 'error'}); {done}") from None
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
        clear(state_folder() / UNITS, _settle)
        sweep_temporaries()


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
        unit = cls(targets, new_folder(state_folder() / UNITS))
        _alive.append(unit)
        try:
            unit.folder.claim()
            for target in sorted(set(targets)) if alone else ():
                unit._lock(target)
            sweep()
            _write_durably(unit.folder.path / JOURNAL, unit._journal())
        except OSError as error:
            unit.end()
            raise DataError(
                f"{unit.folder.path.parent}: cannot be written ({error.strerror or 'error'}); nothing was changed. "
                "Make room, or set XDG_STATE_HOME to a folder that you may write to"
            ) from None
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

    @property
    def committed(self) -> bool:
        return (self.folder.path / COMMITTED).exists()

    def commit(self) -> None:
        """From here on the new files count."""
        _sync_all(self.targets)  # the temporaries are found again after a power failure
        _write_durably(self.folder.path / COMMITTED, [_number(self.part(target)) for target in self.targets])
        _settle(self.folder.path)
        _sync_all(self.targets)

    def end(self) -> None:
        """Take back what was not committed, finish what was; let others write."""
        if os.getpid() == self.owner and self in _alive:
            with contextlib.suppress(OSError):
                _settle(self.folder.path)
                self.folder.remove()
            for lock in self.locks:
                with contextlib.suppress(OSError):
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
    for unit in [*_alive]:
        unit.end()


def _settle(folder: Path) -> None:
    """The temporaries of a journal take their targets' place if the unit was committed, and go if not."""
    journal: list[tuple[str, str]] | None = _read(folder / JOURNAL)
    if journal is None:  # no temporary was made yet
        return
    numbers = _read(folder / COMMITTED)
    with _alone_in({os.path.dirname(target) for _, target in journal}):
        if numbers is not None and _still_ours(journal, numbers):
            for part, target in journal:
                with contextlib.suppress(FileNotFoundError):  # it is in its place
                    os.replace(part, target)
        for part, _ in journal:
            _discard(part)


def _still_ours(journal: Sequence[tuple[str, str]], numbers: Sequence[int]) -> bool:
    """Whether every file of the unit still waits, or is where it was put: nobody else has written there since."""
    pairs = zip(journal, numbers)
    return all(number in (_number(part), _number(target)) for (part, target), number in pairs)


@contextlib.contextmanager
def _alone_in(folders: set[str]) -> Iterator[None]:
    """Alone among all users of some folders for the moment of the renames, where the file system can say so."""
    with contextlib.ExitStack() as stack:
        for folder in sorted(folders):
            with contextlib.suppress(OSError):
                handle = os.open(folder, os.O_RDONLY)
                stack.callback(os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _number(path: PathLike) -> int | None:
    """The file's own number, which it keeps when it is renamed; None where there is none."""
    try:
        return os.lstat(path).st_ino
    except OSError:
        return None


def _discard(part: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(part) if os.path.isdir(part) else os.unlink(part)


def _read(path: Path) -> Any:
    """The JSON of a file that is there whole or not at all; None if it is not."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return None


def _write_durably(path: Path, content: Any) -> None:
    """JSON that is there whole or not at all."""
    waiting = path.with_suffix(".new")
    descriptor = os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(json.dumps(content).encode())
        file.flush()
        os.fsync(descriptor)
    os.replace(waiting, path)
    _sync(path.parent)


def _sync_all(targets: Sequence[Path]) -> None:
    for folder in {target.parent for target in targets}:
        _sync(folder)


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
