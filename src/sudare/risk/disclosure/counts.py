"""The two counts that every measure starts from: how large the classes are, and what sensitive values they hold.

A class is the set of records with equal quasi-identifiers. Both counts are made where the table lives; only
aggregates come back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.connection import connect, quote

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.data.dataset import Dataset

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Sizes:
    """The classes by size: `classes[i]` classes have `persons[i]` people and together `records[i]` records.

    >>> Sizes.of([1, 2, 2, 5]).classes.tolist()
    [1, 2, 1]
    """

    persons: Ints
    classes: Ints
    records: Ints

    @classmethod
    def of(cls, sizes: Sequence[int] | Ints) -> Sizes:
        """From the size of every class, one record per person."""
        persons, classes = np.unique(np.asarray(sizes, np.int64), return_counts=True)
        return cls(persons, classes, persons * classes)

    @property
    def k(self) -> int:
        """The smallest class."""
        return int(self.persons[0]) if len(self.persons) else 0

    @property
    def total(self) -> int:
        """How many classes there are."""
        return int(self.classes.sum())

    @property
    def people(self) -> int:
        """The people of all classes, counted in each class they are in."""
        return int((self.persons * self.classes).sum())


@dataclass(frozen=True)
class Cells:
    """The sensitive values of every class: codes and counts between offsets; `table` counts the whole table."""

    offsets: Ints
    value: NDArray[np.int32]
    count: Ints
    table: Ints
    values: pa.Array

    @property
    def share(self) -> NDArray[np.float64]:
        """The share of every value in the table."""
        return self.table / self.table.sum()

    @property
    def sizes(self) -> Ints:
        """The records of every class."""
        return np.asarray(np.add.reduceat(self.count, self.offsets[:-1]), np.int64)

    @property
    def arrays(self) -> tuple[Ints, NDArray[np.int32], Ints, NDArray[np.float64]]:
        """What the kernels take."""
        return self.offsets, self.value, self.count, self.share


def query(ds: Dataset, text: str) -> pa.Table:
    """An aggregate query over the table `{table}`, in DuckDB's SQL, wherever the table lives."""
    if ds.view is not None:
        return connect().sql(text.format(table=quote(ds.view))).to_arrow_table()
    return (
        ds.table.alias("sudare_table").sql(text.format(table="sudare_table"), dialect="duckdb").to_pyarrow()
    )


def names(columns: Sequence[str]) -> str:
    """A list of quoted columns; braces are doubled because queries are formatted."""
    return ", ".join(quote(column).replace("{", "{{").replace("}", "}}") for column in columns)


def class_sizes(ds: Dataset, quasi: Sequence[str]) -> Sizes:
    """The classes by size; with a user column a class is as large as the number of its users."""
    persons = "count(*)" if ds.roles.user is None else f"count(DISTINCT {names([ds.roles.user])})"
    inner = f"SELECT {persons} AS sudare_p, count(*) AS sudare_n FROM {{table}}{_group_by(quasi)}"
    found = query(
        ds,
        "SELECT sudare_p, count(*) AS sudare_c, sum(sudare_n) AS sudare_r "
        f"FROM ({inner}) AS c GROUP BY sudare_p ORDER BY sudare_p",
    )
    return Sizes(*(_ints(found[name]) for name in ("sudare_p", "sudare_c", "sudare_r")))


def class_table(ds: Dataset, quasi: Sequence[str], weight: str | None = None) -> pa.Table:
    """One row per class: its quasi-identifiers, its records and, with a weight, the sum of the weights."""
    weighed = "" if weight is None else f", sum({names([weight])}) AS sudare_weight"
    columns = f"{names(quasi)}, " if quasi else ""
    return query(ds, f"SELECT {columns}count(*) AS sudare_records{weighed} FROM {{table}}{_group_by(quasi)}")


def class_cells(ds: Dataset, quasi: Sequence[str], sensitive: str) -> Cells:
    """The sensitive values of every class, by one GROUP BY; members of published sets count one by one."""
    source = _flat(ds, quasi, sensitive)
    keys = names([*quasi, sensitive])
    pairs = f"SELECT {keys}, count(*) AS sudare_n FROM {source} GROUP BY {keys}"
    if ds.view is None:
        return _local_cells(query(ds, pairs), quasi, sensitive)
    lists = f"list({names([sensitive])}) AS sudare_v, list(sudare_n) AS sudare_n"
    return _cells(query(ds, f"SELECT {lists} FROM ({pairs}) AS c{_group_by(quasi)}"))


def _cells(found: pa.Table) -> Cells:
    import pyarrow as pa

    values, counts = (_flat_list(found[name]) for name in ("sudare_v", "sudare_n"))
    lengths = np.concatenate([np.diff(np.asarray(chunk.offsets)) for chunk in found["sudare_n"].chunks])
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    codes, known = _codes(pa.table({"v": values}))
    return _sorted_cells(offsets, codes, np.asarray(counts, np.int64), known)


def _local_cells(pairs: pa.Table, quasi: Sequence[str], sensitive: str) -> Cells:
    from sudare.engine.codes import classes, codes

    label, _ = classes(codes(pairs, quasi)[0]) if quasi else (np.zeros(pairs.num_rows, np.int64), None)
    value, known = _codes(pairs.select([sensitive]))
    order = np.lexsort((value, label))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(label)))).astype(np.int64)
    return _sorted_cells(offsets, value[order], _ints(pairs["sudare_n"])[order], known)


def _sorted_cells(offsets: Ints, value: NDArray[Any], count: Ints, known: pa.Array) -> Cells:
    label = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    if np.any((np.diff(value) < 0) & (np.diff(label) == 0)):
        order = np.argsort(label * len(known) + value, kind="stable")
        value, count = value[order], count[order]
    table = np.bincount(value, weights=count, minlength=len(known)).astype(np.int64)
    return Cells(offsets, value.astype(np.int32, copy=False), count, table, known)


def _codes(table: pa.Table) -> tuple[NDArray[np.int32], pa.Array]:
    from sudare.engine.codes import codes

    matrix, known = codes(table, table.column_names)
    return matrix[:, 0], known[0]


def _flat(ds: Dataset, quasi: Sequence[str], sensitive: str) -> str:
    import pyarrow as pa

    kind = ds.schema.field(sensitive).type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        return "{table}"
    columns = f"{names(quasi)}, " if quasi else ""
    return f"(SELECT {columns}unnest({names([sensitive])}) AS {names([sensitive])} FROM {{table}}) AS f"


def _group_by(quasi: Sequence[str]) -> str:
    return f" GROUP BY {names(quasi)}" if quasi else ""


def _flat_list(column: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow as pa

    return pa.chunked_array([chunk.flatten() for chunk in column.chunks], column.type.value_type)


def _ints(column: pa.ChunkedArray) -> Ints:
    import pyarrow as pa

    return np.asarray(column.cast(pa.int64()), np.int64)
