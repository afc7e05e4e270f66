"""Equivalence classes (records with equal quasi-identifiers): how large they are, what sensitive values they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sudare.engine.codes import classes, codes

if TYPE_CHECKING:
    import pyarrow as pa

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

    @classmethod
    def counted(cls, found: pa.Table) -> Sizes:
        """From a table of different sizes in ascending order, their classes and the records of these."""
        return cls(*(ints(column) for column in found.columns))

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

    @classmethod
    def of_pairs(cls, pairs: pa.Table, quasi: Sequence[str], sensitive: str) -> Cells:
        """From one row per class and sensitive value with their records, `sudare_n`."""
        label = classes(codes(pairs, quasi)[0])[0] if quasi else np.zeros(pairs.num_rows, np.int64)
        order = np.argsort(label, kind="stable")
        matrix, (known,) = codes(pairs, [sensitive])
        return cls._of(np.bincount(label), matrix[order, 0], ints(pairs["sudare_n"])[order], known)

    @classmethod
    def of_lists(cls, found: pa.Table) -> Cells:
        """From one row per class: the list of its values, that of their records, whether something is unknown."""
        import pyarrow as pa
        import pyarrow.compute as pc

        values, counts, unknown = found.columns
        lengths = np.asarray(pc.list_value_length(counts), np.int64)
        matrix, (known,) = codes(pa.table({"value": pc.list_flatten(values)}), ["value"])
        counted = ints(pc.list_flatten(counts))
        return cls._of(lengths, matrix[:, 0], counted, known, bool(pc.any(unknown).as_py()))

    @classmethod
    def _of(
        cls,
        lengths: Ints,
        value: NDArray[np.int32],
        count: Ints,
        known: pa.Array,
        unknown: bool | None = None,
    ) -> Cells:
        """From cells class by class; within a class they are put into the order of the values."""
        label = np.repeat(np.arange(len(lengths)), lengths)
        if np.any((np.diff(value) < 0) & (np.diff(label) == 0)):
            order = np.argsort(label * len(known) + value, kind="stable")
            value, count = value[order], count[order]
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        table = np.bincount(value, weights=count, minlength=len(known)).astype(np.int64)
        return cls(offsets, value.astype(np.int32, copy=False), count, table, known, unknown)

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


def ints(column: pa.ChunkedArray | pa.Array) -> Ints:
    """A column of whole numbers, whatever the engine calls them."""
    import pyarrow as pa

    return np.asarray(column.cast(pa.int64()), np.int64)
