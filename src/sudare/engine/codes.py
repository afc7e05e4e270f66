"""Columns as small whole numbers, and rows with equal numbers as classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sudare.data.values import sets
from sudare.data.values.hierarchies import as_text

if TYPE_CHECKING:
    import pyarrow as pa

Codes = NDArray[np.int32]
MISSING_KEY = 1 << 40  # of a cell among small whole numbers that are their own 64-bit keys: no 32-bit number


def codes(table: pa.Table, columns: Sequence[str]) -> tuple[Codes, list[pa.Array]]:
    """The code of every cell and, per column, the values by code: sorted, null last, null a value of its own."""
    (matrix,), values = joint_codes([table], columns)
    return matrix, values


def joint_codes(tables: Sequence[pa.Table], columns: Sequence[str]) -> tuple[list[Codes], list[pa.Array]]:
    """The same codes for several tables: equal values, equal codes. Columns of unequal types compare as numbers
    where both are, else as the text that is published.
    """
    matrices = [np.empty((t.num_rows, len(columns)), dtype=np.int32) for t in tables]
    values = []
    for place, name in enumerate(columns):
        per_table, known = _column_codes([t[name] for t in tables])
        values.append(known)
        for matrix, column in zip(matrices, per_table):
            matrix[:, place] = column
    return matrices, values


def classes(matrix: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The class of every row (rows with equal vectors share one) and the size of every class.

    >>> import numpy as np
    >>> classes(np.array([[1, 2], [0, 5], [1, 2]]))
    (array([1, 0, 1]), array([1, 2]))
    """
    rows = len(matrix)
    label = np.zeros(rows, dtype=np.int64)
    for column in matrix.T:
        width = int(column.max(initial=0)) + 1
        label = label * width + column
        _, label = np.unique(label, return_inverse=True)
    sizes = np.bincount(label, minlength=0)
    return label.astype(np.int64), sizes.astype(np.int64)


def _column_codes(columns: Sequence[pa.ChunkedArray]) -> tuple[list[NDArray[np.int64]], pa.Array]:
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = [_sets_as_text(column) if sets.is_sets(column.type) else column for column in columns]
    if len({column.type for column in columns}) > 1:
        columns = [_comparable(column, columns) for column in columns]
    together = pa.chunked_array([chunk for column in columns for chunk in column.chunks], columns[0].type)
    coded = together.combine_chunks()
    if isinstance(coded, pa.ChunkedArray):
        coded = pa.concat_arrays(coded.chunks)
    coded = pc.dictionary_encode(coded, null_encoding="encode")
    dictionary, indices = coded.dictionary, np.asarray(coded.indices)
    by_value = np.asarray(pc.array_sort_indices(dictionary))  # nulls go last
    place = np.empty(len(by_value), dtype=np.int64)
    place[by_value] = np.arange(len(by_value))
    found = place[indices]
    ends = np.cumsum([len(column) for column in columns])
    return np.split(found, ends[:-1]), dictionary.take(pa.array(by_value))


def _sets_as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Sets compare by their text form, with plain values too."""
    import pyarrow as pa

    texts = [None if cell is None else sets.to_text(cell) for cell in column.to_pylist()]
    return pa.chunked_array([pa.array(texts, pa.string())])


def _comparable(column: pa.ChunkedArray, columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    import pyarrow as pa

    from sudare.engine.numbers import is_number

    if all(pa.types.is_integer(c.type) for c in columns):
        return column.cast(pa.decimal128(20))
    if all(is_number(c.type) for c in columns):
        return column.cast(pa.float64(), safe=False)  # above 2^53 the nearest double
    return pa.chunked_array([as_text(column)])
