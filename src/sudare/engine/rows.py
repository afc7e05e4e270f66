"""What a recipe may do with rows, wherever they are: map batches, meet in groups, summarise, order, write.

`Draft` is what a method sees at a time: some rows, or all of them. `Rows` is all of them; each engine has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.data.truth import ROW
from sudare.engine.folder import folder_of
from sudare.engine.summary import Summary, T
from sudare.errors import UsageError
from sudare.keys import Key, Words, record_ids, words

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]
IDS = ("sudare id 0", "sudare id 1")
HIDDEN = (ROW, *IDS)  # what travels beside the columns of a draft
DRAWS = ("sudare draw 0", "sudare draw 1")
SIGN = np.uint64(1 << 63)


@dataclass(frozen=True, repr=False, eq=False)
class Draft(Summary):
    """Rows on their way to publication, with what must never be published kept beside them.

    `truth` is the original row of every row (-1 for a dummy), `ids` what keyed draws depend on (unique per row),
    `schema` what the recipient must know (it is published), `details` what the last step measured.
    """

    table: pa.Table
    roles: Roles
    truth: Ints
    ids: Words
    schema: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    pseudonymised: bool = False
    key: Key | None = None
    turns: Mapping[tuple[str, str], int] = field(default_factory=dict)

    @classmethod
    def of(cls, dataset: Dataset, key: Key) -> Draft:
        """The draft a recipe starts with."""
        table = dataset.to_pyarrow()
        ids = record_ids(table, dataset.roles, key)
        return cls(table, dataset.roles, np.arange(table.num_rows, dtype=np.int64), ids, key=key)

    @classmethod
    def empty(cls, dataset: Dataset, key: Key | None = None) -> Draft:
        """The same without rows."""
        nobody = np.empty(0, np.int64), np.empty((0, 2), np.uint64)
        return cls(dataset.schema.empty_table(), dataset.roles, *nobody, key=key)

    @property
    def rows(self) -> int:
        return int(self.table.num_rows)

    @property
    def shape(self) -> Draft:
        return self.take(np.empty(0, np.int64))

    @property
    def types(self) -> pa.Schema:
        types: pa.Schema = self.table.schema
        return types

    @property
    def secret(self) -> Key:
        if self.key is None:
            raise UsageError("this draft has no key; run the method in a recipe")
        return self.key

    def size(self) -> int:
        return self.rows

    def people(self) -> int:
        import pyarrow.compute as pc

        user = self.roles.user
        if user is None or user not in self.table.column_names:
            return self.rows
        return int(pc.count_distinct(self.table[user]).as_py())

    def dataset(self, columns: Sequence[str]) -> Dataset:
        return Dataset.from_arrow(self.table.select(list(columns)))

    def reduce(self, work: Callable[[Draft], T], key: Key | None = None) -> list[T]:
        return [work(self.replace(key=key or self.key))]

    def replace(self, **changes: Any) -> Self:
        """The same draft with some parts changed."""
        return replace(self, **changes)

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> Self:
        """Only these rows, in this order; a mask works too."""
        if rows.dtype == np.bool_:
            rows = np.flatnonzero(rows)
        return self.replace(table=self.table.take(rows), truth=self.truth[rows], ids=self.ids[rows])

    def with_column(self, name: str, values: pa.Array | pa.ChunkedArray) -> Self:
        """One column replaced, where it stands."""
        return self.replace(table=self.table.set_column(self.table.column_names.index(name), name, values))

    def without_columns(self, names: tuple[str, ...]) -> Self:
        """Some columns gone, from the table and from the roles."""
        return self.replace(table=self.table.drop_columns(list(names)), roles=self.roles.without(names))

    def drawing(self, purpose: str, column: str) -> tuple[str, Self]:
        """Under which purpose a step draws for a column, and the draft that knows it did.

        The second such step of a recipe draws under another one, independently; the first under the same in every
        release.
        """
        turn = self.turns.get((purpose, column), 0) + 1
        draft = self.replace(turns={**self.turns, (purpose, column): turn})
        return purpose if turn == 1 else f"{purpose}, step {turn}", draft

    def packed(self) -> pa.Table:
        """The table with the hidden columns beside it."""
        return with_longs(self.table, HIDDEN, (self.truth, *self.ids.T))

    def unpacked(self, table: pa.Table) -> Self:
        """This draft with the rows of a packed table."""
        return self.replace(
            table=table.select(self.table.column_names), truth=longs(table, ROW), ids=words_of(table, IDS)
        )


class Method(Protocol):
    """One step: it works on the rows it is given."""

    def apply(self, draft: Draft, key: Key) -> Draft: ...


class Together(NamedTuple):
    """Which rows a method needs in one batch: those with equal values in `by`.

    With `alike` groups may share a batch only if there are few of them (`most`), and then groups with similar sets of
    values in that column do; a table with fewer groups is one batch.
    """

    by: tuple[str, ...]
    alike: str | None = None
    most: int | None = None


class Outcome(NamedTuple):
    """What a step measured on some rows, and how many they were."""

    rows: int
    details: Mapping[str, Any]


class Made(NamedTuple):
    """The published table, the same with the original rows beside it, and what every step measured, batch by batch."""

    data: Dataset
    linked: Dataset
    outcomes: Sequence[Sequence[Outcome]]


class Rows(Protocol):
    """All rows of a recipe. Steps may be carried out at once or when somebody asks for a result."""

    @property
    def whole(self) -> bool:
        """Whether all rows are one batch, so that a method sees the whole table."""
        ...

    @property
    def summary(self) -> Summary:
        """Aggregates of the rows as they are now."""
        ...

    def each(self, step: Method) -> Rows:
        """After a step that any batch of rows will do for."""
        ...

    def groups(self, step: Method, together: Together) -> Rows:
        """After a step on batches in which no group is divided."""
        ...

    def in_one(self, step: Method) -> Rows:
        """After a step on all rows in one place."""
        ...

    def publish(self, digest: str, name: str) -> Made:
        """The rows in their keyed order, as tables."""
        ...


def refusal(ds: Dataset, together: Together | None) -> str | None:
    """Why a step cannot run where a table is that needs these rows (None: all rows) in one batch; None if it can.

    Nothing is read for the answer but a few rows.
    """
    folder = folder_of(ds)
    if folder == "spark":
        return None if together is not None else "needs all rows in one place and cannot run on Spark"
    if folder == "ibis":
        return None
    from sudare.engine.duckdb import rows as duckdb

    return duckdb.refusal(ds, together)


def rows_of(ds: Dataset, key: Key) -> Rows:
    """The rows of a table, where they are."""
    folder = folder_of(ds)
    if folder == "spark":
        from sudare.engine.spark import rows as spark

        return spark.rows_of(ds, key)
    if folder == "ibis":
        from sudare.engine.ibis import rows as ibis

        return ibis.rows_of(ds, key)
    from sudare.engine.duckdb import rows as duckdb

    return duckdb.rows_of(ds, key)


def card_of(draft: Draft) -> dict[str, Any]:
    """What the file beside a published table says of its columns."""
    return {"schema": dict(draft.schema), "roles": draft.roles.to_dict()}


def with_draws(table: pa.Table, ids: Words, key: Key, purpose: str, name: str) -> pa.Table:
    """A table with every record's keyed draw beside, as numbers that engines sort like `keys.order`."""
    return with_longs(table, DRAWS, map(sortable, words(key, purpose, name, ids, 2).T))


def with_longs(table: pa.Table, names: Sequence[str], columns: Iterable[NDArray[Any]]) -> pa.Table:
    """A table with more columns of 64 bits."""
    import pyarrow as pa

    for name, column in zip(names, columns):
        table = table.append_column(name, pa.array(np.ascontiguousarray(column).view(np.int64)))
    return table


def longs(table: pa.Table, name: str) -> Ints:
    """A column of whole numbers."""
    return np.asarray(table[name].combine_chunks().to_numpy(zero_copy_only=False), np.int64)


def words_of(table: pa.Table, names: Sequence[str]) -> Words:
    """Two columns of 64 bits side by side."""
    return np.stack([longs(table, name).view(np.uint64) for name in names], axis=1)


def sortable(words: NDArray[np.uint64]) -> Ints:
    """Words as signed numbers in the same order, which is how engines compare.

    >>> sortable(np.array([0, 1, 1 << 63, (1 << 64) - 1], np.uint64)).tolist()
    [-9223372036854775808, -9223372036854775807, 0, 9223372036854775807]
    """
    return np.ascontiguousarray(words ^ SIGN).view(np.int64)
