"""Rows of a table in a database: they are fetched, as far as the limit on fetching goes."""

from __future__ import annotations

from sudare.data.dataset import Dataset
from sudare.engine.duckdb.rows import Whole
from sudare.engine.rows import Draft
from sudare.keys import Key


def rows_of(ds: Dataset, key: Key) -> Whole:
    """The rows, in this process."""
    return Whole(Draft.of(ds, key), key)
