"""Quasi-identifiers as codes for the grouping methods, and what groups of rows publish as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.values.hierarchies import Hierarchy
from sudare.data.values.hierarchy_sources import Hierarchies as Hierarchies
from sudare.data.values.hierarchy_sources import hierarchies_of
from sudare.data.values.hierarchy_sources import writable as writable
from sudare.data.values.recoded import SUPPRESSED, plain, value_set
from sudare.engine.numbers import is_number
from sudare.engine.recoding import Bag, Column, Grouping, Line, Tree
from sudare.errors import DataError, UsageError, warn

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.engine.summary import Summary

MOST_VALUES = 4096


@dataclass(frozen=True, eq=False)
class Quasi:
    """The chosen columns: a code per cell, what the kernels know of a column, what a reader reads.

    `texts` are the labels of the nodes of a column with a hierarchy, else its values by code.
    """

    names: tuple[str, ...]
    codes: NDArray[np.int32]
    columns: tuple[Column, ...]
    texts: tuple[list[Any], ...]


def quasi_columns(summary: Summary, columns: Sequence[str] | None, method: str) -> tuple[str, ...]:
    """The given columns, or the quasi-identifiers."""
    asked = (columns,) if isinstance(columns, str) else columns or summary.shape.roles.quasi
    names = summary.require(*asked)
    if not names:
        raise UsageError(f"{method}: the table has no quasi-identifiers; name them with quasi= or columns=")
    return names


def resolve(given: Hierarchies, table: pa.Table, names: Sequence[str]) -> dict[str, Hierarchy]:
    """The hierarchies of those of the columns that have one."""
    return hierarchies_of(given, {name: table[name] for name in names}, table.column_names)


def check_k(summary: Summary, k: int, method: str) -> None:
    """Refuse a k that no grouping can meet; say so when k rows need not be k people."""
    rows, people = summary.size(), summary.people()
    if people < rows and k <= people:
        warn(
            "S-ROWS", f"{method}: groups have {k} rows, but people have several: a group may be one person's"
        )
    if k > people:
        raise UsageError(
            f"{method}: k = {k} is more than the {people} people of the table; choose a smaller k"
        )


def encode(table: pa.Table, names: Sequence[str], hierarchies: Mapping[str, Hierarchy]) -> Quasi:
    """Columns with a hierarchy as trees, numbers and dates as lines, other columns as bags of values."""
    parts: list[tuple[NDArray[np.int32], Column, list[Any]]] = []
    for name in names:
        if name in hierarchies:
            parts.append(_tree(table[name], hierarchies[name]))
        else:
            parts.append(_line_or_bag(table, name))
    codes = np.ascontiguousarray(np.stack([part[0] for part in parts], axis=1), dtype=np.int32)
    return Quasi(tuple(names), codes, tuple(part[1] for part in parts), tuple(part[2] for part in parts))


def publish(table: pa.Table, quasi: Quasi, grouping: Grouping) -> pa.Table:
    """The table with what its groups publish; a column in which nothing had to change keeps its type."""
    import pyarrow as pa

    for c, name in enumerate(quasi.names):
        if not _opened(quasi.columns[c], grouping, c):
            continue
        kinds, kind_of = _distinct_states(quasi.columns[c], grouping.states[c])
        labels = _labels(quasi.columns[c], quasi.texts[c], kinds)
        cells = labels.take(pa.array(kind_of[grouping.group_of]))
        table = table.set_column(table.column_names.index(name), name, cells)
    return table


def _opened(column: Column, grouping: Grouping, c: int) -> bool:
    """Whether some group holds several values; those of a line may be too near to each other to cost anything."""
    if isinstance(column, Line):
        return bool((grouping.states[c][:, 0] != grouping.states[c][:, 1]).any())
    return bool(grouping.costs[:, c].any())


def losses(quasi: Quasi, grouping: Grouping) -> dict[str, Any]:
    """What every grouping method reports: groups, the smallest of them, NCP over all cells and per column."""
    return losses_of(quasi, grouping.costs, grouping.sizes)


def losses_of(quasi: Quasi, costs: NDArray[np.float64], sizes: NDArray[Any]) -> dict[str, Any]:
    """The same from the groups' costs and sizes."""
    loss = sizes / sizes.sum() @ costs
    return {
        "groups": len(sizes),
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "ncp": float(loss.mean()),
        "ncp_by_column": {name: round(float(part), 6) for name, part in zip(quasi.names, loss)},
    }


