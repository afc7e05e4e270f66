"""Equivalence classes as ibis expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sudare.data.dataset import Dataset
from sudare.data.values.recoded import SUPPRESSED
from sudare.data.values.sets import is_sets
from sudare.engine.classes import Cells, Sizes

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow as pa


class Classes:
    """What `Counts` says of classes, for an ibis expression."""

    ds: Dataset

    def class_sizes(self, quasi: Sequence[str]) -> Sizes:
        classes = self._classes(quasi, None, True)
        by_size = classes.group_by("sudare_persons").agg(
            classes=classes.count(), records=classes.sudare_records.sum()
        )
        ordered = by_size.order_by("sudare_persons").select("sudare_persons", "classes", "records")
        return Sizes.counted(ordered.to_pyarrow())

    def class_table(
        self, quasi: Sequence[str], *, weight: str | None = None, persons: bool = False
    ) -> pa.Table:
        return self._classes(quasi, weight, persons).to_pyarrow()

    def class_cells(self, quasi: Sequence[str], sensitive: str) -> Cells:
        table = self.ds.table.select(*quasi, sensitive)
        if is_sets(self.ds.schema.field(sensitive).type):
            table = table.mutate(**{sensitive: table[sensitive].unnest()})
        pairs = table.group_by([*quasi, sensitive]).aggregate(sudare_n=table.count())
        return Cells.of_pairs(pairs.to_pyarrow(), quasi, sensitive)

    def has_unknown(self, columns: Sequence[str]) -> bool:
        table = self.ds.table
        unknown = [table[c].isnull().sum() for c in columns]
        unknown += [(table[c] == SUPPRESSED).sum() for c in columns if table[c].type().is_string()]
        named = {f"sudare_{index}": count for index, count in enumerate(unknown)}
        return any(table.aggregate(**named).to_pyarrow().to_pylist()[0].values())

    def total(self, column: str) -> float:
        return float(self.ds.table[column].sum().to_pyarrow().as_py() or 0)

    def _classes(self, quasi: Sequence[str], weight: str | None, persons: bool) -> ir.Table:
        """One row per class: its columns, records and, if asked, people and summed weights."""
        table, user = self.ds.table, self.ds.roles.user
        measures = {"sudare_records": table.count()}
        if persons:
            measures["sudare_persons"] = table.count() if user is None else table[user].nunique()
        if weight is not None:
            measures["sudare_weight"] = table[weight].sum()
        return table.group_by(list(quasi)).aggregate(**measures)
