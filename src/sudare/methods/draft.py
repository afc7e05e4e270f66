"""Draft: a table on its way to publication, with what must never be published kept beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.errors import UsageError, nearest
from sudare.keys import Key, Words, record_ids

if TYPE_CHECKING:
    import pyarrow as pa

DUMMY = -1


@dataclass(frozen=True, repr=False, eq=False)
class Draft:
    """Rows in the order of the original; the recipe shuffles them once, at the end.

    `truth` is the original row of every row (-1 for a dummy), `ids` what keyed draws depend on (unique per row),
    `schema` what the recipient must know (it is published), `details` what the last step measured.
    """

    table: pa.Table
    roles: Roles
    truth: NDArray[np.int64]
    ids: Words
    schema: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    pseudonymised: bool = False

    @classmethod
    def of(cls, dataset: Dataset, key: Key) -> Draft:
        """The draft a recipe starts with."""
        table = dataset.to_pyarrow()
        ids = record_ids(table, dataset.roles, key)
        return cls(table, dataset.roles, np.arange(table.num_rows, dtype=np.int64), ids)

    @property
    def rows(self) -> int:
        return int(self.table.num_rows)

    def replace(self, **changes: Any) -> Self:
        """The same draft with some parts changed."""
        return replace(self, **changes)

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> Self:
        """Only these rows, in this order; a mask works too."""
        if rows.dtype == np.bool_:
            rows = np.flatnonzero(rows)
        return self.replace(table=self.table.take(rows), truth=self.truth[rows], ids=self.ids[rows])

    def with_column(self, name: str, values: pa.Array | pa.ChunkedArray) -> Self:
        """One column replaced, in its place."""
        return self.replace(table=self.table.set_column(self.table.column_names.index(name), name, values))

    def without_columns(self, names: tuple[str, ...]) -> Self:
        """Some columns gone, from the table and from the roles."""
        return self.replace(table=self.table.drop_columns(list(names)), roles=self.roles.without(names))

    def require(self, *columns: str) -> tuple[str, ...]:
        """The columns, or a UsageError with the nearest name for one that is not there."""
        for column in columns:
            if column not in self.table.column_names:
                raise UsageError(f"unknown column '{column}'; {nearest(column, self.table.column_names)}")
        return columns
