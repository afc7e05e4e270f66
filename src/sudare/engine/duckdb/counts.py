"""The counts of a file or of a table in memory: queries of DuckDB, and kernels where reading the rows once is faster.

What only large tables need is imported where it is used: a small table is measured without numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sudare.engine.counts import LARGE, Counts, Subset
from sudare.engine.duckdb.classes import Classes
from sudare.engine.duckdb.quality import Quality
from sudare.engine.duckdb.sample import Sample
from sudare.engine.duckdb.values import Values
from sudare.engine.profile import Profile

if TYPE_CHECKING:
    from sudare.engine.coded import Coded, Cross

MANY_COLUMNS = 100  # so many queries cost more than reading the columns at once
MANY_CELLS = 100_000_000


class DuckDBCounts(Values, Sample, Classes, Quality, Counts):
    """`Counts` of a view of DuckDB."""

    def kernel_pays(self, subsets: Sequence[Subset]) -> bool:
        columns = len({name for subset in subsets for name in subset})
        wide = columns >= MANY_COLUMNS and self.ds.rows * columns <= MANY_CELLS
        return wide or self.ds.rows >= LARGE

    def kernel_profiles(
        self, subsets: Sequence[Subset], *, every_attacker: bool, memory: int | None
    ) -> list[Profile]:
        from sudare.engine.duckdb.profiles import profiles

        return profiles(self, subsets, every_attacker=every_attacker, memory=memory)

    def cross(self, first: str, second: str, *, missing: str = "value") -> Cross:
        from sudare.engine.coded import Cross, cross_of_codes
        from sudare.engine.duckdb.coded import coded, with_values

        columns = list(dict.fromkeys((first, second)))
        if not self.count_records(columns, missing=missing):
            return Cross()
        return cross_of_codes(coded(with_values(self.ds, columns, missing), columns), first, second)

    def lucky(self, attribute: str, *, missing: str = "value") -> float:
        from sudare.engine.coded import lucky_of_codes

        return lucky_of_codes(self.coded_values([attribute], missing=missing)[0], attribute)

    def coded_values(
        self, columns: Sequence[str], *, missing: str = "value"
    ) -> tuple[Coded, dict[str, list[Any]]]:
        from sudare.engine.duckdb.coded import coded_values

        return coded_values(self.ds, columns, missing)
