"""Secret keys and the randomness that is derived from them, record by record.

Derivation, version 1. From the 256-bit key K:
- a subkey for a purpose: HMAC-SHA-256(K, "sudare/1" and the length-prefixed purpose, column and counter);
- a record's id: SipHash-2-4-128 under a subkey of K of the values that identify the record (see `record_ids`);
- its random words: AES-256 under the subkey, applied to the 128-bit id;
- its noise: a Brownian path whose values are drawn under subkeys of their times (see `brownian`).
AES under a secret key is a pseudo-random function of the id, so a draw depends on the record alone: not on
the order of rows, on chunks, on threads, on the release. Without K nobody can repeat a draw.
"""

from sudare.keys.draws import Words, by_words, generator, normal, order, uniform, words
from sudare.keys.key import Key
from sudare.keys.paths import brownian
from sudare.keys.records import hash_column, record_ids

__all__ = [
    "Key",
    "Words",
    "brownian",
    "by_words",
    "generator",
    "hash_column",
    "normal",
    "order",
    "record_ids",
    "uniform",
    "words",
]
