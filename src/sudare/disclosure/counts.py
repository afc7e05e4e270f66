"""The two counts that every measure starts from: how large classes are, which sensitive values they hold.

A class is the set of records with equal quasi-identifiers. Both counts are made where the table lives; only
aggregates come back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.connection import connect, quote
from sudare.data.values.recoded import SUPPRESSED
from sudare.disclosure import remote
from sudare.disclosure.remote import is_list, is_text

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
    """The sensitive values of every class: codes and counts between offsets; `table` counts all records."""

    offsets: Ints
    value: NDArray[np.int32]
    count: Ints
    table: Ints
    values: pa.Array
    unknown: bool | None = None  # whether a quasi-identifier is missing or suppressed, if somebody looked

    @property
    def share(self) -> NDArray[np.float64]:
        """The share of every value in the table."""
        return np.asarray(self.table / self.table.sum(), np.float64)

    @property
    def sizes(self) -> Ints:
        """The records of every class."""
        return np.asarray(np.add.reduceat(self.count, self.offsets[:-1]), np.int64)

    @property
    def arrays(self) -> tuple[Ints, NDArray[np.int32], Ints, NDArray[np.float64]]:
        """What the kernels take."""
        return self.offsets, self.value, self.count, self.share


def class_sizes(ds: Dataset, quasi: Sequence[str]) -> Sizes:
    """The classes by size; with a user column a class is as large as the number of its users."""
    if ds.view is None:
        return _local_sizes(class_table(ds, quasi, persons=True))
    inner = f"SELECT {_people(ds)} AS sudare_p, count(*) AS sudare_n FROM {{table}}{_group_by(quasi)}"
    found = query(
        ds,
        "SELECT sudare_p, count(*) AS sudare_c, sum(sudare_n) AS sudare_r "
        f"FROM ({inner}) AS c GROUP BY sudare_p ORDER BY sudare_p",
    )
    return Sizes(*(_ints(found[name]) for name in ("sudare_p", "sudare_c", "sudare_r")))


def class_table(
    ds: Dataset, quasi: Sequence[str], *, weight: str | None = None, persons: bool = False
) -> pa.Table:
    """One row per class: its quasi-identifiers, its records and, if asked, its people and summed weights."""
    if ds.view is None:
        return remote.class_table(ds, quasi, weight=weight, persons=persons)
    parts = [names(quasi)] if quasi else []
    parts.append("count(*) AS sudare_records")
    if persons:
        parts.append(f"{_people(ds)} AS sudare_persons")
    if weight is not None:
        parts.append(f"sum({names([weight])}) AS sudare_weight")
    return query(ds, f"SELECT {', '.join(parts)} FROM {{table}}{_group_by(quasi)}")


def class_cells(ds: Dataset, quasi: Sequence[str], sensitive: str) -> Cells:
    """The sensitive values of every class, by one GROUP BY; members of published sets count one by one."""
    if ds.view is None:
        return _local_cells(remote.pairs(ds, quasi, sensitive), quasi, sensitive)
    keys = names([*quasi, sensitive])
    source = _unnested(quasi, sensitive) if is_list(ds, sensitive) else "{table}"
    pairs = f"SELECT {keys}, count(*) AS sudare_n FROM {source} GROUP BY {keys}"
    lists = f"list({names([sensitive])}) AS sudare_v, list(sudare_n) AS sudare_n"
    unknown = " OR ".join(_unknown(ds, quasi)) or "false"
    return _cells(query(ds, f"SELECT {lists}, {unknown} AS sudare_u FROM ({pairs}) AS c{_group_by(quasi)}"))


def has_unknown(ds: Dataset, columns: Sequence[str]) -> bool:
    """Whether some cell of the columns is missing or suppressed."""
    if ds.view is None:
        return remote.has_unknown(ds, columns)
    tests = " OR ".join(f"bool_or({test})" for test in _unknown(ds, columns))
    return bool(query(ds, f"SELECT {tests} AS sudare_u FROM {{table}}")["sudare_u"][0].as_py())


def total(ds: Dataset, column: str) -> float:
    """The sum of a column."""
    if ds.view is None:
        return remote.total(ds, column)
    found = query(ds, f"SELECT sum({names([column])}) AS sudare_w FROM {{table}}")["sudare_w"][0].as_py()
    return float(found or 0)


def query(ds: Dataset, text: str) -> pa.Table:
    """An aggregate query over the view `{table}`."""
    assert ds.view is not None
    return connect().sql(text.format(table=quote(ds.view))).to_arrow_table()


def names(columns: Sequence[str]) -> str:
    """A list of quoted columns; braces are doubled because queries are formatted."""
    return ", ".join(quote(column).replace("{", "{{").replace("}", "}}") for column in columns)


def _local_sizes(table: pa.Table) -> Sizes:
    persons, label = np.unique(_ints(table["sudare_persons"]), return_inverse=True)
    records = np.bincount(label, _ints(table["sudare_records"]), len(persons))
    return Sizes(persons, np.bincount(label, minlength=len(persons)), records.astype(np.int64))


def _cells(found: pa.Table) -> Cells:
    import pyarrow as pa
    import pyarrow.compute as pc

    values, counts = (_flat_list(found[name]) for name in ("sudare_v", "sudare_n"))
    lengths = np.concatenate([np.diff(np.asarray(chunk.offsets)) for chunk in found["sudare_n"].chunks])
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    codes, known = _codes(pa.table({"v": values}))
    cells = _sorted_cells(offsets, codes, np.asarray(counts, np.int64), known)
    return replace(cells, unknown=bool(pc.any(found["sudare_u"]).as_py()))


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


def _unnested(quasi: Sequence[str], sensitive: str) -> str:
    columns = f"{names(quasi)}, " if quasi else ""
    return f"(SELECT {columns}unnest({names([sensitive])}) AS {names([sensitive])} FROM {{table}}) AS f"


def _unknown(ds: Dataset, columns: Sequence[str]) -> list[str]:
    tests = [f"{names([column])} IS NULL" for column in columns]
    return tests + [f"{names([c])} IS NOT DISTINCT FROM '{SUPPRESSED}'" for c in columns if is_text(ds, c)]


def _people(ds: Dataset) -> str:
    return "count(*)" if ds.roles.user is None else f"count(DISTINCT {names([ds.roles.user])})"


def _group_by(quasi: Sequence[str]) -> str:
    return f" GROUP BY {names(quasi)}" if quasi else ""


def _flat_list(column: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow as pa

    return pa.chunked_array([chunk.flatten() for chunk in column.chunks], column.type.value_type)


def _ints(column: pa.ChunkedArray) -> Ints:
    import pyarrow as pa

    return np.asarray(column.cast(pa.int64()), np.int64)
