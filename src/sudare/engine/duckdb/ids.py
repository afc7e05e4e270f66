"""The ids of records that do not fit into memory: the same ids as `sudare.keys.record_ids`.

Hashes are made batch by batch; which of them occur several times, and in which order, DuckDB finds on disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sudare.data.connection import scalar
from sudare.data.dataset import Dataset
from sudare.data.truth import ROW
from sudare.engine.duckdb.store import BATCH_ROWS, Store, scan, stream
from sudare.engine.rows import IDS, longs, with_longs, words_of
from sudare.keys import Key
from sudare.keys.records import hash_columns, identity, occurrences

if TYPE_CHECKING:
    import pyarrow as pa

OWNER, FULL, NUMBER = ("o0", "o1"), ("f0", "f1"), "n"


@dataclass(frozen=True)
class Identified:
    """A table whose records have ids."""

    ds: Dataset
    key: Key
    store: Store

    @cached_property
    def stored(self) -> Path | None:
        """The ids that depend on other rows, in the order of the rows; None if every owner has one record."""
        owner, _ = identity(self.ds.columns, self.ds.roles)
        if owner:
            hashed = self.store.write(_hashed(self.ds, self.key, owner_only=True))
            repeated = f"SELECT 1 FROM {scan(hashed)} GROUP BY o0, o1 HAVING count(*) > 1 LIMIT 1"
            if scalar(f"SELECT count(*) FROM ({repeated})") == 0:
                return None
        hashed = self.store.write(_hashed(self.ds, self.key, owner_only=False))
        return self.store.copy(_numbered(scan(hashed)))

    def tables(self) -> Iterator[pa.Table]:
        """The rows in their order, a batch at a time, with the number of the row and the id beside."""
        import pyarrow as pa

        stored = None if self.stored is None else _Reader(stream(f"SELECT * FROM {scan(self.stored)}"))
        start = 0
        for batch in self.ds.batches(rows=BATCH_ROWS):
            table = pa.Table.from_batches([batch])
            rows = table.num_rows
            if stored is None:
                ids = hash_columns(table, identity(self.ds.columns, self.ds.roles)[0], self.key)
            else:
                known = stored.next(rows)
                ids = occurrences(words_of(known, FULL), longs(known, NUMBER), self.key)
            table = table.append_column(ROW, pa.array(np.arange(start, start + rows, dtype=np.int64)))
            yield with_longs(table, IDS, ids.T)
            start += rows


class _Reader:
    """Tables read so many rows at a time, whatever their own size is."""

    def __init__(self, tables: Iterator[pa.Table]) -> None:
        self._tables = tables
        self._held: pa.Table | None = None

    def next(self, rows: int) -> pa.Table:
        import pyarrow as pa

        held = [] if self._held is None else [self._held]
        while sum(table.num_rows for table in held) < rows:
            held.append(next(self._tables))
        whole = pa.concat_tables(held)
        self._held = whole.slice(rows)
        return whole.slice(0, rows)


def _hashed(ds: Dataset, key: Key, *, owner_only: bool) -> Iterator[pa.Table]:
    """The hashes of every record's owner and content; a table without owners has one for all."""
    import pyarrow as pa

    owner, content = identity(ds.columns, ds.roles)
    start = 0
    for batch in ds.batches(rows=BATCH_ROWS):
        table = pa.Table.from_batches([batch])
        rows = np.arange(start, start + table.num_rows, dtype=np.int64)
        out = pa.table({"row": rows})
        nobody = np.zeros((table.num_rows, 2), np.uint64)
        out = with_longs(out, OWNER, (hash_columns(table, owner, key) if owner else nobody).T)
        if not owner_only:
            out = with_longs(out, FULL, hash_columns(table, content, key).T)
        start += table.num_rows
        yield out


def _numbered(hashed: str) -> str:
    """For every row the hash that identifies it, and how many equal records come before it."""
    return (
        f"WITH h AS (SELECT * FROM {hashed}), "
        "owners AS (SELECT o0, o1, true AS shared FROM h GROUP BY o0, o1 HAVING count(*) > 1), "
        "equal AS (SELECT f0, f1 FROM h GROUP BY f0, f1 HAVING count(*) > 1), "
        "numbers AS (SELECT row, row_number() OVER (PARTITION BY f0, f1 ORDER BY row) - 1 AS n "
        "FROM h SEMI JOIN equal USING (f0, f1)) "
        "SELECT CASE WHEN shared THEN f0 ELSE o0 END AS f0, CASE WHEN shared THEN f1 ELSE o1 END AS f1, "
        "coalesce(n, 0) AS n FROM h LEFT JOIN owners USING (o0, o1) LEFT JOIN numbers USING (row) ORDER BY row"
    )
