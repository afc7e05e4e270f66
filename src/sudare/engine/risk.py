"""The way a profile is measured: chosen by where the table lives, how large it is and how much memory there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sudare.data.dataset import Dataset
from sudare.engine.risk_profile import Profile
from sudare.errors import DataError, UsageError
from sudare.progress import stage

WAYS = ("auto", "plain", "kernel")
KERNEL_ROWS = 2_000_000
MANY_COLUMNS = 100
MANY_CELLS = 100_000_000


def profiles(
    ds: Dataset,
    subsets: Sequence[tuple[str, ...]],
    *,
    missing: str = "value",
    every_attacker: bool = False,
    way: str = "auto",
    memory: int | None = None,
) -> list[Profile]:
    """The profile of every set of attributes, in the given order.

    `plain` asks the engine one query per set; `kernel` reads the rows once, ordered by user, for all of them.
    Both give the same integers. `auto` takes the kernel for large tables on DuckDB and for every table on Spark.
    """
    check(ds)
    if _takes_kernel(ds, subsets, missing, way):
        if ds.view is None:
            from sudare.engine import spark_risk

            return spark_risk.profiles(ds, subsets, every_attacker=every_attacker)
        from sudare.engine import risk_stream

        return risk_stream.profiles(ds, subsets, every_attacker=every_attacker, memory=memory)
    if way == "auto" and missing == "value" and _is_wide(ds, subsets):
        return _wide_profiles(ds, subsets, every_attacker)
    plain, found = _plain(ds), []
    for place, subset in enumerate(subsets):
        stage("risk of attributes", place, len(subsets))
        found.append(plain.profile(ds, subset, missing=missing, every_attacker=every_attacker))
    return found


def _is_wide(ds: Dataset, subsets: Sequence[tuple[str, ...]]) -> bool:
    """Whether so many columns are asked for that one query each would cost more than reading them all at once."""
    columns = len({name for subset in subsets for name in subset})
    return ds.view is not None and columns >= MANY_COLUMNS and ds.rows * columns <= MANY_CELLS


def _wide_profiles(ds: Dataset, subsets: Sequence[tuple[str, ...]], every_attacker: bool) -> list[Profile]:
    from sudare.engine.risk_lattice import profiles_of_codes
    from sudare.engine.risk_rows import coded_values

    columns = list(dict.fromkeys(name for subset in subsets for name in subset))
    data, _ = coded_values(ds, columns, missing="value")
    found = profiles_of_codes(data, subsets, every_attacker)
    return [found[subset] for subset in subsets]


def value_rows(ds: Dataset, attributes: Sequence[str], *, missing: str = "value") -> list[tuple[Any, ...]]:
    """Per value: the value(s), records, users, the sum of the users' squared records, the largest owner's records."""
    found: list[tuple[Any, ...]] = _plain(ds).value_rows(ds, attributes, missing=missing)
    return found


def count_values(ds: Dataset, attributes: Sequence[str], *, missing: str = "value") -> tuple[int, int, int]:
    """|D_X|, records, users."""
    found: tuple[int, int, int] = _plain(ds).count_values(ds, attributes, missing=missing)
    return found


def count_records(ds: Dataset, attributes: Sequence[str], *, missing: str = "value") -> int:
    """m, which is known of a table without reading it unless records with missing values are left out."""
    return ds.rows if missing == "value" else int(_plain(ds).count_records(ds, attributes, missing=missing))


def exposed(ds: Dataset, attributes: Sequence[str], most: int, *, missing: str = "value") -> float:
    """The share of users who own a value with at most so many owners."""
    found: float = _plain(ds).exposed(ds, attributes, most, missing=missing)
    return found


def check(ds: Dataset) -> None:
    """Records there must be, and every one of them must belong to somebody."""
    rows, without = _plain(ds).check_users(ds)
    if rows == 0:
        raise DataError(f"{ds.name}: no records; give a table with at least one")
    if without:
        raise DataError(
            f"{ds.name}: {without:,} records have no user in column '{ds.roles.user}'; remove them or give them one"
        )


def _plain(ds: Dataset) -> Any:
    if ds.view is not None:
        from sudare.engine import risk_sql

        return risk_sql
    from sudare.engine import risk_ibis

    return risk_ibis


def _takes_kernel(ds: Dataset, subsets: Sequence[tuple[str, ...]], missing: str, way: str) -> bool:
    if way not in WAYS:
        raise UsageError(f"way: '{way}' is unknown; use one of {', '.join(WAYS)}")
    possible = ds.engine in ("duckdb", "pyspark") and missing == "value" and len(subsets) > 0
    possible = possible and not (ds.engine == "duckdb" and ds.view is None)
    if way == "kernel" and not possible:
        raise UsageError(
            "way='kernel' needs a file, a table in memory or Spark, and missing='value'; use way='auto'"
        )
    return possible and (way == "kernel" or (way == "auto" and (ds.view is None or ds.rows >= KERNEL_ROWS)))
