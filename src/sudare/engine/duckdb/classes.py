"""Equivalence classes by DuckDB's GROUP BY."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sudare.data.connection import connect, literal, quote, scalar
from sudare.data.dataset import Dataset
from sudare.data.values.recoded import SUPPRESSED
from sudare.data.values.sets import is_sets
from sudare.engine.duckdb.sql import TEXT, names

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.engine.classes import Cells, Sizes


class Classes:
    """What `Counts` says of classes, for a view of DuckDB."""

    ds: Dataset

    def class_sizes(self, quasi: Sequence[str]) -> Sizes:
        from sudare.engine.classes import Sizes

        inner = f"SELECT {self._people} AS persons, count(*) AS n FROM {self._view}{_group_by(quasi)}"
        query = f"SELECT persons, count(*), sum(n) FROM ({inner}) GROUP BY persons ORDER BY persons"
        return Sizes.counted(connect().sql(query).to_arrow_table())

    def class_table(
        self, quasi: Sequence[str], *, weight: str | None = None, persons: bool = False
    ) -> pa.Table:
        parts = [*map(quote, quasi), "count(*) AS sudare_records"]
        parts += [f"{self._people} AS sudare_persons"] if persons else []
        parts += [f"sum({quote(weight)}) AS sudare_weight"] if weight is not None else []
        query = f"SELECT {', '.join(parts)} FROM {self._view}{_group_by(quasi)}"
        return connect().sql(query).to_arrow_table()

    def class_cells(self, quasi: Sequence[str], sensitive: str) -> Cells:
        from sudare.engine.classes import Cells

        keys, value, source = names([*quasi, sensitive]), quote(sensitive), self._view
        if is_sets(self.ds.schema.field(sensitive).type):
            columns = ", ".join([*map(quote, quasi), f"unnest({value}) AS {value}"])
            source = f"(SELECT {columns} FROM {source})"
        pairs = f"SELECT {keys}, count(*) AS sudare_n FROM {source} GROUP BY {keys}"
        unknown = " OR ".join(self._unknown(quasi)) or "false"
        query = f"SELECT list({value}), list(sudare_n), {unknown} FROM ({pairs}){_group_by(quasi)}"
        return Cells.of_lists(connect().sql(query).to_arrow_table())

    def has_unknown(self, columns: Sequence[str]) -> bool:
        tests = " OR ".join(f"bool_or({test})" for test in self._unknown(columns))
        return bool(scalar(f"SELECT {tests} FROM {self._view}"))

    def total(self, column: str) -> float:
        return float(scalar(f"SELECT sum({quote(column)}) FROM {self._view}") or 0)

    @property
    def _view(self) -> str:
        return quote(str(self.ds.view))

    @property
    def _people(self) -> str:
        user = self.ds.roles.user
        return "count(*)" if user is None else f"count(DISTINCT {quote(user)})"

    def _unknown(self, columns: Sequence[str]) -> list[str]:
        """A test per column for a missing cell, and for a suppressed one where cells are text."""
        kinds = dict(zip(self.ds.columns, map(str, connect().table(str(self.ds.view)).types)))
        suppressed = [c for c in columns if kinds[c] == TEXT]
        return [f"{quote(c)} IS NULL" for c in columns] + [
            f"{quote(c)} IS NOT DISTINCT FROM {literal(SUPPRESSED)}" for c in suppressed
        ]


def _group_by(quasi: Sequence[str]) -> str:
    return f" GROUP BY {names(quasi)}" if quasi else ""
