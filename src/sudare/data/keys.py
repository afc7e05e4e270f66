"""Secret keys and the randomness that is derived from them, record by record.

Derivation, version 1. From the 256-bit key K:
- a subkey for a purpose: HMAC-SHA-256(K, "sudare/1" and the length-prefixed purpose, column and counter);
- a record's id: SipHash-2-4-128 under a subkey of K of the values that identify the record (see `record_ids`);
- its random words: AES-256 under the subkey, applied to the 128-bit id.
AES under a secret key is a pseudo-random function of the id, so a draw depends on the record alone: not on
the order of rows, on chunks, on threads, on the release. Without K nobody can repeat a draw.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.roles import Roles
from sudare.errors import UsageError, warn

if TYPE_CHECKING:
    import pyarrow as pa

Words = NDArray[np.uint64]
Floats = NDArray[np.float64]
HEADER = "sudare-key-1"


@dataclass(frozen=True, repr=False)
class Key:
    """A 256-bit secret. Its repr is the fingerprint, never the secret."""

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
            mode = path.stat().st_mode
            lines = path.read_text("ascii").split()
        except OSError as error:
            raise UsageError(
                f"{path}: key cannot be read ({error.strerror}); make one with: sudare key new"
            ) from None
        except UnicodeDecodeError:
            raise UsageError(f"{path}: not a key file; make one with: sudare key new") from None
        if stat.S_IMODE(mode) & 0o077:
            raise UsageError(f"{path}: others can read this key; run: chmod 600 {path}")
        if len(lines) != 2 or lines[0] != HEADER:
            raise UsageError(f"{path}: not a key file; make one with: sudare key new")
        try:
            return cls(bytes.fromhex(lines[1]), path)
        except ValueError:
            raise UsageError(f"{path}: not a key file; make one with: sudare key new") from None

    @classmethod
    def default(cls) -> Key:
        """The user's own key (`SUDARE_KEY` or the user's data folder), made on first use."""
        import platformdirs

        given = os.environ.get("SUDARE_KEY")
        path = Path(given) if given else platformdirs.user_data_path("sudare") / "sudare.key"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with contextlib.suppress(FileExistsError):  # another process made it a moment ago
                return cls.new().save(path)
        return cls.load(path)

    def save(self, path: str | os.PathLike[str]) -> Key:
        """Write the key, readable by its owner only; an existing file is never replaced."""
        path = Path(path)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{HEADER}\n{self.secret.hex()}\n")
            file.flush()
            os.fsync(file.fileno())
        return Key(self.secret, path)

    @property
    def fingerprint(self) -> str:
        """What a report may show: it tells keys apart and says nothing about them."""
        digest = self.subkey("fingerprint", "").hex()[:16]
        return "-".join(digest[i : i + 4] for i in range(0, 16, 4))

    def subkey(self, purpose: str, column: str, counter: int = 0) -> bytes:
        """The 256-bit key for one purpose and column."""
        parts = [b"sudare/1", purpose.encode(), column.encode(), str(counter).encode()]
        message = b"".join(len(part).to_bytes(4, "little") + part for part in parts)
        return hmac.new(self.secret, message, hashlib.sha256).digest()

    def __repr__(self) -> str:
        return f"Key({self.fingerprint})"


def _guessable(secret: bytes) -> bool:
    return len(secret) == 32 and len(set(secret)) < 8


def words(key: Key, purpose: str, column: str, ids: Words, n: int = 2) -> Words:
    """`n` random 64-bit words per record."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    blocks = np.ascontiguousarray(ids, dtype="<u8").view(np.uint8).reshape(-1)
    out = np.empty((len(ids), n), dtype=np.uint64)
    for counter in range((n + 1) // 2):
        cipher = Cipher(algorithms.AES(key.subkey(purpose, column, counter)), modes.ECB())
        drawn = _encrypt(cipher.encryptor(), blocks)
        out[:, 2 * counter : 2 * counter + 2] = drawn[:, : n - 2 * counter]
    return out


def uniform(key: Key, purpose: str, column: str, ids: Words, n: int = 1) -> Floats:
    """`n` numbers per record, uniform in the open interval (0, 1), 52 random bits each."""
    return ((words(key, purpose, column, ids, n) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def normal(key: Key, purpose: str, column: str, ids: Words, n: int = 1) -> Floats:
    """`n` standard normal numbers per record, by the inverse distribution function."""
    from scipy.special import ndtri

    drawn: Floats = ndtri(uniform(key, purpose, column, ids, n))
    return drawn


def order(key: Key, purpose: str, column: str, ids: Words) -> NDArray[np.int64]:
    """A random order of the records: the same records come in the same order, however they came in."""
    return by_words(words(key, purpose, column, ids, 2))


def by_words(ids: Words) -> NDArray[np.int64]:
    """The rows in the order of their two words. Sorting one word is fast; the second matters where words are equal."""
    found = np.argsort(ids[:, 0])
    ranked = ids[found, 0]
    if (ranked[1:] == ranked[:-1]).any():
        found = np.lexsort((ids[:, 1], ids[:, 0]))
    return found.astype(np.int64)


def generator(key: Key, purpose: str, column: str = "") -> np.random.Generator:
    """A generator for algorithms that draw one after another; sort the records by `ids` before using it."""
    seed = np.frombuffer(key.subkey(purpose, column), dtype=np.uint32)
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([int(s) for s in seed])))


def record_ids(table: pa.Table, roles: Roles, key: Key) -> Words:
    """128 bits per record that stay the same in every release under the same key.

    A record whose user and identifier columns occur once is known by them, whatever else changes.
    A record that shares them, or a table that has none, adds the record's content and, for equal records,
    the occurrence number (equal records are interchangeable).
    """
    owner = [c for c in (roles.user, *roles.identifier) if c is not None]
    content = sorted(table.column_names)
    if not owner:
        return _number_equal(_hash_columns(table, content, key), key)
    ids = _hash_columns(table, owner, key)
    shared = _shared(ids)
    if shared.any():
        full = _hash_columns(table.filter(shared), [*owner, *content], key)
        ids[shared] = _number_equal(full, key)
    return ids


def hash_column(column: pa.ChunkedArray, key: Key, purpose: str = "record") -> Words:
    """The keyed 128-bit hash of every value, of its text form: equal text, equal hash, in any file format."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from sudare.data import siphash

    k0, k1 = np.frombuffer(key.subkey(purpose, "siphash")[:16], dtype="<u8")
    out = np.empty((len(column), 2), dtype=np.uint64)
    start = 0
    for chunk in column.chunks:
        part = out[start : start + len(chunk)]
        start += len(chunk)
        valid = np.asarray(pc.is_valid(chunk))
        if pa.types.is_integer(chunk.type) and not pa.types.is_uint64(chunk.type):
            numbers = np.asarray(pc.fill_null(chunk, 0).cast(pa.int64()))
            siphash.hash_integers(k0, k1, numbers, valid, part)
        else:
            data, offsets = _text_buffers(chunk)
            siphash.hash_bytes(k0, k1, data, offsets, valid, part)
    return out


def _text_buffers(chunk: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    import pyarrow as pa

    if pa.types.is_list(chunk.type) or pa.types.is_large_list(chunk.type) or pa.types.is_struct(chunk.type):
        chunk = pa.array([None if v is None else repr(v) for v in chunk.to_pylist()], pa.large_string())
    if pa.types.is_timestamp(chunk.type):  # one unit and one zone, whatever the engine keeps
        chunk = chunk.cast(pa.timestamp("us", tz="UTC" if chunk.type.tz else None), safe=False)
    text = chunk.cast(pa.large_string())
    _, offsets, data = text.buffers()
    place = np.frombuffer(offsets, dtype=np.int64)[text.offset : text.offset + len(text) + 1]
    return np.frombuffer(data or b"\0", dtype=np.uint8), place


def _hash_columns(table: pa.Table, columns: list[str], key: Key) -> Words:
    """One id per row from several columns: the hash of the columns' hashes."""
    parts = [hash_column(table[name], key) for name in columns]
    if len(parts) == 1:
        return parts[0]
    from sudare.data import siphash

    rows, width = len(parts[0]), 16 * len(parts)
    joined = np.ascontiguousarray(np.stack(parts, axis=1)).view(np.uint8).reshape(-1)
    k0, k1 = np.frombuffer(key.subkey("record", "row")[:16], dtype="<u8")
    out = np.empty((rows, 2), dtype=np.uint64)
    offsets = np.arange(rows + 1, dtype=np.int64) * width
    siphash.hash_bytes(k0, k1, joined, offsets, np.ones(rows, dtype=np.bool_), out)
    return out


def _shared(ids: Words) -> NDArray[np.bool_]:
    """Which ids occur more than once. Sorting one word is fast; the second is looked at only where it must be."""
    words_in_order = np.sort(ids[:, 0])
    repeated = words_in_order[1:][words_in_order[1:] == words_in_order[:-1]]
    suspects = np.flatnonzero(np.isin(ids[:, 0], repeated)) if len(repeated) else np.empty(0, dtype=np.int64)
    by_id = suspects[np.lexsort((ids[suspects, 1], ids[suspects, 0]))]
    same = (ids[by_id[1:]] == ids[by_id[:-1]]).all(axis=1)
    shared = np.zeros(len(ids), dtype=np.bool_)
    shared[by_id[1:][same]] = True
    shared[by_id[:-1][same]] = True
    return shared


def _number_equal(ids: Words, key: Key) -> Words:
    """Tell equal ids apart by their occurrence number."""
    equal = np.flatnonzero(_shared(ids))
    by_id = equal[np.lexsort((ids[equal, 1], ids[equal, 0]))]
    fresh = np.ones(len(by_id), dtype=np.bool_)
    fresh[1:] = (ids[by_id[1:]] != ids[by_id[:-1]]).any(axis=1)
    first = np.maximum.accumulate(np.where(fresh, np.arange(len(by_id)), 0))
    number = (np.arange(len(by_id)) - first).astype(np.uint64)
    marked = ids[by_id]
    marked[:, 0] ^= number
    ids[by_id] = np.where((number > 0)[:, None], words(key, "occurrence", "", marked, 2), ids[by_id])
    return ids


def _encrypt(encryptor: Any, blocks: NDArray[np.uint8], step: int = 1 << 28) -> Words:
    out = np.empty(len(blocks) + 16, dtype=np.uint8)
    for start in range(0, len(blocks), step):
        part = blocks[start : start + step]
        encryptor.update_into(part.data, out[start : start + len(part) + 15].data)
    return out[: len(blocks)].view("<u8").reshape(-1, 2)
