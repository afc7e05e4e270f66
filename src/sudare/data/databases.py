"""Tables that stay where they are: databases, Spark, ibis expressions."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sudare.data.connection import connect, create_view, fresh_name, literal, quote
from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.errors import DataError, MissingPart, SudareError, UsageError, nearest


def open_ibis(table: Any) -> Dataset:
    """A dataset over an ibis table expression, on whatever backend it has."""
    try:
        backend = table.get_backend()
    except Exception:
        raise UsageError("this ibis expression has no backend; build it from a connected table") from None
    return Dataset(roles=Roles(), name=f"{backend.name} table", expression=table)


def open_url(url: str, table: str | None) -> Dataset:
    """A table of a database by URL; the password comes from PGPASSWORD or .pgpass and is in no message."""
    parts = urlsplit(url)
    scheme = {"postgresql": "postgres"}.get(parts.scheme, parts.scheme)
    if scheme not in ("postgres", "duckdb"):
        raise UsageError(f"unknown kind of database '{scheme}'; sudare opens postgres:// and duckdb://")
    if not table:
        raise UsageError("name the table in the database: --table NAME (table= in Python)")
    if scheme == "duckdb":
        return _open_duckdb(parts.netloc + parts.path, table)
    backend = _postgres(parts)
    tables = backend.list_tables()
    schema, dot, name = table.rpartition(".")
    if table in tables:
        return Dataset(roles=Roles(), name=table, expression=backend.table(table))
    if dot and name in backend.list_tables(database=schema):
        return Dataset(roles=Roles(), name=table, expression=backend.table(name, database=schema))
    raise UsageError(f"no table '{table}' in the database; {nearest(table, tables)}")


def check_master(engine: str) -> None:
    """Refuse what is neither DuckDB nor the master of a Spark cluster."""
    if not engine.startswith(("spark://", "local", "yarn", "k8s://")):
        raise UsageError(f"unknown engine '{engine}'; give duckdb, local[*] or spark://host:7077")


def open_spark_frame(frame: Any, name: str = "Spark table") -> Dataset:
    """A dataset over a Spark DataFrame, which stays on its cluster."""
    from sudare.data import spark

    backend = spark.connect(frame.sparkSession)
    view = fresh_name()
    frame.createOrReplaceTempView(view)
    return Dataset(roles=Roles(), name=name, expression=backend.table(view), keep_alive=frame)


def open_on_spark(source: str, engine: str, text: Sequence[str] = ()) -> Dataset:
    """A file opened by a Spark cluster: `engine` is its master, e.g. local[*] or spark://host:7077.

    `text` names columns of a CSV file that stay text whatever they hold.
    """
    from sudare.data import spark

    name = Path(source).name
    kind = Path(source.rstrip("*/")).suffix.lower()
    if kind not in ("", ".csv", ".tsv", ".parquet", ".pq"):
        raise UsageError(
            f"{name}: Spark reads .parquet, .csv and .tsv here; open a {kind} file with --engine duckdb"
        )
    reader = spark.session(engine).read
    try:
        if kind in (".csv", ".tsv"):
            reader = reader.schema(_csv_schema(source, text)).option("mode", "FAILFAST")
            frame = reader.csv(
                source, header=True, sep="\t" if kind == ".tsv" else ",", quote='"', escape='"'
            )
        else:
            frame = reader.parquet(source)
    except SudareError:
        raise
    except Exception as error:
        kind = type(error).__name__
        raise DataError(
            f"{name}: Spark cannot read it ({kind}); check the path, on the workers too"
        ) from None
    return open_spark_frame(frame, name)


def _csv_schema(source: str, text: Sequence[str]) -> Any:
    """The types that the columns have on DuckDB: what is a number does not depend on the engine."""
    from pyspark.sql.pandas.types import from_arrow_schema

    from sudare.data.csv_reader import open_csv

    paths = [Path(path) for path in sorted(glob.glob(source))]
    if not paths:
        raise DataError(f"{source}: no such file; check the path")
    view = open_csv(paths, text=text)
    return from_arrow_schema(connect().sql(f"SELECT * FROM {quote(view)} LIMIT 0").to_arrow_table().schema)


def _postgres(parts: Any) -> Any:
    try:
        import psycopg

        backend = _postgres_backend()
    except ImportError:
        raise MissingPart.extra("a table in Postgres", "postgres") from None
    try:
        port = parts.port or 5432
    except ValueError:
        raise UsageError(
            "the port in the database URL is not a number; write postgres://host:5432/name"
        ) from None
    try:
        return backend().connect(
            host=parts.hostname,
            port=port,
            user=unquote(parts.username) if parts.username else None,
            password=unquote(parts.password) if parts.password else None,
            database=unquote(parts.path.lstrip("/")) or None,
        )
    except psycopg.Error:
        where = f"{parts.hostname}:{port}"
        raise DataError(f"the database at {where} cannot be reached; check host, name and password") from None


@cache
def _postgres_backend() -> Any:
    """The ibis backend of Postgres with an error that says what happened when the database goes away."""
    import psycopg
    from ibis.backends.postgres import Backend

    class Postgres(Backend):  # type: ignore[misc]
        def to_pyarrow(self, expr: Any, /, **options: Any) -> Any:
            with _readable():
                return super().to_pyarrow(expr, **options)

        def to_pyarrow_batches(self, expr: Any, /, **options: Any) -> Any:
            with _readable():
                return super().to_pyarrow_batches(expr, **options)

    @contextmanager
    def _readable() -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            kind = type(error).__name__
            raise DataError(
                f"the database did not answer ({kind}); check that it runs, then try again"
            ) from None

    return Postgres


def _open_duckdb(path: str, table: str) -> Dataset:
    """A table of a DuckDB file, which is attached for reading: it is a view like that of any other file."""
    import duckdb

    if not Path(path).is_file():
        raise DataError(f"{path}: no such database file; check the path")
    database = fresh_name("database")
    try:
        connect().execute(f"ATTACH {literal(path)} AS {database} (READ_ONLY)")
    except duckdb.Error:
        raise DataError(
            f"{path}: not a DuckDB database, or one that another process writes; check it"
        ) from None
    query = (
        f"SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = '{database}'"
    )
    tables = {
        name if schema == "main" else f"{schema}.{name}": (schema, name)
        for schema, name in connect().sql(query).fetchall()
    }
    if table not in tables:
        raise UsageError(f"no table '{table}' in the database; {nearest(table, tables)}")
    where = ".".join(quote(part) for part in (database, *tables[table]))
    return Dataset(roles=Roles(), name=table, view=create_view(where))