def _distinct_states(
    column: Column, states: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different states and which of them every group has."""
    from sudare.engine.codes import classes

    if isinstance(column, Bag):
        kinds, kind_of = np.unique(states, axis=0, return_inverse=True)
        return kinds, kind_of.reshape(-1)
    kind_of, sizes = classes(states)
    kinds = np.empty((len(sizes), states.shape[1]), np.int64)
    kinds[kind_of] = states
    return kinds, kind_of


def _tree(cells: pa.ChunkedArray, hierarchy: Hierarchy) -> tuple[NDArray[np.int32], Tree, list[Any]]:
    order = np.lexsort(hierarchy.up)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order))
    up = np.ascontiguousarray(hierarchy.up[:, order])
    labels = []
    for level, row in enumerate(up):
        starts = np.flatnonzero(np.concatenate([[True], row[1:] != row[:-1]]))
        labels += [hierarchy.labels[level][code] for code in row[starts]]
    return place[hierarchy.codes(cells)], Tree(up), labels


def _line_or_bag(table: pa.Table, name: str) -> tuple[NDArray[np.int32], Line | Bag, list[Any]]:
    import pyarrow as pa

    from sudare.engine.codes import codes

    matrix, (values,) = codes(table, [name])
    kind = values.type
    if is_number(kind) or pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return matrix[:, 0], Line(_points(values, name)), values.to_pylist()
    if len(values) > MOST_VALUES:
        raise UsageError(
            f"column '{name}': {len(values)} different values without an order; give it a hierarchy or drop it"
        )
    return matrix[:, 0], Bag(len(values)), values.to_pylist()


def _points(values: pa.Array, name: str) -> NDArray[np.float64]:
    """Places from 0 to 1 of sorted values; the missing value, if any, comes last and lies at 2."""
    import pyarrow as pa

    known = values.drop_null()
    if pa.types.is_date(known.type):
        known = known.cast(pa.timestamp("us"))
    if pa.types.is_timestamp(known.type):
        known = known.cast(pa.int64())
    numbers = _from_first(known)
    if not np.isfinite(numbers).all():
        raise DataError(
            f"column '{name}': {(~np.isfinite(numbers)).sum()} values are not finite; remove or recode them"
        )
    span = numbers[-1] if len(numbers) else 0.0
    place = numbers / span if span > 0 else np.zeros(len(numbers))
    return np.concatenate([place, np.full(len(values) - len(numbers), 2.0)])


def _from_first(values: pa.Array) -> NDArray[np.float64]:
    """How far sorted numbers are from the first; whole numbers above 2^53 are not blurred."""
    import pyarrow as pa

    if pa.types.is_integer(values.type):
        whole = np.asarray(values).astype(np.uint64)  # modulo 2^64, and so is the difference
        return (whole - whole[:1]).astype(np.float64)
    numbers = np.asarray(values.cast(pa.float64()), np.float64)
    return numbers - numbers[:1]


def _labels(column: Column, texts: list[Any], states: NDArray[np.int64]) -> pa.Array:
    """What states publish."""
    import pyarrow as pa

    if isinstance(column, Tree):
        return pa.array(texts, pa.string()).take(pa.array(states[:, 0]))
    if isinstance(column, Line):
        return _interval_labels(texts, states)
    labels = []
    for state in states:
        members = [texts[v] for v in range(column.width) if (int(state[1 + (v >> 6)]) >> (v & 63)) & 1]
        labels.append(None if members == [None] else value_set(members))
    return pa.array(labels, pa.string())


def _interval_labels(values: list[Any], states: NDArray[np.int64]) -> pa.Array:
    """`interval` for many at once; a missing value among others suppresses the cell."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pa.array([plain(value) for value in values], pa.string())
    low, high = (texts.take(pa.array(states[:, end])) for end in (0, 1))
    wide = pc.binary_join_element_wise(
        pc.binary_join_element_wise("[", low, ""), pc.binary_join_element_wise(high, "]", ""), "-"
    )
    wide = pc.if_else(pc.and_(pc.is_valid(low), pc.is_null(high)), SUPPRESSED, wide)
    one = pc.or_(pa.array(states[:, 0] == states[:, 1]), pc.fill_null(pc.equal(low, high), False))
    return pc.if_else(one, low, wide)  # 0.0 and -0.0 read alike
