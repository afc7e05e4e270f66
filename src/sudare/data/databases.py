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


def open_spark_frame(frame: Any) -> Dataset:
    """A dataset over a Spark DataFrame, which stays on its cluster."""
    import ibis

    from sudare.data.connection import fresh_name

    backend = ibis.pyspark.connect(frame.sparkSession)
    view = fresh_name()
    frame.createOrReplaceTempView(view)
    return Dataset(roles=Roles(), name="Spark table", expression=backend.table(view), keep_alive=frame)


def open_on_spark(source: str, engine: str) -> Dataset:
    """A file opened by a Spark cluster: `engine` is its master, e.g. local[*] or spark://host:7077."""
    if not (engine.startswith("spark://") or engine.startswith("local")):
        raise UsageError(f"unknown engine '{engine}'; give duckdb, local[*] or spark://host:7077")
    session = _spark_session(engine)
    suffix = Path(source.rstrip("*/")).suffix
    if suffix in (".csv", ".tsv"):
        frame = session.read.csv(source, header=True, sep="\t" if suffix == ".tsv" else ",")
    else:
        frame = session.read.parquet(source)
    opened = open_spark_frame(frame)
    return Dataset(roles=Roles(), name=Path(source).name, expression=opened.expression, keep_alive=frame)


def _spark_session(master: str) -> Any:
    import os
    import sys

    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingPart.extra("a table on Spark", "spark") from None
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName("sudare")
    return builder.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR").getOrCreate()


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
