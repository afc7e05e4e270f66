"""The checksum of a table's content: equal for equal names and cells, in whatever file they stand.

Cells are compared as text, as all formats hold them alike: 1.0, 1 and "1.00" are one number, midnight is its date,
a set is `a|b|c`, a cell that was escaped for spreadsheets is itself, and null, NaN and empty text are missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sudare.data.values import sets

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.data.dataset import Dataset

ESCAPED = r"^['\\]([=+\-@\t\r])"
REWRITTEN = (
    (r"^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)", r"\1 \2"),
    (r"\+00:00$", "Z"),
    (r"(:\d\d\.\d*?)0+(Z?)$", r"\1\2"),
    (r"(:\d\d)\.(Z?)$", r"\1\2"),
    (r"^(\d{4}-\d\d-\d\d) 00:00:00$", r"\1"),
    (r"^\+?(-?)0*(\d+)$", r"\1\2"),
    (r"^-0$", "0"),
    (r"^(?i)true$", "true"),
    (r"^(?i)false$", "false"),
    (r"^(?i)nan$", ""),
)
FRACTION = r"^[+-]?(\d+\.\d*|\.\d+|\d+(\.\d*)?[eE][+-]?\d+)$"
LARGEST = 2.0**63
ROWS = 1 << 17  # at a time


def table_digest(ds: Dataset) -> str:
    """SHA-256 over names and cells in the order of the rows."""
    digest = ContentDigest(ds.columns)
    for batch in ds.batches():
        digest.update(batch.columns)
    return digest.hexdigest()


class ContentDigest:
    """The digest of rows that come in parts, however they are cut."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.columns = [(hashlib.sha256(), hashlib.sha256()) for _ in names]

    def update(self, columns: Iterable[pa.Array]) -> None:
        """The cells of some more rows."""
        for (lengths, cells), column in zip(self.columns, columns):
            _update(lengths, cells, canonical_text(column))

    def over(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """Tables on their way to a file."""
        for table in tables:
            for batch in table.to_batches(max_chunksize=ROWS):
                self.update(batch.columns)
            yield table

    def hexdigest(self) -> str:
        import pyarrow as pa
        import pyarrow.compute as pc

        names = pc.replace_substring_regex(pa.array(self.names, pa.string()), ESCAPED, r"\1")
        whole = hashlib.sha256(repr(names.to_pylist()).encode())
        for lengths, cells in self.columns:
            whole.update(lengths.digest() + cells.digest())
        return whole.hexdigest()


def canonical_text(column: pa.Array) -> pa.Array:
    """Cells as the text that every format has in common; what is missing is null or empty.

    >>> import pyarrow as pa
    >>> canonical_text(pa.array([1.0, 0.5, float("nan")])).to_pylist()
    ['1', '0.5', None]
    >>> canonical_text(pa.array(["1.50", "'=A1"])).to_pylist()
    ['1.5', '=A1']
    """
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        return canonical_text(column.dictionary).take(column.indices)
    if sets.is_sets(kind):
        return _canonical(_joined(column))
    if pa.types.is_floating(kind):
        return _numbers(column)
    if pa.types.is_timestamp(kind):
        column = column.cast(pa.timestamp("us", "UTC" if kind.tz else None), safe=False)
    try:
        text = column.cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        text = pa.array([None if c is None else str(c) for c in column.to_pylist()], pa.large_string())
    return text if pa.types.is_integer(kind) or pa.types.is_boolean(kind) else _canonical(text)


def _canonical(text: pa.Array) -> pa.Array:
    """Different texts are few: each is rewritten once."""
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = text.dictionary_encode()
    words = pc.replace_substring_regex(encoded.dictionary, ESCAPED, r"\1")
    words = pc.utf8_trim_whitespace(words)
    for pattern, instead in REWRITTEN:
        words = pc.replace_substring_regex(words, pattern, instead)
    fractions = pc.match_substring_regex(words, FRACTION)
    if pc.any(fractions).as_py():
        numbers = _numbers(pc.if_else(fractions, words, "0").cast(pa.float64()))
        words = pc.if_else(fractions, numbers, words)
    return words.take(encoded.indices)


def _numbers(column: pa.Array) -> pa.Array:
    """Whole numbers without a point or an exponent, others as short as they can be told apart; NaN is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = column.cast(pa.float32()) if pa.types.is_float16(column.type) else column
    whole = pc.and_(pc.equal(column, pc.floor(column)), pc.less(pc.abs(column), LARGEST))
    whole = pc.fill_null(whole, False)
    integers = pc.if_else(whole, column, pa.scalar(0, column.type)).cast(pa.int64(), safe=False)
    text = pc.if_else(whole, integers.cast(pa.large_string()), column.cast(pa.large_string()))
    return pc.if_else(pc.is_nan(column), pa.scalar(None, pa.large_string()), text)


def _joined(column: pa.Array) -> pa.Array:
    """Sets as they stand in a CSV file; every different member is written once."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    members = column.flatten()
    encoded = members if pa.types.is_dictionary(members.type) else members.dictionary_encode()
    words = pa.array([sets.to_text([member]) for member in encoded.dictionary.to_pylist()], pa.string())
    texts = pc.fill_null(words.take(encoded.indices), sets.to_text([None]))
    sizes = np.asarray(pc.fill_null(pc.list_value_length(column), 0), np.int64)
    offsets = np.concatenate([np.zeros(1, np.int32), np.cumsum(sizes, dtype=np.int32)])
    joined = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets), texts), "|")
    return pc.if_else(pc.is_valid(column), joined, pa.scalar(None, pa.string())).cast(pa.large_string())


def _update(lengths: Any, cells: Any, text: pa.Array) -> None:
    import numpy as np
    import pyarrow.compute as pc

    text = pc.fill_null(text, "")
    _, bounds, data = text.buffers()
    offsets = np.frombuffer(bounds, np.int64)[text.offset : text.offset + len(text) + 1]
    sizes = np.diff(offsets)
    lengths.update(np.where(sizes > 0, sizes, -1).astype("<i8").tobytes())
    if data is not None:
        cells.update(memoryview(data)[offsets[0] : offsets[-1]])
