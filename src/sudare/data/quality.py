"""What about the values a user should know before believing a number: empty columns, values that look alike."""

from __future__ import annotations

from collections.abc import Sequence

from sudare.data.connection import connect, quote
from sudare.data.dataset import Dataset
from sudare.errors import warn

# beyond this many rows the first ones stand for all: the warning is a hint, not a measure
LOOKED_AT = 200_000


def check_values(ds: Dataset, columns: Sequence[str]) -> None:
    """Warn of columns without a value (S-EMPTY) and of values that differ only in form (S-ALIKE)."""
    if ds.view is None:
        return
    kinds = dict(zip(ds.columns, map(str, connect().table(ds.view).types)))
    text = [c for c in columns if kinds[c] == "VARCHAR"]
    filled = [f"count({quote(c)})" for c in columns]
    alike = [f"count(DISTINCT {quote(c)}) - count(DISTINCT nfc_normalize(trim({quote(c)})))" for c in text]
    source = f"(SELECT * FROM {quote(ds.view)} LIMIT {LOOKED_AT})"
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
