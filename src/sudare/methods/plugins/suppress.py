"""Suppress, SuppressRecords and LocalSuppression: columns, records or single cells are not published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.constraints import Above, AtLeast
from sudare.data.values.recoded import SUPPRESSED
from sudare.engine.rows import Draft, Together
from sudare.engine.summary import COUNT, Summary
from sudare.errors import UsageError
from sudare.keys import Key, order
from sudare.methods.quasi import check_k, quasi_columns
from sudare.registry import method

if TYPE_CHECKING:
    import pyarrow as pa


MOST_SETS = 4096
Flags = NDArray[np.bool_]


@method
@dataclass(frozen=True, kw_only=True)
class Suppress:
    """Leave columns out of the release.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, Suppress(columns=["age", "address"]), key=bytes(range(32)))
    >>> release.data.columns
    ('sex', 'job', 'disease')
    """

    columns: Sequence[str] | str

    scope: ClassVar[str] = "row"
    technique: ClassVar[str] = "attribute suppression"
    family: ClassVar[str] = "Generalise and suppress"
    details: ClassVar[Mapping[str, str]] = {"columns": "fact"}

    def __post_init__(self) -> None:
        if not self.columns:
            raise UsageError("suppress: name the columns with columns=")

    def apply(self, draft: Draft, key: Key) -> Draft:
        names = draft.require(*((self.columns,) if isinstance(self.columns, str) else self.columns))
        if len(set(names)) == len(draft.table.column_names):
            raise UsageError("suppress: no column would be left; keep at least one")
        if draft.roles.user in names:
            raise UsageError(
                "suppress: the user column is replaced by pseudonyms, not suppressed; leave it out"
            )
        return draft.without_columns(tuple(dict.fromkeys(names))).replace(
            details={"columns": len(set(names))}
        )


@method
@dataclass(frozen=True, kw_only=True)
class SuppressRecords:
    """Leave out every record that shares its quasi-identifiers with fewer than k - 1 others.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, SuppressRecords(k=3, columns=["job"]), key=bytes(range(32)))
    >>> release.data.rows
    4
    """

    k: Annotated[int, AtLeast(2)]
    columns: Sequence[str] | str | None = None

    scope: ClassVar[str] = "group"
    technique: ClassVar[str] = "record suppression"
    family: ClassVar[str] = "Generalise and suppress"
    details: ClassVar[Mapping[str, str]] = {"suppressed": "total", "share": "mean"}

    def together(self, shape: Draft) -> Together:
        return Together(quasi_columns(shape, self.columns, "suppress-records"))

    def apply(self, draft: Draft, key: Key) -> Draft:
        return self.fit(draft).apply(draft, key)

    def fit(self, summary: Summary) -> SmallClasses:
        """Refuse a k that leaves nothing, before a record is touched."""
        names = quasi_columns(summary, self.columns, "suppress-records")
        check_k(summary, self.k, "suppress-records")
        if not (np.asarray(summary.counts(names)[COUNT]) >= self.k).any():
            raise UsageError(
                f"suppress-records: no class has {self.k} records, nothing is left; generalise first"
            )
        return SmallClasses(names, self.k)


class SmallClasses(NamedTuple):
    """Leave out the records of classes smaller than k."""

    columns: tuple[str, ...]
    k: int

    def apply(self, draft: Draft, key: Key) -> Draft:
        from sudare.engine.codes import classes, codes

        label, sizes = classes(codes(draft.table, self.columns)[0])
        gone = sizes[label] < self.k
        share = float(gone.mean()) if draft.rows else 0.0
        return draft.take(~gone).replace(details={"suppressed": int(gone.sum()), "share": share})


@method
@dataclass(frozen=True, kw_only=True)
class LocalSuppression:
    """Replace cells of quasi-identifiers by * until every combination, stars included, has k records.

    A star counts as a value of its own, so k holds whichever meaning a reader gives it. Sets of columns are
    tried by rising total `importance` (1 by default): a column of importance 3 keeps its cells as long as three
    others can be starred instead. No record is dropped.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, LocalSuppression(k=2), key=bytes(range(32)))
    >>> sorted(set(release.data.to_pyarrow()["age"].to_pylist()))
    ['*', '41']
    """

    k: Annotated[int, AtLeast(2)]
    columns: Sequence[str] | str | None = None
    importance: Mapping[str, Annotated[float, Above(0)]] | None = None

    scope: ClassVar[str] = "table"
    instead: ClassVar[str] = "use mondrian instead"
    technique: ClassVar[str] = "local suppression"
    family: ClassVar[str] = "Generalise and suppress"
    details: ClassVar[Mapping[str, str]] = {"cells": "total", "share": "mean"}

    def apply(self, draft: Draft, key: Key) -> Draft:
        from sudare.engine.codes import codes

        names = quasi_columns(draft, self.columns, "local-suppression")
        check_k(draft, self.k, "local-suppression")
        draft.require(*(self.importance or {}))
        weights = [float((self.importance or {}).get(name, 1)) for name in names]
        turn = order(key, "local suppression", "", draft.ids)
        stars = np.empty((draft.rows, len(names)), np.bool_)
        stars[turn] = starred_cells(codes(draft.table, names)[0][turn], self.k, weights)
        for place, name in enumerate(names):
            if stars[:, place].any():
                draft = draft.with_column(name, _with_stars(draft.table[name], stars[:, place]))
        cells = {name: int(count) for name, count in zip(names, stars.sum(axis=0), strict=True)}
        return draft.replace(details={"cells": cells, "share": float(stars.mean()) if stars.size else 0.0})


def starred_cells(matrix: NDArray[np.int32], k: int, weights: Sequence[float]) -> Flags:
    """Which cells to star so that equal rows, stars included, are at least k.

    >>> starred_cells(np.array([[0, 0], [0, 1], [1, 2], [1, 2]], np.int32), 2, [1, 1]).astype(int).tolist()
    [[0, 1], [0, 1], [0, 0], [0, 0]]
    """
    rows, width = matrix.shape
    stars = np.zeros((rows, width), np.bool_)
    left = np.arange(rows)
    sets = _by_cost(width, weights)
    for starred in sets:
        if len(left) < k:
            break
        done = _group_sizes(matrix[left][:, ~starred]) >= k
        stars[left[done]] = starred
        left = left[~done]
    waiting = np.zeros(rows, np.bool_)
    waiting[left] = True
    while waiting.any():
        _place(int(np.argmax(waiting)), matrix, stars, waiting, k, sets)
    return stars


def _place(
    row: int, matrix: NDArray[np.int32], stars: Flags, waiting: Flags, k: int, sets: Sequence[Flags]
) -> None:
    """Star the fewest columns on which a waiting row finds company: a class with these stars, rows that other
    classes can spare, or whole classes.
    """
    from sudare.engine.codes import classes

    label, sizes = classes(np.where(stars, -1, matrix) + 1)
    for starred in sets:
        shown = ~starred
        same = (matrix[:, shown] == matrix[row, shown]).all(axis=1) & ~stars[:, shown].any(axis=1)
        mates = same & waiting
        there = same & ~waiting
        if (stars[there] == starred).all(axis=1).any():
            pulled: NDArray[np.int64] | None = np.empty(0, np.int64)
        else:
            pulled = _pull(np.flatnonzero(there), label, sizes, k, k - int(mates.sum()))
        if pulled is not None:
            stars[mates] = starred
            stars[pulled] = starred
            waiting[mates] = False
            return


def _pull(
    rows: NDArray[np.int64], label: NDArray[np.int64], sizes: NDArray[np.int64], k: int, need: int
) -> NDArray[np.int64] | None:
    """`need` of the rows or a few more, so that no class they leave falls below k; None if there are too few."""
    spare = rows[_rank_in_class(label[rows]) >= k]
    if len(spare) >= need:
        return spare[:need]
    if len(rows) < need:
        return None
    by_size = rows[np.lexsort((label[rows], sizes[label[rows]]))]
    last = label[by_size[need - 1]]
    return by_size[: int(np.flatnonzero(label[by_size] == last)[-1]) + 1]


def _group_sizes(matrix: NDArray[np.int32]) -> NDArray[np.int64]:
    from sudare.engine.codes import classes

    if matrix.shape[1] == 0:
        return np.full(len(matrix), len(matrix), np.int64)
    label, sizes = classes(matrix)
    return sizes[label]


def _rank_in_class(label: NDArray[np.int64]) -> NDArray[np.int64]:
    by_class = np.argsort(label, kind="stable")
    starts = np.searchsorted(label[by_class], label[by_class])
    rank = np.empty(len(label), np.int64)
    rank[by_class] = np.arange(len(label)) - starts
    return rank


def _by_cost(width: int, weights: Sequence[float]) -> list[Flags]:
    """Sets of columns to star, the cheapest first; of very many columns only small sets, then all of them."""
    sets: list[tuple[int, ...]] = []
    for size in range(width):
        more = list(combinations(range(width), size))
        if len(sets) + len(more) > MOST_SETS:
            break
        sets += more
    sets.sort(key=lambda chosen: (sum(weights[c] for c in chosen), chosen))
    return [np.isin(np.arange(width), chosen) for chosen in [*sets, tuple(range(width))]]


def _with_stars(column: pa.ChunkedArray, stars: Flags) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    from sudare.data.values.hierarchies import as_text

    return pc.if_else(pa.array(stars), SUPPRESSED, as_text(column))
