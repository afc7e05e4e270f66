"""Random numbers that belong to a record: AES under a subkey, applied to the record's id."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.keys.key import Key

Words = NDArray[np.uint64]
Floats = NDArray[np.float64]


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


def _encrypt(encryptor: Any, blocks: NDArray[np.uint8], step: int = 1 << 28) -> Words:
    out = np.empty(len(blocks) + 16, dtype=np.uint8)
    for start in range(0, len(blocks), step):
        part = blocks[start : start + step]
        encryptor.update_into(part.data, out[start : start + len(part) + 15].data)
    return out[: len(blocks)].view("<u8").reshape(-1, 2)
