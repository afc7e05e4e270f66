"""Class sizes when a missing or suppressed value may be any value.

A record then hides among all records that agree with it wherever both are known. The relation is not
transitive, so there are no classes any more, but every record still has a number of companions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.data.values.recoded import SUPPRESSED
from sudare.engine.codes import classes, codes

Ints = NDArray[np.int64]


def companions(
    matrix: NDArray[np.int32], known: NDArray[np.bool_], sizes: Ints, *, shared: bool = False
) -> Ints:
    """For every class the people that agree with it on all columns that both know, its own included.

    `shared`: a person may be in several classes; then only the largest matching class is counted for certain.

    Classes with the same pattern of known columns are matched with those of another pattern by one grouping
    of their common columns: never pair by pair.

    >>> matrix = np.array([[0, 0], [0, 1], [0, 9]], np.int32)
    >>> known = np.array([[True, True], [True, True], [True, False]])
    >>> companions(matrix, known, np.ones(3, np.int64)).tolist()
    [2, 2, 3]
    """
    out = np.zeros(len(matrix), np.int64)
    patterns, pattern = np.unique(known, axis=0, return_inverse=True)
    members = [np.flatnonzero(pattern.ravel() == p) for p in range(len(patterns))]
    for a, mine in enumerate(members):
        for b, theirs in enumerate(members):
            common = patterns[a] & patterns[b]
            more = _matching(matrix[mine][:, common], matrix[theirs][:, common], sizes[theirs], shared)
            out[mine] = np.maximum(out[mine], more) if shared else out[mine] + more
    return out


def wildcard_sizes(table: pa.Table, quasi: Sequence[str], sizes: Ints, *, shared: bool = False) -> Ints:
    """Companions of every row of a table of classes; null and a suppressed cell are unknown."""
    matrix, _ = codes(table, quasi)
    known = np.column_stack([~unknown(table[name]) for name in quasi])
    return companions(matrix, known, sizes, shared=shared)


def unknown(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Which cells say nothing: null, NaN and the suppressed cell `*`."""
    missing = np.asarray(pc.is_null(column, nan_is_null=True))
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        missing = missing | np.asarray(pc.equal(column, SUPPRESSED).fill_null(False))
    return missing


def _matching(mine: NDArray[np.int32], theirs: NDArray[np.int32], sizes: Ints, shared: bool) -> Ints:
    """For every row of `mine` the sum (or the largest) of the sizes of the equal rows of `theirs`."""
    if mine.shape[1] == 0:
        return np.full(len(mine), sizes.max() if shared else sizes.sum(), np.int64)
    label, _ = classes(np.concatenate((mine, theirs)))
    total = np.zeros(int(label.max()) + 1, np.int64)
    (np.maximum if shared else np.add).at(total, label[len(mine) :], sizes)
    return total[label[: len(mine)]]
