"""The same counts for a table that lives in a database or on Spark: ibis expressions, aggregates come back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sudare.data.values.recoded import SUPPRESSED

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.data.dataset import Dataset


def class_table(ds: Dataset, quasi: Sequence[str], *, weight: str | None, persons: bool) -> pa.Table:
    """One row per class: quasi-identifiers, records and, if asked, people and summed weights."""
    table = ds.table
    measures = {"sudare_records": table.count()}
    if persons:
        measures["sudare_persons"] = (
            table.count() if ds.roles.user is None else table[ds.roles.user].nunique()
        )
    if weight is not None:
        measures["sudare_weight"] = table[weight].sum()
    return table.group_by(list(quasi)).aggregate(**measures).to_pyarrow()


def pairs(ds: Dataset, quasi: Sequence[str], sensitive: str) -> pa.Table:
    """One row per class and sensitive value with their number of records."""
    table = ds.table.select(*quasi, sensitive)
    if is_list(ds, sensitive):
        table = table.mutate(**{sensitive: table[sensitive].unnest()})
    return table.group_by([*quasi, sensitive]).aggregate(sudare_n=table.count()).to_pyarrow()


def has_unknown(ds: Dataset, columns: Sequence[str]) -> bool:
    """Whether some cell of the columns is missing or suppressed."""
    unknown = [ds.table[column].isnull().sum() for column in columns]
    unknown += [(ds.table[column] == SUPPRESSED).sum() for column in columns if is_text(ds, column)]
    named = {f"sudare_{place}": count for place, count in enumerate(unknown)}
    return any(ds.table.aggregate(**named).to_pyarrow().to_pylist()[0].values())


def total(ds: Dataset, column: str) -> float:
    """The sum of a column."""
    return float(ds.table[column].sum().to_pyarrow().as_py() or 0)


def is_list(ds: Dataset, column: str) -> bool:
    """Whether the cells of a column are sets of values."""
    import pyarrow as pa

    kind = ds.schema.field(column).type
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def is_text(ds: Dataset, column: str) -> bool:
    """Whether a column is text."""
    import pyarrow as pa

    kind = ds.schema.field(column).type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
