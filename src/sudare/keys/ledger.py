"""The ledger beside a key: whose records were randomised before, under which key.

Publishing the same records twice with fresh randomness lets anyone intersect the sets: at 50 values and
l = 10 three such releases disclose 73% of the records. The ledger refuses that. It holds no personal data:
per release the key's fingerprint, the column, the size of the domain and a sketch of the people, made
under a secret that only the ledger has. The sketch keeps 16 bits of the smallest keyed hash in each of 128
buckets: enough to see that two sets overlap by 2% or more, too little to say anything about a person.
"""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.files.private import locked
from sudare.data.files.unit import PRIVATE
from sudare.data.files.writers import write_json
from sudare.errors import DataError, UsageError
from sudare.keys import Key, Words, words

BUCKETS = 128
EMPTY = -1
OVERLAP = 0.02
ENTRY = {"key", "column", "domain", "sketch"}


@dataclass(frozen=True)
class Ledger:
    """The file beside a key; one ledger serves all keys of a folder."""

    path: Path

    @classmethod
    def beside(cls, key: Key) -> Ledger | None:
        """The ledger of a key's folder; a key that is not in a file has none."""
        return None if key.path is None else cls(key.path.absolute().parent / "sudare-ledger.json")

    def check(self, key: Key, column: str, domain: str, sketch: list[int]) -> None:
        """Refuse records that were already randomised with another key or another domain; enter the others.

        The very release that the ledger has already draws nothing new. Of two runs at once the second sees the entry
        of the first.
        """
        with self._locked():
            ledger = self._read()
            if self._entry(key, column, domain, sketch) not in ledger["releases"]:
                self._refuse(ledger["releases"], key, column, domain, sketch)
                self._add(ledger, self._entry(key, column, domain, sketch))

    def _refuse(
        self, releases: list[dict[str, Any]], key: Key, column: str, domain: str, sketch: list[int]
    ) -> None:
        for entry in releases:
            if entry["column"] != column or overlap(entry["sketch"], sketch) <= OVERLAP:
                continue
            if entry["key"] != key.fingerprint:
                raise UsageError(
                    f"{column}: these records were already randomised with the key {entry['key']}; a second "
                    "draw lets anyone intersect the two sets. Use the same key, or force it (--force) if the "
                    "first release was never published"
                )
            if entry["domain"] != domain:
                raise UsageError(
                    f"{column}: these records were already randomised with another domain of values; the two "
                    "sets can be intersected. Give the first domain with domain=, or force it (--force) if the first "
                    "release was never published"
                )

    def remember(self, key: Key, column: str, domain: str, sketch: list[int]) -> None:
        """Add a release, unless it is there already."""
        with self._locked():
            ledger = self._read()
            entry = self._entry(key, column, domain, sketch)
            if entry not in ledger["releases"]:
                self._add(ledger, entry)

    def _add(self, ledger: dict[str, Any], entry: dict[str, Any]) -> None:
        self._write({**ledger, "releases": [*ledger["releases"], entry]})

    def _entry(self, key: Key, column: str, domain: str, sketch: list[int]) -> dict[str, Any]:
        return {"key": key.fingerprint, "column": column, "domain": domain, "sketch": sketch}

    def secret(self) -> Key:
        """The ledger's own key, which no release depends on."""
        with self._locked():
            return Key(bytes.fromhex(self._read(make=True)["secret"]))

    def domain(self, column: str, values: list[str]) -> str:
        """A keyed digest of a domain of values."""
        return self.secret().subkey("ledger domain", json.dumps([column, *values])).hex()[:16]

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Alone with the ledger; the lock file beside it serves everybody who shares it, and stays."""
        try:
            with locked(self.path.with_name(f".{self.path.name}.lock")):
                yield
        except OSError:
            raise self._not_written() from None

    def _read(self, make: bool = False) -> dict[str, Any]:
        try:
            ledger = json.loads(self.path.read_text("utf-8"))
            known = all(set(entry) >= ENTRY for entry in ledger["releases"])
            if known and len(bytes.fromhex(ledger["secret"])) == 32:
                return dict(ledger)
        except FileNotFoundError:
            ledger = {"sudare-ledger": 1, "secret": secrets.token_bytes(32).hex(), "releases": []}
            if make:
                self._write(ledger)
            return ledger
        except (OSError, ValueError, TypeError, KeyError):
            pass
        raise UsageError(f"{self.path}: the ledger of releases cannot be read; restore it from a backup")

    def _write(self, ledger: dict[str, Any]) -> None:
        try:
            write_json(ledger, self.path, mode=PRIVATE)
        except DataError:
            raise self._not_written() from None

    def _not_written(self) -> UsageError:
        return UsageError(
            f"{self.path}: the ledger of releases cannot be written; keep the key in a folder that you may write to"
        )


def smallest_marks(ids: Words, secret: Key) -> Words:
    """The smallest keyed hash of some people in every bucket: all that a sketch needs to know of them."""
    hashes = words(secret, "ledger", "", ids, 2)
    bucket = hashes[:, 0] % np.uint64(BUCKETS)
    order = np.lexsort((hashes[:, 1], bucket))
    return hashes[order[np.unique(bucket[order], return_index=True)[1]]]


def sketch_of(hashes: NDArray[np.uint64]) -> list[int]:
    """16 bits of the smallest hash per bucket, -1 for an empty one; the order of records does not matter."""
    bucket = (hashes[:, 0] % np.uint64(BUCKETS)).astype(np.int64)
    smallest = np.full(BUCKETS, np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(smallest, bucket, hashes[:, 1])
    found = np.bincount(bucket, minlength=BUCKETS) > 0
    return np.where(found, (smallest & np.uint64(0xFFFF)).astype(np.int64), EMPTY).tolist()


def overlap(first: list[int], second: list[int]) -> float:
    """The estimated share of common records (Jaccard) from two sketches.

    >>> overlap([5, 7, -1], [5, 8, -1])
    0.5
    """
    filled = [(a, b) for a, b in zip(first, second) if a != EMPTY or b != EMPTY]
    return sum(a == b for a, b in filled) / max(len(filled), 1)
