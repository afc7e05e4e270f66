"""Folders that one process owns: its temporaries, and the units that it is writing.

An owned folder holds a lock file that its process keeps locked while it lives, however it ends. Whoever gets the lock
knows that the owner is gone and clears up after it.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sudare.errors import DataError, UsageError

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOCK = "lock"
ROOTS = "temporaries"
NAME = re.compile("[0-9a-f]{32}")
PATIENCE = 60.0  # seconds to wait for a lock that is held for milliseconds


@functools.cache
def private_folder() -> Path:
    """A folder of this process that only its owner can read; it goes when the process ends.

    What a killed process could not remove is removed here by the next one.
    """
    sweep_temporaries()
    root = temporary_root()
    folder = new_folder(root)
    atexit.register(_remove, folder, os.getpid())  # before it exists: Ctrl-C may come at any moment
    _remember(root)
    folder.claim()
    return folder.path


def sweep_temporaries() -> None:
    """Remove what dead processes left, in every place that TMPDIR ever named."""
    for root in {temporary_root(), *_roots()}:
        clear(root)


@dataclass(frozen=True)
class OwnedFolder:
    """A folder of this process; it is removed with its lock file."""

    path: Path
    lock: BaseFileLock

    def claim(self) -> None:
        """Make the folder, locked before anybody can see it without a lock."""
        try:
            with guarded():
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                _check_own(self.path.parent)
                self.path.mkdir(mode=0o700)
                self.lock.acquire(timeout=0)
        except OSError as error:
            raise DataError(
                f"{self.path.parent}: cannot be written ({error.strerror or 'error'}); sudare needs a place for its "
                "own files: make room, or set TMPDIR and XDG_STATE_HOME to folders that you may write to"
            ) from None

    def remove(self) -> None:
        """Remove it; its lock ends with it."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.lock.release(force=True)


def new_folder(root: Path) -> OwnedFolder:
    """A folder with a random name, not made yet."""
    path = root / secrets.token_hex(16)
    return OwnedFolder(path, file_lock(path / LOCK))


def clear(root: Path, settle: Callable[[Path], None] = lambda folder: None) -> None:
    """Remove the folders whose owner is gone; `settle` is called before with each of them.

    Nothing is touched in a folder of somebody else, or through a link, which anybody can put into a place for all.
    """
    with contextlib.suppress(OSError, UsageError):
        _check_own(root)
        with guarded():
            for path in root.iterdir():
                if NAME.fullmatch(path.name):
                    with contextlib.suppress(OSError):
                        _clear_one(OwnedFolder(path, file_lock(path / LOCK)), settle)
            root.rmdir()  # if it is empty; nobody makes a folder in it while we are alone


def _clear_one(folder: OwnedFolder, settle: Callable[[Path], None]) -> None:
    from filelock import Timeout

    try:
        folder.lock.acquire(timeout=0)
    except Timeout:  # its owner lives
        return
    try:
        settle(folder.path)
        folder.remove()
    finally:
        folder.lock.release(force=True)


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Alone among all processes of this user, for the moment in which folders are made or cleared."""
    with locked(state_folder() / LOCK):
        yield


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Alone with a lock file, which is never removed; waits for whoever has it."""
    from filelock import Timeout

    lock = file_lock(path)
    try:
        lock.acquire(timeout=PATIENCE)
    except Timeout:
        raise UsageError(
            f"{path}: another run has held this lock for a minute; wait for it or end it"
        ) from None
    try:
        yield
    finally:
        lock.release(force=True)


def file_lock(path: Path) -> BaseFileLock:
    """A lock of the operating system, which ends with its process; the file stays."""
    from filelock import FileLock

    return FileLock(path, mode=0o600, thread_local=False, poll_interval=0.005)


@contextlib.contextmanager
def temporaries_inside() -> Iterator[None]:
    """The temporaries of a library go to the private folder for a while."""
    before, tempfile.tempdir = tempfile.tempdir, str(private_folder())
    try:
        yield
    finally:
        tempfile.tempdir = before


def temporary_root() -> Path:
    """Where the temporaries of all processes of this user are."""
    return _shared_temporaries() / f"sudare-{os.getuid()}"


def state_folder() -> Path:
    """Where locks and journals are: the user's own state folder, or a private one where there is none to write to."""
    import platformdirs

    wanted = platformdirs.user_state_path("sudare")
    if wanted.is_absolute():
        with contextlib.suppress(OSError):
            wanted.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(wanted, os.W_OK | os.X_OK):
            return wanted
    instead = _shared_temporaries() / f"sudare-state-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        instead.mkdir(mode=0o700)
    return _check_own(instead)


@functools.cache
def _shared_temporaries() -> Path:
    try:
        return Path(tempfile.gettempdir())
    except OSError:
        raise UsageError("no folder for temporaries can be written to; set TMPDIR to one") from None


def _check_own(folder: Path) -> Path:
    """A folder in a place for everybody could have been put there by somebody else."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise UsageError(f"{folder}: belongs to somebody else; set TMPDIR to a folder of your own")
    return folder


def _remember(root: Path) -> None:
    """A link to the place of this process's temporaries: a start with another TMPDIR finds it."""
    folder = state_folder() / ROOTS
    with contextlib.suppress(OSError):  # whoever shares TMPDIR finds them all the same
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / hashlib.sha256(os.fsencode(root)).hexdigest()[:32]).symlink_to(root)


def _roots() -> list[Path]:
    """The places that are remembered and still there; the others are forgotten."""
    found, folder = [], state_folder() / ROOTS
    with contextlib.suppress(OSError):
        for link in folder.iterdir():
            if link.exists():
                found.append(link.readlink())
            else:
                link.unlink()
    return found


def _remove(folder: OwnedFolder, owner: int) -> None:
    if os.getpid() == owner:
        folder.remove()
        clear(folder.path.parent)
