"""Mondrian by counts: the groups depend only on how often each combination of quasi-identifiers occurs.

The histogram is cut, like the kernel does, until a part has few enough rows for the kernel; what each combination
publishes is then looked up, wherever the rows are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.engine.kernels.conditions import DISTINCT, Conditions
from sudare.engine.kernels.mondrian import mondrian as kernel

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.engine.rows import Draft
    from sudare.keys import Key

PART_ROWS = 5_000_000

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def group_classes(
    codes: Codes, counts: Ints, point: Floats, offset: Ints, k: int, part_rows: int = PART_ROWS
) -> tuple[Ints, int]:
    """The group of every combination; `codes[i]` occurs `counts[i]` times."""
    free = Conditions(1.0, DISTINCT, 1.0, False, np.ones(1))
    group_of, groups = np.empty(len(codes), np.int64), 0
    stack = [np.arange(len(codes))]
    while stack:
        part = stack.pop()
        rows = int(counts[part].sum())
        left = _cut(codes[part], counts[part], point, offset, k) if rows > part_rows else None
        if left is not None:
            stack += [part[left], part[~left]]
        elif rows > part_rows:  # no cut leaves k rows on both sides
            group_of[part] = groups
            groups += 1
        else:
            repeated = np.repeat(codes[part], counts[part], axis=0)
            found, number = kernel(repeated, point, offset, k, False, np.zeros(rows, np.int32), free)
            starts = np.cumsum(counts[part]) - counts[part]
            group_of[part] = groups + found[starts]
            groups += number
    return group_of, groups


def _cut(codes: Codes, counts: Ints, point: Floats, offset: Ints, k: int) -> NDArray[np.bool_] | None:
    """Which combinations go left, by the kernel's rule: the widest column at the value nearest to its median."""
    low, high = codes.min(axis=0), codes.max(axis=0)
    width = point[offset[:-1] + high] - point[offset[:-1] + low]
    rows = int(counts.sum())
    for c in np.argsort(-width, kind="stable"):
        if width[c] <= 0:
            return None
        below = np.cumsum(np.bincount(codes[:, c] - low[c], counts)).astype(np.int64)[:-1]
        upto = int(np.searchsorted(below, rows // 2, side="right")) + 1
        below = below[:upto]
        distance = np.where((below >= k) & (rows - below >= k), np.abs(2 * below - rows), rows)
        if len(below) and distance.min() < rows:
            return np.asarray(codes[:, c] <= low[c] + int(distance.argmin()))
    return None


@dataclass(frozen=True)
class Lookup:
    """Every combination of values replaced by what its group publishes.

    `keys[i]` holds, in order, the numbers that the first i columns' combinations and the values of the next make
    together; so a combination is found column by column, however many there could be.
    """

    domains: Mapping[str, pa.Array]
    keys: tuple[Ints, ...]
    published: Mapping[str, pa.Array]
    details: Mapping[str, Any]

    @classmethod
    def of(
        cls, combinations: pa.Table, published: Mapping[str, pa.Array], details: Mapping[str, Any]
    ) -> Lookup:
        """From the combinations and, per changed column, what each of them publishes."""
        domains = {name: combinations[name].combine_chunks().unique() for name in combinations.column_names}
        keys, found = [], np.zeros(combinations.num_rows, np.int64)
        for name, domain in domains.items():
            numbers = found * len(domain) + _index(combinations[name], domain)
            known, found = np.unique(numbers, return_inverse=True)
            keys.append(known)
        order = np.argsort(found)
        return cls(domains, tuple(keys), {n: v.take(order) for n, v in published.items()}, details)

    def apply(self, draft: Draft, key: Key) -> Draft:
        found = np.zeros(draft.rows, np.int64)
        for (name, domain), known in zip(self.domains.items(), self.keys):
            found = np.searchsorted(known, found * len(domain) + _index(draft.table[name], domain))
        for name, values in self.published.items():
            draft = draft.with_column(name, values.take(found))
        return draft.replace(details=self.details)


def _index(column: pa.ChunkedArray, domain: pa.Array) -> Ints:
    import pyarrow.compute as pc

    return np.asarray(pc.index_in(column, value_set=domain), np.int64)
