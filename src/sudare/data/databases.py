"""Tables that stay where they are: databases, Spark, ibis expressions."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.errors import DataError, MissingPart, UsageError, nearest


def open_ibis(table: Any) -> Dataset:
    """A dataset over an ibis table expression, on whatever backend it has."""
    try:
        backend = table.get_backend()
    except Exception:
        raise UsageError("this ibis expression has no backend; build it from a connected table") from None
    return Dataset(roles=Roles(), name=f"{backend.name} table", expression=table)


def open_url(url: str, table: str | None) -> Dataset:
    """A table of a database by URL; the password comes from the environment or .pgpass, never from a message."""
    parts = urlsplit(url)
    scheme = {"postgresql": "postgres"}.get(parts.scheme, parts.scheme)
    if scheme not in ("postgres", "duckdb"):
        raise UsageError(f"unknown kind of database '{scheme}'; sudare opens postgres:// and duckdb://")
    if not table:
        raise UsageError("name the table in the database: --table NAME (table= in Python)")
    backend = _postgres(url, parts) if scheme == "postgres" else _duckdb_file(parts)
    if table not in (tables := backend.list_tables()):
        raise UsageError(f"no table '{table}' in the database; {nearest(table, tables)}")
    return Dataset(roles=Roles(), name=table, expression=backend.table(table))


def open_spark_frame(frame: Any, name: str = "Spark table") -> Dataset:
    """A dataset over a Spark DataFrame, which stays on its cluster."""
    from sudare.data import spark
    from sudare.data.connection import fresh_name

    backend = spark.connect(frame.sparkSession)
    view = fresh_name()
    frame.createOrReplaceTempView(view)
    return Dataset(roles=Roles(), name=name, expression=backend.table(view), keep_alive=frame)


def open_on_spark(source: str, engine: str) -> Dataset:
    """A file opened by a Spark cluster: `engine` is its master, e.g. local[*] or spark://host:7077."""
    if not (engine.startswith("spark://") or engine.startswith("local")):
        raise UsageError(f"unknown engine '{engine}'; give duckdb, local[*] or spark://host:7077")
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
            frame = reader.csv(
                source, header=True, sep="\t" if kind == ".tsv" else ",", quote='"', escape='"'
            )
        else:
            frame = reader.parquet(source)
    except Exception as error:
        raise DataError(
            f"{name}: Spark cannot read it ({type(error).__name__}); check the path, on the workers too"
        ) from None
    return open_spark_frame(frame, name)


def _postgres(url: str, parts: Any) -> Any:
    try:
        import ibis
        import psycopg
    except ImportError:
        raise MissingPart.extra("a table in Postgres", "postgres") from None
    try:
        return ibis.postgres.connect(
            host=parts.hostname,
            port=parts.port or 5432,
            user=parts.username,
            password=parts.password or _pg_password(parts),
            database=parts.path.lstrip("/") or None,
        )
    except psycopg.Error:
        where = f"{parts.hostname}:{parts.port or 5432}"
        raise DataError(f"the database at {where} cannot be reached; check host, name and password") from None


def _pg_password(parts: Any) -> str | None:
    import os

    return os.environ.get("PGPASSWORD")


def _duckdb_file(parts: Any) -> Any:
    import ibis

    path = (parts.netloc + parts.path) if parts.netloc else parts.path
    if not Path(path).is_file():
        raise DataError(f"{path}: no such database file; check the path")
    return ibis.duckdb.connect(path, read_only=True)
