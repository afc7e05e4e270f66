"""Unify and Average: many values become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.engine.codes import classes, codes
from sudare.engine.numbers import as_numbers
from sudare.engine.rows import Draft, Together
from sudare.engine.summary import COUNT, Summary
from sudare.errors import UsageError
from sudare.keys import Key
from sudare.methods.numeric import numeric_columns
from sudare.registry import method

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@method
@dataclass(frozen=True, kw_only=True)
class Unify:
    """Give every record the same value in a column (P4, methods d and e); by default the commonest one.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, Unify(column="job", value="any"), key=bytes(range(32)))
    >>> set(release.data.to_pyarrow()["job"].to_pylist())
    {'any'}
    """

    column: str
    value: Any = None

    scope: ClassVar[str] = "row"
    technique: ClassVar[str] = "generalization"
    family: ClassVar[str] = "Generalise and suppress"
    details: ClassVar[Mapping[str, str]] = {"column": "fact"}

    def apply(self, draft: Draft, key: Key) -> Draft:
        return self.fit(draft).apply(draft, key)

    def fit(self, summary: Summary) -> Constant:
        """The value that is given, or the commonest: of several the smallest, a missing one last."""
        kind = summary.types.field(*summary.require(self.column)).type
        if self.value is not None:
            return Constant(self.column, self._given(kind))
        counted = summary.counts([self.column])
        if not counted.num_rows:
            return Constant(self.column, _nothing(kind))
        matrix, (values,) = codes(counted, [self.column])
        counts = np.bincount(matrix[:, 0], np.asarray(counted[COUNT]))
        return Constant(self.column, values[int(counts.argmax())].cast(kind))

    def _given(self, kind: pa.DataType) -> pa.Scalar:
        import pyarrow as pa

        try:
            return pa.scalar(self.value, type=kind)
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, OverflowError):
            raise UsageError(f"unify: the value does not fit column '{self.column}' ({kind})") from None


class Constant(NamedTuple):
    """One value for every record."""

    column: str
    value: pa.Scalar

    def apply(self, draft: Draft, key: Key) -> Draft:
        import pyarrow as pa

        values = pa.repeat(self.value, draft.rows)
        return draft.with_column(self.column, values).replace(details={"column": self.column})


@method
@dataclass(frozen=True, kw_only=True)
class Average:
    """Replace numbers by their mean over the records with equal quasi-identifiers (P4, method f, Table
    10).

    >>> import sudare
    >>> shop = sudare.open("example:purchases", user="user", quasi=["date", "goods"], sensitive="price")
    >>> release = sudare.anonymize(shop, Average(columns=["price"], by=["goods"]), key=bytes(range(32)))
    >>> sorted(set(release.data.to_pyarrow()["price"].to_pylist()))
    [0.85, 1.35, 1.45, 3.75]
    """

    columns: Sequence[str] | str | None = None
    by: Sequence[str] | None = None

    scope: ClassVar[str] = "group"
    instead: ClassVar[str] = "name the columns to group by: give by="
    technique: ClassVar[str] = "microaggregation"
    family: ClassVar[str] = "Perturb"
    details: ClassVar[Mapping[str, str]] = {"groups": "total", "alone": "total"}

    def together(self, shape: Draft) -> Together:
        return Together(grouped_by(shape, self.by, numeric_columns(shape, self.columns, "average")))

    def apply(self, draft: Draft, key: Key) -> Draft:
        import pyarrow as pa

        names = numeric_columns(draft, self.columns, "average")
        group_of, sizes = groups(draft, self.by, names)
        for name in names:
            column = draft.table[name]
            values, missing = as_numbers(column, name), np.asarray(column.is_null())
            means = _means(group_of[~missing], values[~missing], len(sizes))[group_of]
            draft = draft.with_column(name, pa.array(means, mask=missing))
        return draft.replace(details={"groups": len(sizes), "alone": int((sizes == 1).sum())})


def _nothing(kind: pa.DataType) -> pa.Scalar:
    import pyarrow as pa

    return pa.scalar(None, kind)


def _means(group_of: Ints, values: Floats, groups: int) -> Floats:
    """The mean of every group; values are added in sorted order, so that the order of the rows leaves no
    trace.
    """
    order = np.lexsort((values, group_of))
    total = np.bincount(group_of[order], values[order], minlength=groups)
    return np.asarray(total / np.maximum(np.bincount(group_of, minlength=groups), 1))


def grouped_by(summary: Summary, by: Sequence[str] | None, without: Sequence[str] = ()) -> tuple[str, ...]:
    """The columns by which records are grouped: those given, else the quasi-identifiers."""
    if by is not None:
        return summary.require(*by)
    return tuple(c for c in summary.shape.roles.quasi if c not in without)


def groups(draft: Draft, by: Sequence[str] | None, without: Sequence[str] = ()) -> tuple[Ints, Ints]:
    """The group of every record with equal values in `by` (default: the quasi-identifiers), and the
    groups' sizes.
    """
    names = grouped_by(draft, by, without)
    if not names:
        return np.zeros(draft.rows, np.int64), np.array([draft.rows], np.int64)
    return classes(codes(draft.table, names)[0])
