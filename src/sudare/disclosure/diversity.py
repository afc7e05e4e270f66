"""l-diversity of classes of records: distinct, entropy, recursive, and the frequency form of P2, Def. 2.

All forms read the same counts: for every class (records with equal quasi-identifiers) how often each
sensitive value occurs in it. The counts are kept as pairs, because most values are absent from most classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.errors import UsageError
from sudare.results import Result

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.data import Dataset

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ClassCounts:
    """How often sensitive values occur in classes: class `owner[i]` has some value `count[i]` times.

    >>> counts = ClassCounts.of(np.array([0, 0, 0, 1]), np.array([5, 5, 7, 5]))
    >>> counts.owner.tolist(), counts.count.tolist()
    ([0, 0, 1], [2, 1, 1])
    """

    owner: Ints
    count: Ints
    classes: int

    @classmethod
    def of(cls, class_of_row: NDArray[np.integer], value_of_row: NDArray[np.integer]) -> ClassCounts:
        """Count the pairs of class and value; a record with several values appears once for each."""
        classes = int(class_of_row.max(initial=-1)) + 1
        width = int(value_of_row.max(initial=-1)) + 1
        pair = class_of_row.astype(np.int64) * width + value_of_row
        if classes * width <= 4 * len(pair) + 1_000_000:
            table = np.bincount(pair, minlength=classes * width)
            found = np.flatnonzero(table)
            return cls(found // max(width, 1), table[found].astype(np.int64), classes)
        found, count = np.unique(pair, return_counts=True)
        return cls(found // width, count.astype(np.int64), classes)

    @property
    def sizes(self) -> Ints:
        """The number of sensitive values (with repetition) in every class."""
        return np.bincount(self.owner, self.count, self.classes).astype(np.int64)

    @property
    def largest(self) -> Ints:
        """How often the commonest value of every class occurs."""
        most = np.zeros(self.classes, np.int64)
        np.maximum.at(most, self.owner, self.count)
        return most


def distinct(counts: ClassCounts) -> Ints:
    """Distinct l of every class: how many different values it holds.

    >>> distinct(ClassCounts.of(np.array([0, 0, 0, 1]), np.array([5, 5, 7, 5]))).tolist()
    [2, 1]
    """
    return np.bincount(counts.owner, minlength=counts.classes).astype(np.int64)


def entropy(counts: ClassCounts) -> Floats:
    """Entropy l of every class: exp of the entropy of its values; l equally frequent values give l.

    >>> entropy(ClassCounts.of(np.array([0, 0, 1]), np.array([1, 2, 1]))).round(6).tolist()
    [2.0, 1.0]
    """
    share = counts.count / counts.sizes[counts.owner]
    return np.exp(-np.bincount(counts.owner, share * np.log(share), counts.classes))


def frequency(counts: ClassCounts) -> Floats:
    """Frequency l of every class: 1 over the share of its commonest value (P2, Def. 2 asks for at least l).

    >>> frequency(ClassCounts.of(np.array([0, 0, 0, 1]), np.array([5, 5, 7, 5]))).tolist()
    [1.5, 1.0]
    """
    return np.asarray(counts.sizes / np.maximum(counts.largest, 1), np.float64)


def recursive(counts: ClassCounts, l: int) -> Floats:
    """r1 / (r_l + ... + r_m) of every class: it is recursively (c, l)-diverse for every c above this.

    r1 >= r2 >= ... are the counts of the class; a class with fewer than l values has infinity.

    >>> recursive(ClassCounts.of(np.array([0, 0, 0, 0, 1]), np.array([5, 5, 7, 8, 5])), 2).tolist()
    [1.0, inf]
    """
    order = np.lexsort((-counts.count, counts.owner))
    owner, count = counts.owner[order], counts.count[order]
    starts = np.searchsorted(owner, np.arange(counts.classes))
    rank = np.arange(len(owner)) - starts[owner]
    tail = np.bincount(owner[rank >= l - 1], count[rank >= l - 1], counts.classes)
    ratio: Floats = np.divide(counts.largest, tail, out=np.full(counts.classes, np.inf), where=tail > 0)
    return ratio


def recursive_l(counts: ClassCounts, c: float) -> int:
    """The largest l for which every class is recursively (c, l)-diverse; 0 if there is none.

    >>> recursive_l(ClassCounts.of(np.array([0, 0, 0, 0]), np.array([5, 5, 7, 8])), 3.0)
    3
    """
    best = 0
    for l in range(1, int(distinct(counts).min()) + 1 if counts.classes else 1):
        if not (recursive(counts, l) < c).all():
            break
        best = l
    return best


def largest_l(counts: NDArray[np.integer]) -> int:
    """The largest l a table with these counts of values is eligible for: at most N/l records share a value.

    >>> largest_l(np.array([5, 3, 2]))
    2
    """
    return int(counts.sum() // counts.max())


def check_eligible(counts: NDArray[np.integer], l: int, column: str) -> None:
    """Refuse an l for which no grouping can be l-diverse; the message has the largest l, never the value."""
    possible = largest_l(counts)
    if l > possible:
        share = counts.max() / counts.sum()
        raise UsageError(
            f"{column}: not eligible for l = {l}: the commonest value has {share:.1%} of the records, more "
            f"than 1/{l}; the largest possible l is {possible} (randomized addition has no such limit)"
        )


@dataclass(frozen=True, repr=False)
class DiversityResult(Result):
    """The l of a table, one row per sensitive column."""

    command: ClassVar[str] = "diversity"


def diversity(ds: Dataset, *, column: str | None = None, c: float = 3.0) -> DiversityResult:
    """Distinct, entropy, recursive and frequency l of a table or a release, over its quasi-identifiers.

    A column of sets (randomized addition, anatomy) counts every member of every set of the class.
    The worst class decides; `below_2` is the share of classes whose frequency l is below 2.
    """
    columns = [column] if column is not None else list(ds.roles.sensitive)
    if not columns:
        raise UsageError(f"{ds.name}: no sensitive column; name one with sensitive=")
    table = ds.to_pyarrow([*ds.roles.quasi, *ds.require(columns)])
    rows = [_row(table, ds.roles.quasi, name, c) for name in columns]
    return DiversityResult(tuple(rows), (f"recursive: the largest l for c = {c:g}; the worst class decides",))


def _row(table: pa.Table, quasi: tuple[str, ...], column: str, c: float) -> dict[str, Any]:
    from sudare.engine.codes import classes, codes

    matrix, _ = codes(table, quasi)
    label, _ = classes(matrix)
    counts = ClassCounts.of(*_pairs(table[column], label))
    worst = frequency(counts)
    return {
        "column": column,
        "classes": counts.classes,
        "distinct": int(distinct(counts).min()),
        "entropy": float(entropy(counts).min()),
        "recursive": recursive_l(counts, c),
        "frequency": float(worst.min()),
        "below_2": float((worst < 2).mean()),
    }


def _pairs(column: pa.ChunkedArray, label: Ints) -> tuple[Ints, NDArray[np.integer]]:
    """The class and the value code of every record, or of every member of its set."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from sudare.engine.codes import codes

    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        label = np.repeat(label, np.asarray(pc.list_value_length(column).fill_null(0)))
        column = pc.list_flatten(column)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    matrix, _ = codes(pa.table({"value": column}), ["value"])
    return label, matrix[:, 0]
