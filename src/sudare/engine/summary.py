"""What a method may know of the whole table before it works on a part of it: a domain, counts, a spread."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from sudare.engine.exact import Moments
from sudare.engine.numbers import as_numbers
from sudare.errors import UsageError, nearest

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.data.dataset import Dataset
    from sudare.engine.rows import Draft
    from sudare.keys import Key

COUNT = "sudare records"
T = TypeVar("T")


class Summary(ABC):
    """Aggregates of the rows as the steps so far left them; the rows themselves stay where they are."""

    @property
    @abstractmethod
    def shape(self) -> Draft:
        """The draft without rows: its columns, their types, the roles."""

    @property
    @abstractmethod
    def secret(self) -> Key:
        """The key of the recipe, for what depends on the draws of all records."""

    @abstractmethod
    def reduce(self, work: Callable[[Draft], T], key: Key | None = None) -> list[T]:
        """What `work` says of every batch of rows, in no particular order; with another key, drafts have that one."""

    @property
    def types(self) -> pa.Schema:
        """Names and Arrow types of the columns."""
        types: pa.Schema = self.shape.table.schema
        return types

    def require(self, *columns: str) -> tuple[str, ...]:
        """The columns, or a UsageError with the nearest name for one that is not there."""
        names = self.types.names
        for column in columns:
            if column not in names:
                raise UsageError(f"unknown column '{column}'; {nearest(column, names)}")
        return columns

    def size(self) -> int:
        """How many rows there are."""
        return sum(self.reduce(lambda draft: draft.rows))

    def people(self) -> int:
        """How many people there are; without a user column every row is a person."""
        user = self.shape.roles.user
        return self.size() if user is None else int(self.counts([user]).num_rows)

    def parts(self, groups: int, most: int) -> int:
        """Into how many parts so many groups go if a worker takes `most`; where all rows are in one place, one."""
        return 1

    @abstractmethod
    def dataset(self, columns: Sequence[str]) -> Dataset:
        """Some columns as a table, where the rows are."""

    def counts(self, columns: Sequence[str]) -> pa.Table:
        """The different combinations of the columns' values, and how many rows have each (`COUNT`)."""
        import pyarrow as pa

        names = list(self.require(*columns))
        parts = pa.concat_tables(self.reduce(lambda draft: counted(draft.table.select(names), names)))
        return parts.group_by(names).aggregate([(COUNT, "sum")]).rename_columns([*names, COUNT])

    def distinct(self, column: str) -> pa.ChunkedArray:
        """The different values of a column."""
        return self.counts([column])[column]

    def moments(self, column: str) -> Moments:
        """The number, sum and sum of squares of a numeric column's cells, exact: the same in any order of rows."""
        self.require(column)
        parts = self.reduce(lambda draft: Moments.of(as_numbers(draft.table[column], column)))
        return sum(parts, Moments())


class Waiting(Protocol):
    """Rows whose steps are carried out when somebody asks: what they know before."""

    @property
    def shape(self) -> Draft: ...
    @property
    def key(self) -> Key: ...


R = TypeVar("R", bound=Waiting)


@dataclass(frozen=True, eq=False)
class SummaryOf(Summary, Generic[R]):
    """A summary of rows that are elsewhere."""

    of: R

    @property
    def shape(self) -> Draft:
        return self.of.shape

    @property
    def secret(self) -> Key:
        return self.of.key


def counted(table: pa.Table, names: list[str]) -> pa.Table:
    """The different rows of a table and how often each occurs."""
    found = without_dictionaries(table).group_by(names).aggregate([([], "count_all")])
    return found.rename_columns([*names, COUNT])


def without_dictionaries(table: pa.Table) -> pa.Table:
    """The same table with plain columns: dictionaries of different batches do not belong together."""
    import pyarrow as pa

    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields)) if fields != list(table.schema) else table
