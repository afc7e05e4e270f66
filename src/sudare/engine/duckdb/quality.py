"""What about the values a user should know before believing a number: empty columns, values that look alike."""

from __future__ import annotations

from collections.abc import Sequence

from sudare.data.connection import connect, quote
from sudare.data.dataset import Dataset
from sudare.engine.duckdb.values import TEXT
from sudare.errors import warn

# beyond this many rows the first ones stand for all: the warning is a hint, not a measure
LOOKED_AT = 200_000
AT_ONCE = 16  # columns: distinct counts of very many in one query take time by the square


class Quality:
    """What `Counts` says of the quality of values, for a view of DuckDB."""

    ds: Dataset

    def check_values(self, columns: Sequence[str]) -> None:
        kinds = dict(zip(self.ds.columns, map(str, connect().table(str(self.ds.view)).types)))
        for start in range(0, len(columns), AT_ONCE):
            some = columns[start : start + AT_ONCE]
            self._check(some, [column for column in some if kinds[column] == TEXT])

    def _check(self, columns: Sequence[str], text: Sequence[str]) -> None:
        filled = [f"count({quote(c)})" for c in columns]
        alike = [
            f"count(DISTINCT {quote(c)}) - count(DISTINCT nfc_normalize(trim({quote(c)})))" for c in text
        ]
        source = f"(SELECT * FROM {quote(str(self.ds.view))} LIMIT {LOOKED_AT})"
        found = connect().sql(f"SELECT {', '.join([*filled, *alike])} FROM {source}").fetchall()[0]
        for column, count in zip(columns, found):
            if not count:
                warn("S-EMPTY", f"column '{column}' has no value in any record")
        for column, count in zip(text, found[len(columns) :]):
            if count:
                warn(
                    "S-ALIKE",
                    f"column '{column}': {count:,} values differ from others only by outer blanks or Unicode form; "
                    "they count as different values",
                )
