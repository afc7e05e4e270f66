"""Rows larger than memory: steps wait and are then one pass over batches; DuckDB orders and groups on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from sudare.data.connection import quote
from sudare.data.dataset import Dataset
from sudare.data.truth import ROW
from sudare.engine.duckdb.ids import Identified
from sudare.engine.duckdb.rows import Whole
from sudare.engine.duckdb.store import Store, scan, stream
from sudare.engine.rows import (
    DRAWS,
    Draft,
    Made,
    Method,
    Outcome,
    Together,
    card_of,
    with_draws,
)
from sudare.engine.summary import Summary, SummaryOf, T
from sudare.keys import Key

if TYPE_CHECKING:
    import pyarrow as pa

GROUP = "sudare group"


@dataclass(frozen=True)
class Streamed:
    """Rows in batches. `source` gives them as the last pass left them, `steps` are those that wait for the next.

    `met`: the columns by which the batches hold whole groups.
    """

    source: Callable[[], Iterator[Draft]]
    shape: Draft
    key: Key
    store: Store
    steps: tuple[tuple[int, Method], ...] = ()
    done: int = 0
    met: tuple[str, ...] = ()
    found: dict[int, list[Outcome]] = field(default_factory=dict)
    whole = False

    @classmethod
    def of(cls, ds: Dataset, key: Key) -> Streamed:
        store = Store()
        identified = Identified(ds, key, store)
        shape = Draft.empty(ds, key)
        return cls(lambda: map(shape.unpacked, identified.tables()), shape, key, store)

    @property
    def summary(self) -> Summary:
        return StreamedSummary(self)

    def each(self, step: Method) -> Streamed:
        after = step.apply(self.shape.replace(details={}), self.key.without_file)
        steps = (*self.steps, (self.done, step))
        return replace(self, shape=after, steps=steps, done=self.done + 1, met=())

    def groups(self, step: Method, together: Together) -> Streamed | Whole:
        """The rows come ordered by the hash of what they are grouped by; a batch ends where the hash changes.

        Steps that meet by the same columns one after another meet once.
        """
        if together.alike is not None:
            return self.in_one(step)
        if together.by == self.met:
            return replace(self.each(step), met=self.met)
        path = self.store.write(draft.packed() for draft in self.batches(record=True))
        marked = f"SELECT *, hash({', '.join(map(quote, together.by))}) AS {quote(GROUP)} FROM {scan(path)}"
        query = f"{marked} ORDER BY {quote(GROUP)}, {quote(ROW)}"
        shape = self.shape
        met = replace(self, steps=(), source=lambda: map(shape.unpacked, _whole_groups(stream(query))))
        return replace(met.each(step), met=together.by)

    def in_one(self, step: Method) -> Whole:
        import pyarrow as pa

        packed = [draft.packed() for draft in self.batches(record=True)]
        draft = self.shape.unpacked(pa.concat_tables(packed).combine_chunks())
        return Whole(draft, self.key, self._outcomes()).each(step)

    def batches(self, *, record: bool = False) -> Iterator[Draft]:
        """The rows after the steps that wait; with `record` what these measured is kept."""
        for draft in self.source():
            for number, step in self.steps:
                before = draft.rows
                draft = step.apply(draft.replace(details={}), self.key.without_file)
                if record:
                    self.found.setdefault(number, []).append(Outcome(before, draft.details))
            yield draft

    def publish(self, digest: str, name: str) -> Made:
        names = self.shape.table.column_names
        unordered = self.store.write(
            with_draws(draft.packed(), draft.ids, self.key, "shuffle", digest)
            for draft in self.batches(record=True)
        )
        columns, by = (", ".join(map(quote, chosen)) for chosen in ((*names, ROW), DRAWS))
        ordered = self.store.copy(f"SELECT {columns} FROM {scan(unordered)} ORDER BY {by}")
        unordered.unlink()
        data = self.store.dataset(ordered, names, name)
        return Made(
            replace(data, roles=self.shape.roles, published=card_of(self.shape)),
            self.store.dataset(ordered, (*names, ROW), name),
            self._outcomes(),
        )

    def _outcomes(self) -> tuple[tuple[Outcome, ...], ...]:
        return tuple(tuple(self.found.get(number, ())) for number in range(self.done))


class StreamedSummary(SummaryOf[Streamed]):
    """Aggregates by one more pass over the batches."""

    def dataset(self, columns: Sequence[str]) -> Dataset:
        path = self.of.store.write(draft.table.select(list(columns)) for draft in self.of.batches())
        return self.of.store.dataset(path, columns, "rows")

    def reduce(self, work: Callable[[Draft], T], key: Key | None = None) -> list[T]:
        return [work(draft.replace(key=key or self.of.key)) for draft in self.of.batches()]


def _whole_groups(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Ordered rows, cut where the group changes."""
    import pyarrow as pa

    carried: pa.Table | None = None
    for table in tables:
        whole = table if carried is None else pa.concat_tables([carried, table])
        marks = whole[GROUP].combine_chunks()
        same = np.asarray(marks) == marks[-1].as_py()
        cut = int(len(same) - np.argmin(same[::-1])) if not same.all() else 0
        if cut:
            yield whole.slice(0, cut)
        carried = whole.slice(cut)
    if carried is not None and carried.num_rows:
        yield carried
