"""Columns whose cells are sets of values: how they are published and how they are read back.

Arrow and Parquet hold a list in the order of the domain. CSV holds `a|b|c`: a bar or a backslash within a
value is written with a backslash before it, a missing value as \\N; `sudare.open` makes lists of it. The
recipient also needs the domain and l, which travel in the sidecar:
`{"l": 2, "domain": ["a", "b", "c"], "version": 1}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sudare.data.values.recoded import plain
from sudare.errors import DataError, UsageError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Codes = NDArray[np.integer]

VERSION = 1


@dataclass(frozen=True)
class SetSchema:
    """What a recipient must know of a column of sets: every possible value, and how many a set has."""

    l: int
    domain: tuple[Any, ...]

    @classmethod
    def of(cls, entry: Mapping[str, Any], column: str) -> SetSchema:
        """The schema as it stands in a sidecar."""
        if not isinstance(entry, Mapping) or entry.get("version") != VERSION:
            raise DataError(f"{column}: this sidecar is of another version; read it with a newer sudare")
        l, domain = entry.get("l"), entry.get("domain")
        if not isinstance(l, int) or l < 1 or not isinstance(domain, (list, tuple)) or not domain:
            raise DataError(f"{column}: the sidecar lacks l or domain; ask for the sidecar again")
        if len({plain(value) for value in domain}) < len(domain):
            raise DataError(f"{column}: the domain in the sidecar repeats a value; ask for the sidecar again")
        return cls(l, tuple(domain))

    def to_dict(self) -> dict[str, Any]:
        texts = [v if isinstance(v, (str, int, float, bool, type(None))) else plain(v) for v in self.domain]
        return {"l": self.l, "domain": texts, "version": VERSION}

    @property
    def size(self) -> int:
        return len(self.domain)


def check_l(l: int, size: int, column: str) -> None:
    """Refuse an l that cannot be published or says nothing."""
    instead = f"choose l up to {size - 1}" if size > 2 else "give a larger domain with domain="
    if l > size:
        raise UsageError(f"{column}: l = {l} is larger than the {size} values of the domain; {instead}")
    if l == size:
        raise UsageError(
            f"{column}: l = {l} is the whole domain: every set would be the same and nothing can be "
            f"estimated from it; {instead}"
        )


def to_arrow(values: Codes, offsets: Codes, domain: pa.Array) -> pa.Array:
    """Lists of codes as an Arrow list column; the values are stored once, as a dictionary.

    >>> import numpy as np, pyarrow as pa
    >>> to_arrow(np.array([0, 2, 1]), np.array([0, 2, 3]), pa.array(["a", "b", "c"])).to_pylist()
    [['a', 'c'], ['b']]
    """
    import numpy as np
    import pyarrow as pa

    kind = np.int8 if len(domain) <= 2**7 else np.int16 if len(domain) <= 2**15 else np.int32
    indices = values.astype(kind) if values.dtype.itemsize != np.dtype(kind).itemsize else values.view(kind)
    missing = indices == len(domain) - 1 if domain.null_count else None
    members = pa.DictionaryArray.from_arrays(pa.array(indices, mask=missing), domain.drop_null())
    if len(values) < 2**31:
        return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), members)
    return pa.LargeListArray.from_arrays(pa.array(offsets.astype(np.int64)), members)


def from_arrow(column: pa.ChunkedArray, domain: Sequence[Any], name: str) -> tuple[Codes, NDArray[np.int64]]:
    """The codes of all members and the offsets of the lists; a value outside the domain is a DataError."""
    import numpy as np

    code_of = {plain(value): code for code, value in enumerate(domain)}
    kind = np.uint8 if len(domain) <= 2**8 else np.int32
    parts, lengths = [], []
    for chunk in column.chunks:
        members, sizes = _members(chunk, name)
        parts.append(_codes(members, code_of, kind, name))
        lengths.append(sizes)
    values = parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, kind), *parts])
    offsets = np.zeros(len(column) + 1, np.int64)
    np.cumsum(np.concatenate([np.empty(0, np.int64), *lengths]), out=offsets[1:])
    return values, offsets


def is_sets(kind: pa.DataType) -> bool:
    """Whether a column of this Arrow type holds lists."""
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def to_text(members: Iterable[Any]) -> str:
    r"""A set as it stands in a CSV cell.

    >>> print(to_text(["flu", "a|b", None]))
    flu|a\|b|\N
    """
    texts = (plain(member) for member in members)
    return "|".join(r"\N" if t is None else t.replace("\\", "\\\\").replace("|", "\\|") for t in texts)


def from_text(cell: str) -> list[str | None]:
    r"""The members of a set from its text.

    >>> from_text(r"flu|a\|b|\N")
    ['flu', 'a|b', None]
    """
    parts = re.findall(r"((?:\\.|[^\\|])*)(\||$)", cell)
    members = [text for text, _ in parts[: sum(end == "|" for _, end in parts) + 1]]
    return [None if m == r"\N" else re.sub(r"\\(.)", r"\1", m) for m in members]


def list_of_text(column: str) -> str:
    r"""The SQL expression that makes a list of such a cell.

    Escapes are renamed first (`\\` to `\1`, `\|` to `\2`), so that every bar that is left parts two members. A cell
    that a spreadsheet would have run begins with a backslash more.

    >>> from sudare.data.connection import scalar
    >>> scalar(rf"SELECT {list_of_text('cell')} FROM (SELECT 'flu|a\|b|\N' AS cell)")
    ['flu', 'a|b', None]
    """
    cell = rf"regexp_replace({column}, '^\\([=+\-@\t\r])', '\1')"
    renamed = rf"replace(replace({cell}, '\\', '\1'), '\|', '\2')"
    member = r"replace(replace(member, '\2', '|'), '\1', '\')"
    return (
        rf"list_transform(string_split({renamed}, '|'), "
        rf"lambda member: CASE WHEN member = '\N' THEN NULL ELSE {member} END)"
    )


def columns_of(published: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns that a release says it publishes as sets."""
    schema = published.get("schema")
    if not isinstance(schema, Mapping):
        return ()
    forms = [schema.get(form) for form in ("randomized", "anatomy")]
    return tuple(name for columns in forms if isinstance(columns, Mapping) for name in columns)


