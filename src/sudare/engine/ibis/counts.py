"""The counts of a table in a database: ibis expressions, of which only aggregates come back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.engine.coded import Coded, Cross
from sudare.engine.counts import Counts, counts_of
from sudare.engine.ibis.classes import Classes
from sudare.engine.ibis.sample import Sample
from sudare.engine.ibis.values import Values


class IbisCounts(Values, Sample, Classes, Counts):
    """`Counts` of an ibis expression."""

    @property
    def values_leave(self) -> bool:
        return self.ds.engine == "duckdb"  # a file of DuckDB is no server

    def cross(self, first: str, second: str, *, missing: str = "value") -> Cross:
        columns = list(dict.fromkeys((first, second)))
        if not (records := self.count_records(columns, missing=missing)):
            return Cross()
        if self.ds.roles.user is None:  # a person's only record is the other record too
            values, records, users = self.count_values(columns, missing=missing)
            return Cross(values / records, records, users, values)
        total, pairs = self._cross_sums(first, second, missing)
        return Cross(total / records, records, self._users(columns, missing), pairs)

    def coded_values(
        self, columns: Sequence[str], *, missing: str = "value"
    ) -> tuple[Coded, dict[str, list[Any]]]:
        user = self.ds.roles.user
        wanted = list(dict.fromkeys([*([user] if user else []), *columns]))
        here = Dataset.from_arrow(self.ds.to_pyarrow(wanted), Roles(user=user), name=self.ds.name)
        return counts_of(here).coded_values(columns, missing=missing)
