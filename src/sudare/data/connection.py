"""The one DuckDB connection of the process."""

from __future__ import annotations

import contextlib
import functools
import glob
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.data.files.private import private_folder as private_folder
from sudare.errors import UsageError

if TYPE_CHECKING:
    import duckdb

_names = itertools.count(1)
OWN_SHARE = 0.6  # of the memory of the process that DuckDB may take; batches and libraries need the rest
LEAST = 1 << 28  # bytes without which DuckDB cannot read a file in parallel
ODD = ("BIGNUM", "BIT", "BLOB", "INTERVAL", "TIME WITH TIME ZONE", "UHUGEINT")


@functools.cache
def connect() -> duckdb.DuckDBPyConnection:
    """The connection every table of this process lives on.

    Insertion order is kept (row numbers mean something here), the progress bar is off (it writes to
    standard output), extensions are never fetched, and spilled data go to a private folder that is
    removed at exit. `SUDARE_MEMORY` (e.g. `2GB`) limits what the process takes, of which DuckDB gets a part, and
    `SUDARE_THREADS` how many threads it has.
    """
    import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {
        "preserve_insertion_order": True,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "temp_directory": str(private_folder() / "spill"),
    }
    if "SUDARE_THREADS" in os.environ:
        config["threads"] = setting("SUDARE_THREADS", 1)
    connection = duckdb.connect(":memory:", config=config)
    _limit_memory(connection)
    connection.execute("SET enable_progress_bar = false")
    connection.execute("SET parquet_metadata_cache = true")  # read once per file and change of it
    return connection


def setting(name: str, default: int) -> int:
    """A whole number of the environment, at least 1."""
    given = os.environ.get(name, "").strip() or str(default)
    if not given.isdecimal() or int(given) < 1:
        raise UsageError(f"{name} is no whole number from 1 up; set it to one, or unset it")
    return int(given)


def memory_limit() -> int:
    """What DuckDB may take, in bytes."""
    return _memory_limit(connect())


@contextlib.contextmanager
def limited(memory: int | None) -> Iterator[None]:
    """Another limit for a while; what does not fit goes to the private folder."""
    if memory is None:
        yield
        return
    connect().execute(f"SET memory_limit = '{int(memory)}B'")
    try:
        yield
    finally:
        _limit_memory(connect())


def _limit_memory(connection: duckdb.DuckDBPyConnection) -> None:
    """DuckDB's part of what the process may take, or what DuckDB takes by itself."""
    if given := os.environ.get("SUDARE_MEMORY"):
        _set_memory(connection, given)
        most = _memory_limit(connection)
        connection.execute(f"SET memory_limit = '{int(max(OWN_SHARE * most, min(most, LEAST)))}B'")
    else:
        connection.execute("RESET memory_limit")


def _set_memory(connection: duckdb.DuckDBPyConnection, given: str) -> None:
    import duckdb

    try:
        connection.execute(f"SET memory_limit = {literal(given)}")
    except duckdb.Error:
        raise UsageError("SUDARE_MEMORY is no size; set it to one such as 2GB, or unset it") from None


def _memory_limit(connection: duckdb.DuckDBPyConnection) -> int:
    number, _, unit = str(
        connection.sql("SELECT current_setting('memory_limit')").fetchall()[0][0]
    ).partition(" ")
    powers = {"bytes": 0, "KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40}
    return int(float(number) * (1 << powers.get(unit, 0)))


def scalar(query: str) -> Any:
    """The one value of a query of one row and one column."""
    return connect().sql(query).fetchall()[0][0]


def fresh_name(prefix: str = "sudare") -> str:
    """A name for a view that nobody else has."""
    return f"{prefix}_{next(_names)}"


def create_view(source: str) -> str:
    """A view over a table or a table function, in types that Arrow knows as well: others become text."""
    view = fresh_name()
    columns = connect().sql(f"DESCRIBE SELECT * FROM {source}").fetchall()
    chosen = ", ".join(_plain(quote(name), kind) for name, kind, *_ in columns)
    connect().execute(f"CREATE VIEW {view} AS SELECT {chosen} FROM {source}")
    return view


def is_odd(kind: str) -> bool:
    """Whether DuckDB has a type that the engines, or the files we write, do not know: its values are taken as text.

    >>> is_odd("BLOB"), is_odd("STRUCT(a INTEGER)"), is_odd("VARCHAR[]"), is_odd("INTEGER[][]")
    (True, True, False, True)
    """
    return kind.startswith(("ENUM", "STRUCT", "MAP", "UNION")) or kind.endswith("][]") or kind in ODD


def quote(name: str) -> str:
    '''An SQL identifier.

    >>> print(quote('say "hi"'))
    "say ""hi"""
    '''
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """An SQL string."""
    return "'" + text.replace("'", "''") + "'"


def file_literal(path: Path) -> str:
    """A file as an SQL string: DuckDB takes a name with [ * ? for a pattern, which other files may fit.

    >>> file_literal(Path("t[1].csv"))
    "'t[[]1].csv'"
    """
    return literal(glob.escape(str(path)))


def _plain(column: str, kind: str) -> str:
    """A column as it is, or as text; one without a type never held a value."""
    if kind == '"NULL"':
        return f"CAST(NULL AS VARCHAR) AS {column}"
    return f"CAST({column} AS VARCHAR) AS {column}" if is_odd(kind) else column
