"""Rows on one machine: all of them in memory where they fit, else a batch at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sudare.data import connection
from sudare.data.connection import connect, quote
from sudare.data.dataset import Dataset
from sudare.data.truth import ROW
from sudare.engine.rows import Draft, Made, Method, Outcome, Rows, Together, card_of
from sudare.engine.summary import Summary
from sudare.keys import Key, order

SAMPLE_ROWS = 10_000
COPIES = 6  # of a table, at most, that a recipe in memory holds at a time
HIDDEN_BYTES = 24  # the original row and the id of a row


def rows_of(ds: Dataset, key: Key) -> Rows:
    """All rows in memory where several copies of them fit, else streamed."""
    if fits(ds):
        return Whole(Draft.of(ds, key), key)
    from sudare.engine.duckdb.streamed import Streamed

    return Streamed.of(ds, key)


def fits(ds: Dataset) -> bool:
    """Whether a recipe can hold all rows at once."""
    return bytes_in_memory(ds) <= connection.memory_limit()


def refusal(ds: Dataset, together: Together | None) -> str | None:
    """Rows that do not fit into memory can meet in groups, but not all of them."""
    needed, most = bytes_in_memory(ds), connection.memory_limit()
    if (together is not None and together.alike is None) or needed <= most:
        return None
    return (
        f"needs all rows in one place, about {needed / 2**30:.1f} GB, and sudare may take {most / 2**30:.1f} GB here "
        "(SUDARE_MEMORY)"
    )


def bytes_in_memory(ds: Dataset) -> int:
    """What a recipe takes that holds all rows at once, by a sample of them."""
    query = f"SELECT * FROM {quote(str(ds.view))} LIMIT {SAMPLE_ROWS}"
    sample = connect().sql(query).to_arrow_table()
    return int(COPIES * ds.rows * (sample.nbytes / max(sample.num_rows, 1) + HIDDEN_BYTES))


@dataclass(frozen=True)
class Whole:
    """All rows in one batch; every step is carried out at once."""

    draft: Draft
    key: Key
    outcomes: tuple[tuple[Outcome, ...], ...] = ()
    whole = True

    @property
    def summary(self) -> Summary:
        return self.draft

    def each(self, step: Method) -> Whole:
        done = step.apply(self.draft.replace(details={}), self.key)
        return Whole(done, self.key, (*self.outcomes, (Outcome(self.draft.rows, done.details),)))

    def groups(self, step: Method, together: Together) -> Whole:
        return self.each(step)

    def in_one(self, step: Method) -> Whole:
        return self.each(step)

    def publish(self, digest: str, name: str) -> Made:
        import pyarrow as pa

        shown = self.draft.take(order(self.key, "shuffle", digest, self.draft.ids))
        linked = Dataset.from_arrow(shown.table.append_column(ROW, pa.array(shown.truth)), name=name)
        data = Dataset.from_arrow(shown.table, shown.roles, name=name)
        return Made(replace(data, published=card_of(shown)), linked, self.outcomes)
