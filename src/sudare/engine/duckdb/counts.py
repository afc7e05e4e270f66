"""The counts of a file or of a table in memory: queries of DuckDB, and kernels where reading the rows once is faster.

What only large tables need is imported where it is used: a small table is measured without numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sudare.data.connection import connect, fresh_name, quote, scalar
from sudare.data.dataset import BATCH_ROWS, Dataset
from sudare.engine.counts import LARGE, Counts, Owners, Subset, in_order, is_simple
from sudare.engine.duckdb.classes import Classes
from sudare.engine.duckdb.sql import TEXT, names, per_value, rows
from sudare.engine.profile import Profile
from sudare.errors import warn

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.engine.coded import Coded, Cross

MANY_COLUMNS = 100  # so many queries cost more than reading the columns at once
MANY_CELLS = 100_000_000
LOOKED_AT = 200_000  # beyond, the first rows stand for all: a warning about values is a hint, not a measure
AT_ONCE = 16  # columns: distinct counts of very many in one query take time by the square
CLUSTERED = 4  # mean records of a value in a row, from which on it is worth to look for changes only


class DuckDBCounts(Classes, Counts):
    """`Counts` of a view of DuckDB."""

    def profile(self, attributes: Sequence[str], *, missing: str, every_attacker: bool) -> Profile:
        wide = "records, users, squares, largest" if every_attacker else "records, users"
        values = per_value(self.ds, attributes, missing=missing)
        found = connect().sql(f"SELECT {wide}, count(*) FROM ({values}) GROUP BY ALL").fetchall()
        return Profile.counted(attributes, found, self._users(attributes, missing), every_attacker)

    def value_rows(self, attributes: Sequence[str], *, missing: str = "value") -> list[tuple[Any, ...]]:
        found = connect().sql(per_value(self.ds, attributes, missing=missing)).to_arrow_table()
        return list(zip(*(column.to_pylist() for column in found.columns)))

    def count_values(self, attributes: Sequence[str], *, missing: str = "value") -> tuple[int, int, int]:
        counted = f"SELECT count(*) AS n {rows(self.ds, attributes, missing)} GROUP BY {names(attributes)}"
        values, records = connect().sql(f"SELECT count(*), sum(n)::BIGINT FROM ({counted})").fetchall()[0]
        return values, records or 0, self._users(attributes, missing)

    def count_records(self, attributes: Sequence[str], *, missing: str = "value") -> int:
        if missing == "value":
            return self.ds.rows
        return int(scalar(f"SELECT count(*) {rows(self.ds, attributes, missing)}"))

    def exposed(self, attributes: Sequence[str], most: int, *, missing: str = "value") -> float:
        columns, source = names(attributes), rows(self.ds, attributes, missing)
        if self.ds.roles.user is None:
            inner = f"SELECT count(*) AS n {source} GROUP BY {columns}"
            query = f"SELECT coalesce(sum(n) FILTER (n <= {most}), 0) FROM ({inner})"
        else:
            owners = f"SELECT {quote(self.ds.roles.user)} AS owner, {columns} {source} GROUP BY ALL"
            counted = f"SELECT owner, count(*) OVER (PARTITION BY {columns}) AS owners FROM ({owners})"
            query = f"SELECT count(DISTINCT owner) FROM ({counted}) WHERE owners <= {most}"
        return float(scalar(query)) / self.ds.users

    def without_user(self) -> int:
        user, view = quote(str(self.ds.roles.user)), quote(str(self.ds.view))
        return int(scalar(f"SELECT count(*) - count({user}) FROM {view}"))

    def _users(self, attributes: Sequence[str], missing: str) -> int:
        if missing == "value":
            return self.ds.users
        counted = "*" if self.ds.roles.user is None else f"DISTINCT {quote(self.ds.roles.user)}"
        return int(scalar(f"SELECT count({counted}) {rows(self.ds, attributes, missing)}"))

    def domain(self, attributes: Sequence[str], *, missing: str = "value") -> pa.Table:
        if len(attributes) == 1 and missing == "value" and (known := _clustered(self.ds, *attributes)):
            return in_order(known)
        query = f"SELECT DISTINCT {names(attributes)} {rows(self.ds, attributes, missing)}"
        return in_order(connect().sql(query).to_arrow_table())

    def owners(self, chosen: pa.Table) -> list[Owners]:
        attributes = chosen.column_names
        if len(attributes) > 1 or not is_simple(chosen.column(0).type):
            return self._owners_by_join(chosen)
        known = [value for value in chosen.column(0).to_pylist() if value is not None]
        column = quote(attributes[0])
        tests = [f"{column} IN ({', '.join('?' * len(known))})"] if known else []
        tests += [f"{column} IS NULL"] if len(known) < chosen.num_rows else []
        return connect().execute(self._owners(attributes, f"({' OR '.join(tests)})"), known).fetchall()

    def _owners_by_join(self, chosen: pa.Table) -> list[Owners]:
        name, view = fresh_name(), quote(str(self.ds.view))
        columns = [quote(c) for c in chosen.column_names]
        same = " AND ".join(f"{name}.{c} IS NOT DISTINCT FROM {view}.{c}" for c in columns)
        query = self._owners(chosen.column_names, f"EXISTS (SELECT 1 FROM {name} WHERE {same})")
        connect().register(name, chosen)
        try:
            return connect().sql(query).fetchall()
        finally:
            connect().unregister(name)

    def _owners(self, attributes: Sequence[str], condition: str) -> str:
        values = per_value(self.ds, attributes, missing="value", condition=condition)
        return f"SELECT records, users, squares, largest FROM ({values})"

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
        from sudare.engine.duckdb.profiles import coded, with_values

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
        from sudare.engine.duckdb.profiles import coded_values

        return coded_values(self.ds, columns, missing)

    def check_values(self, columns: Sequence[str]) -> None:
        for start in range(0, len(columns), AT_ONCE):
            self._check(columns[start : start + AT_ONCE])

    def _check(self, columns: Sequence[str]) -> None:
        kinds = dict(zip(self.ds.columns, map(str, connect().table(str(self.ds.view)).types)))
        text = [c for c in columns if kinds[c] == TEXT]
        counts = [f"count({quote(c)})" for c in columns]
        counts += [
            f"count(DISTINCT {c}) - count(DISTINCT nfc_normalize(trim({c})))" for c in map(quote, text)
        ]
        source = f"(SELECT * FROM {quote(str(self.ds.view))} LIMIT {LOOKED_AT})"
        found = connect().sql(f"SELECT {', '.join(counts)} FROM {source}").fetchall()[0]
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


def _clustered(ds: Dataset, attribute: str) -> pa.Table | None:
    """D_X of Parquet files in which equal values stand together: where the value changes, without a table of values.

    None where they do not, as the first batch tells. One thread: handing out so little work costs more than doing it.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    parts, seen, kept = [], 0, 0
    for path in ds.parquet:
        file = pq.ParquetFile(path)
        if attribute not in file.schema_arrow.names or not is_simple(file.schema_arrow.field(attribute).type):
            return None
        for batch in file.iter_batches(BATCH_ROWS, columns=[attribute], use_threads=False):
            cells = batch.column(0)
            changes = pc.fill_null(pc.not_equal(cells.slice(1), cells.slice(0, len(cells) - 1)), True)
            parts += [cells.slice(0, 1), cells.slice(1).filter(changes)]
            seen, kept = seen + len(cells), kept + len(parts[-1])
            if CLUSTERED * kept > seen:
                return None
    return pa.table({attribute: pa.chunked_array(parts).unique()}) if parts else None
