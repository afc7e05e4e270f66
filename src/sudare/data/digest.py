"""The checksum of a table: equal for equal names, types and cells, wherever they were read from."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset


def table_digest(ds: Dataset) -> str:
    """SHA-256 over names, types and cells in the order of the rows, however the rows come in batches."""
    import pyarrow as pa

    columns = [(hashlib.sha256(), hashlib.sha256()) for _ in ds.columns]
    for batch in ds.batches():
        for (lengths, cells), column in zip(columns, batch.columns):
            nested = pa.types.is_nested(column.type)
            text = pa.array(map(str, column.to_pylist()), pa.large_string()) if nested else column
            _update(lengths, cells, text)
    whole = hashlib.sha256(repr([(f.name, str(f.type)) for f in ds.schema]).encode())
    for lengths, cells in columns:
        whole.update(lengths.digest() + cells.digest())
    return whole.hexdigest()


def _update(lengths: Any, cells: Any, column: Any) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.fill_null(column.cast(pa.large_string()), "")
    _, bounds, data = text.buffers()
    offsets = np.frombuffer(bounds, np.int64)[text.offset : text.offset + len(text) + 1]
    sizes = np.where(np.asarray(pc.is_valid(column)), np.diff(offsets), -1)
    lengths.update(sizes.astype("<i8").tobytes())
    if data is not None:
        cells.update(memoryview(data)[offsets[0] : offsets[-1]])
