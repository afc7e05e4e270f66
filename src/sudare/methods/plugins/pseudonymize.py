"""Pseudonymize: names become keyed codes, identifiers go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.data.roles import Roles
from sudare.errors import DataError, UsageError
from sudare.keys import Key, hash_column
from sudare.registry import method

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.engine.rows import Draft

LENGTH = 16
ALPHABET = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz234567", np.uint8)


@method
@dataclass(frozen=True, kw_only=True)
class Pseudonymize:
    """Replace the user column by pseudonyms and drop the identifiers.

    A pseudonym is 79 bits of a keyed hash of the name: the same person has the same one in every release under
    the same key and `recipient`; without the key nobody can compute it from the name. Give recipients who must not
    join their tables different names. Identifiers named in `keep` get pseudonyms instead of going.

    >>> import sudare
    >>> shop = sudare.open("example:purchases", user="user", quasi=["date", "goods"], sensitive="price")
    >>> release = sudare.anonymize(shop, Pseudonymize(recipient="recipient A"), key=bytes(range(32)))
    >>> sorted(set(map(len, release.data.to_pyarrow()["user"].to_pylist())))
    [16]
    """

    recipient: str = ""
    keep: Sequence[str] | str = ()

    scope: ClassVar[str] = "row"
    technique: ClassVar[str] = "pseudonymization"
    family: ClassVar[str] = "Histories"
    details: ClassVar[Mapping[str, str]] = {"pseudonyms": "fact", "dropped": "fact"}

    def apply(self, draft: Draft, key: Key) -> Draft:
        kept = (self.keep,) if isinstance(self.keep, str) else tuple(self.keep)
        for name in draft.require(*kept):
            if name not in draft.roles.identifier:
                raise UsageError(f"pseudonymize: column '{name}' is no identifier; keep= names identifiers")
        user = (draft.roles.user,) if draft.roles.user is not None else ()
        for name in (*user, *kept):
            draft = draft.with_column(name, pseudonyms(draft.table[name], key, name, self.recipient))
        gone = tuple(name for name in draft.roles.identifier if name not in kept)
        roles = draft.roles.without(draft.roles.identifier)
        draft = draft.without_columns(gone).replace(roles=_with_other(roles, kept), pseudonymised=True)
        return draft.replace(details={"pseudonyms": len((*user, *kept)), "dropped": len(gone)})


def pseudonyms(column: pa.ChunkedArray, key: Key, name: str, recipient: str = "") -> pa.Array:
    """The pseudonym of every cell: a letter and 15 letters or digits; equal cells, equal pseudonyms."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.null_count:
        raise DataError(f"column '{name}': {column.null_count} records without a person; remove or name them")
    chunk = column.combine_chunks()
    array = pa.concat_arrays(chunk.chunks) if isinstance(chunk, pa.ChunkedArray) else chunk
    coded = array if pa.types.is_dictionary(array.type) else pc.dictionary_encode(array)
    hashed = hash_column(
        pa.chunked_array([coded.dictionary]), key, f"pseudonym {len(recipient)} {recipient} {name}"
    )
    return texts(hashed).take(coded.indices)


def texts(words: NDArray[np.uint64]) -> pa.Array:
    """128 random bits as a text that no reader takes for a number: its first character is a letter.

    >>> texts(np.zeros((1, 2), np.uint64)).to_pylist()
    ['aaaaaaaaaaaaaaaa']
    """
    import pyarrow as pa

    symbols = np.empty((len(words), LENGTH), np.uint8)
    symbols[:, 0] = ALPHABET[(words[:, 1] >> np.uint64(60)).astype(np.int64)]
    for place in range(1, LENGTH):
        word, shift = (0, 5 * (place - 1)) if place <= 12 else (1, 5 * (place - 13))
        symbols[:, place] = ALPHABET[((words[:, word] >> np.uint64(shift)) & np.uint64(31)).astype(np.int64)]
    offsets = np.arange(len(words) + 1, dtype=np.int32) * LENGTH
    return pa.StringArray.from_buffers(len(words), pa.py_buffer(offsets), pa.py_buffer(symbols))


def _with_other(roles: Roles, names: tuple[str, ...]) -> Roles:
    return Roles.of(**{**roles.to_dict(), "other": (*roles.other, *names)})
