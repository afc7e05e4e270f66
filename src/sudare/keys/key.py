"""Key: a 256-bit secret in a file of its own, and the subkeys derived from it."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from sudare.data.files.unit import create
from sudare.errors import UsageError, warn

HEADER = "sudare-key-1"
LONGEST = 1024  # bytes of a key file; it has 78


@dataclass(frozen=True, repr=False)
class Key:
    """A 256-bit secret. Its repr is the fingerprint, never the secret.

    >>> Key.of(bytes(range(32))) == Key(bytes(range(32))), Key.new() == Key.new()
    (True, False)
    """

    secret: bytes
    path: Path | None = None
    insecure: bool = False

    def __post_init__(self) -> None:
        if len(self.secret) != 32:
            raise UsageError("a key has 32 random bytes; make one with: sudare key new")
        if _guessable(self.secret) and not self.insecure:
            raise UsageError("this key can be guessed (few different bytes); make one with: sudare key new")

    @classmethod
    def new(cls) -> Key:
        """A fresh key from the operating system's randomness."""
        return cls(secrets.token_bytes(32))

    @classmethod
    def demo(cls, seed: int) -> Key:
        """INSECURE: a key that anyone can guess, for demonstrations and tests on invented data only."""
        return cls(hashlib.sha256(b"sudare demo %d" % seed).digest(), insecure=True)

    @classmethod
    def of(cls, key: Key | bytes | str | os.PathLike[str] | None) -> Key:
        """A key from what a caller has: a Key, 32 bytes, a file; None means the user's own key.

        Bytes that anyone would try first, such as 32 zeros, make a demonstration key: every output says so.
        """
        if isinstance(key, Key):
            return key
        if isinstance(key, (bytes, bytearray)):
            if _guessable(key):
                warn(
                    "S-WEAK-KEY", "these 32 bytes can be guessed: for invented data only; see: sudare key new"
                )
            return cls(bytes(key), insecure=_guessable(key))
        if isinstance(key, (str, os.PathLike)):
            return cls.load(key)
        if key is None:
            return cls.default()
        raise UsageError("key: give 32 bytes or the path of a key file; make one with: sudare key new")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Key:
        """A key from its file, which nobody but its owner may read."""
        path = Path(path)
        try:
            mode, content = _read_small(path)
        except OSError as error:
            raise UsageError(
                f"{path}: key cannot be read ({error.strerror}); make one with: sudare key new"
            ) from None
        if stat.S_ISREG(mode) and stat.S_IMODE(mode) & 0o077:
            raise UsageError(f"{path}: others can read this key; run: chmod 600 {path}")
        try:
            header, secret = content.decode("ascii").split()
            if header == HEADER:
                return cls(bytes.fromhex(secret), path)
        except ValueError:
            pass
        raise UsageError(f"{path}: not a key file; make one with: sudare key new")

    @classmethod
    def default(cls) -> Key:
        """The user's own key (`SUDARE_KEY` or the user's data folder), made on first use."""
        import platformdirs

        given = os.environ.get("SUDARE_KEY")
        path = Path(given) if given else platformdirs.user_data_path("sudare") / "sudare.key"
        if not path.exists():
            try:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                return cls.new().save(path)
            except FileExistsError:  # another process made it a moment ago
                pass
            except OSError as error:
                raise UsageError(
                    f"{path}: your key cannot be written ({error.strerror}); name another file with SUDARE_KEY"
                ) from None
        return cls.load(path)

    def save(self, path: str | os.PathLike[str]) -> Key:
        """Write the key, readable by its owner only; an existing file is never replaced."""
        path = Path(path)
        create(path, f"{HEADER}\n{self.secret.hex()}\n".encode())
        return Key(self.secret, path)

    @property
    def fingerprint(self) -> str:
        """What a report may show: it tells keys apart and says nothing about them."""
        digest = self.subkey("fingerprint", "").hex()[:16]
        return "-".join(digest[i : i + 4] for i in range(0, 16, 4))

    @property
    def without_file(self) -> Key:
        """The key as the parts of a run have it: without its file, and so without the ledger beside it."""
        return Key(self.secret, insecure=self.insecure)

    def subkey(self, purpose: str, column: str, counter: int = 0) -> bytes:
        """The 256-bit key for one purpose and column."""
        parts = [b"sudare/1", purpose.encode(), column.encode(), str(counter).encode()]
        message = b"".join(len(part).to_bytes(4, "little") + part for part in parts)
        return hmac.new(self.secret, message, hashlib.sha256).digest()

    def __repr__(self) -> str:
        return f"Key({self.fingerprint})"


def _read_small(path: Path) -> tuple[int, bytes]:
    """The mode of a file and its beginning; nothing of what is no file, or is longer than any key."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # opening a pipe must not wait for a writer
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        small = stat.S_ISREG(found.st_mode) and found.st_size <= LONGEST
        return found.st_mode, file.read(LONGEST) if small else b""


def _guessable(secret: bytes) -> bool:
    return len(secret) == 32 and len(set(secret)) < 8