def _members(chunk: pa.Array, name: str) -> tuple[pa.Array, NDArray[np.int64]]:
    """The members of all lists of a chunk in one array, and the length of every list."""
    import numpy as np
    import pyarrow.compute as pc

    if not is_sets(chunk.type):
        raise DataError(f"{name}: not a column of sets; is this the release that belongs to the sidecar?")
    if chunk.null_count:
        raise DataError(f"{name}: {chunk.null_count} records have no set; the release was changed")
    return pc.list_flatten(chunk), np.asarray(pc.list_value_length(chunk)).astype(np.int64)


def _codes(members: pa.Array, code_of: Mapping[str | None, int], kind: type, name: str) -> Codes:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(members.type):
        members = pc.dictionary_encode(members)
    known = [code_of.get(plain(value), -1) for value in members.dictionary.to_pylist()]
    lookup = np.array([*known, code_of.get(None, -1)], np.int64)
    indices = np.asarray(members.indices.fill_null(len(known)) if members.null_count else members.indices)
    suspect = -1 in known or (members.null_count and lookup[-1] < 0)
    if suspect and (lookup[np.unique(indices)] < 0).any():
        raise DataError(f"{name}: a set has a value that is not in the domain of the sidecar")
    if members.null_count == 0 and np.array_equal(known, np.arange(len(known))):
        return (
            indices.view(kind) if indices.dtype.itemsize == np.dtype(kind).itemsize else indices.astype(kind)
        )
    return np.asarray(lookup.astype(kind)[indices])
