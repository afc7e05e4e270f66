"""Unify and Average: many values become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.engine.codes import classes, codes
from sudare.errors import UsageError
from sudare.keys import Key
from sudare.methods.numeric import as_numbers, numeric_columns
from sudare.registry import method

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.methods.draft import Draft

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

    technique: ClassVar[str] = "generalization"
    family: ClassVar[str] = "Generalise and suppress"

    def apply(self, draft: Draft, key: Key) -> Draft:
        import pyarrow as pa

        draft.require(self.column)
        kind = draft.table.schema.field(self.column).type
        value = self._commonest(draft) if self.value is None else self._given(kind)
        changed = draft.with_column(self.column, pa.repeat(value, draft.rows))
        return changed.replace(details={"column": self.column})

    def _commonest(self, draft: Draft) -> pa.Scalar:
        matrix, (values,) = codes(draft.table, [self.column])
        return values[int(np.bincount(matrix[:, 0], minlength=1).argmax())]

    def _given(self, kind: pa.DataType) -> pa.Scalar:
        import pyarrow as pa

        try:
            return pa.scalar(self.value, type=kind)
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, OverflowError):
            raise UsageError(f"unify: the value does not fit column '{self.column}' ({kind})") from None


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

    technique: ClassVar[str] = "microaggregation"
    family: ClassVar[str] = "Perturb"

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


def _means(group_of: Ints, values: Floats, groups: int) -> Floats:
    """The mean of every group; values are added in sorted order, so that the order of the rows leaves no
    trace.
    """
    order = np.lexsort((values, group_of))
    total = np.bincount(group_of[order], values[order], minlength=groups)
    return np.asarray(total / np.maximum(np.bincount(group_of, minlength=groups), 1))


def groups(draft: Draft, by: Sequence[str] | None, without: Sequence[str] = ()) -> tuple[Ints, Ints]:
    """The group of every record with equal values in `by` (default: the quasi-identifiers), and the
    groups' sizes.
    """
    names = draft.require(*by) if by is not None else tuple(c for c in draft.roles.quasi if c not in without)
    if not names:
        return np.zeros(draft.rows, np.int64), np.array([draft.rows], np.int64)
    return classes(codes(draft.table, names)[0])
