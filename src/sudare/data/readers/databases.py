"""Tables that stay where they are: databases, Spark, ibis expressions."""

from __future__ import annotations

import functools
import glob
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, unquote, urlsplit

from sudare.data.connection import connect, create_view, fresh_name, literal, quote, scalar
from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.errors import DataError, MissingPart, SudareError, UsageError, nearest

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.data.readers.expected import Expected


def open_ibis(table: Any) -> Dataset:
    """A dataset over an ibis table expression, on whatever backend it has."""
    try:
        backend = table.get_backend()
    except Exception:
        raise UsageError("this ibis expression has no backend; build it from a connected table") from None
    return Dataset(roles=Roles(), name=f"{backend.name} table", expression=table)


def open_url(url: str, table: str | None) -> Dataset:
    """A table of a database by URL; the password comes from PGPASSWORD or .pgpass and is in no message."""
    parts = _parts(url)
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
        return Dataset(roles=Roles(), name=table, expression=_readable_types(backend.table(table)))
    if dot and name in backend.list_tables(database=schema):
        found = backend.table(name, database=schema)
        return Dataset(roles=Roles(), name=table, expression=_readable_types(found))
    raise UsageError(f"no table '{table}' in the database; {nearest(table, tables)}")


def _readable_types(table: Any) -> Any:
    """The table with types that only a database has, and some that it cannot compare, as text."""
    texts = [
        name
        for name, kind in table.schema().items()
        if kind.is_uuid() or kind.is_inet() or kind.is_macaddr() or kind.is_json()
    ]
    return table.mutate(**{name: table[name].cast("string") for name in texts}) if texts else table


def open_spark_frame(frame: Any, name: str = "Spark table") -> Dataset:
    """A dataset over a Spark DataFrame, which stays on its cluster."""
    from sudare.data.readers import spark

    backend = spark.connect(frame.sparkSession)
    view = fresh_name()
    frame.createOrReplaceTempView(view)
    return Dataset(roles=Roles(), name=name, expression=backend.table(view), keep_alive=frame)


def is_file_system(url: str) -> bool:
    """Whether a URL names files, such as s3a://bucket/visits, and not a database."""
    return _parts(url).scheme not in ("postgres", "postgresql", "duckdb")


def _parts(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        raise UsageError(
            "the URL cannot be read; write postgres://host:5432/name or duckdb:///folder/file.duckdb"
        ) from None


def check_engine(engine: str) -> None:
    """Refuse the name of an engine before anything is started."""
    if not engine.startswith(("spark://", "local", "yarn", "k8s://")):
        raise UsageError(f"unknown engine '{engine}'; give duckdb, local[*] or spark://host:7077")


def send_to_spark(table: pa.Table, engine: str, name: str) -> Dataset:
    """A small table of this process, sent to a Spark cluster."""
    from sudare.data.readers import spark

    return open_spark_frame(spark.session(engine).createDataFrame(table), name)


def open_on_spark(source: str, engine: str, expected: Expected) -> Dataset:
    """A file opened by a Spark cluster: `engine` is its master, e.g. local[*] or spark://host:7077."""
    from sudare.data.readers import spark

    name = Path(source).name
    kind = Path(source.rstrip("*/")).suffix.lower()
    if kind not in ("", ".csv", ".tsv", ".parquet", ".pq"):
        raise UsageError(
            f"{name}: Spark reads .parquet, .csv and .tsv here; open a {kind} file with --engine duckdb"
        )
    is_csv = kind in (".csv", ".tsv")
    files = _local_files(source, must_be_here=is_csv or engine.startswith("local"))
    csv = _as_on_duckdb(files, expected) if is_csv else None
    session = spark.session(engine)
    try:
        frame = (
            _read_parquet(session, source, expected.partitions)
            if csv is None
            else _read_csv(session, files, expected.missing, *csv)
        )
    except SudareError:
        raise
    except Exception as error:
        kind = type(error).__name__
        raise DataError(
            f"{name}: Spark cannot read it ({kind}); check the path, on the workers too, and "
            "whether Spark knows the types of all columns"
        ) from None
    return open_spark_frame(frame, name)


def _local_files(source: str, *, must_be_here: bool) -> list[Path]:
    """The files of a path or glob by name; a URL and a path of the workers have none here."""
    if "://" in source:
        return []
    found = [Path(path) for path in sorted(glob.glob(source))]
    if must_be_here and not found:
        raise DataError(f"{source}: no such file; check the path")
    return found


def _read_parquet(session: Any, source: str, partitions: bool) -> Any:
    """Parquet files as they are; folders such as `zip=10115` are columns, as text, if that is asked for."""
    from sudare.data.readers.parquet import check_folders

    session.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    reader = session.read if partitions else session.read.option("recursiveFileLookup", "true")
    frame = reader.parquet(source)
    if not partitions:
        check_folders([Path(file) for file in frame.inputFiles()], frame.columns, partitions)
    return frame


def _read_csv(
    session: Any, files: Sequence[Path], codes: Sequence[str], schema: pa.Schema, options: dict[str, Any]
) -> Any:
    """The files one after another by name: Spark itself would deal them out by size."""
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StringType, StructField, StructType

    from sudare.data.readers.missing import spark_cells

    kinds = from_arrow_schema(schema)
    texts = StructType([StructField(field.name, StringType()) for field in kinds])
    # an empty cell is missing, a quoted empty one is an empty text: Spark tells them apart if null is written otherwise
    fixed = {"mode": "FAILFAST", "quote": '"', "escape": '"', "nullValue": "\0"}
    reader = session.read.schema(texts if codes else kinds).options(**fixed, **options)
    frames = [reader.csv(str(path)) for path in files]
    frame = functools.reduce(lambda first, second: first.union(second), frames)
    return frame.selectExpr(*spark_cells(kinds, codes)) if codes else frame


def _as_on_duckdb(files: Sequence[Path], expected: Expected) -> tuple[pa.Schema, dict[str, Any]]:
    """The columns as DuckDB reads them, and how: what is a number does not depend on the engine."""
    if not files:
        raise UsageError("sudare looks into CSV files itself; name a path it can read, or use Parquet")
    from sudare.data.readers.csv import dialect_of, open_csv

    dialect, *_ = (dialect_of(path, expected.names) for path in files)
    view = open_csv(files, expected)
    schema = connect().sql(f"SELECT * FROM {quote(view)} LIMIT 0").to_arrow_table().schema
    rows = scalar(f"SELECT count(*) FROM {quote(view)}") + len(files) * dialect.header
    several = sum(map(_lines, files)) > rows  # a row may go over several lines: such files cannot be split
    options = {"sep": dialect.delimiter, "header": dialect.header, "multiLine": several}
    return schema, options


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(part.count(b"\n") for part in iter(lambda: file.read(1 << 20), b""))


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
            "the port in the database URL is no number below 65536; write postgres://host:5432/name"
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
        where = f"{parts.hostname or 'this machine'}:{port}"
        raise DataError(f"the database at {where} cannot be reached; check host, name and password") from None


@functools.cache
def _postgres_backend() -> Any:
    """The ibis backend of Postgres with an error that says what happened when the database goes away."""
    import psycopg
    import pyarrow as pa
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
        except pa.ArrowException:
            raise DataError(
                "a column has a type whose values cannot be brought here exactly; make a view that casts it, e.g. "
                "to numeric(18, 6) or text"
            ) from None

    return Postgres


def _open_duckdb(path: str, table: str) -> Dataset:
    """A table of a DuckDB file, which is attached for reading: it is a view like that of any other file."""
    import duckdb

    if not Path(path).is_file():
        raise DataError(f"{path or 'duckdb://'}: no such database file; check the path")
    database = fresh_name("database")
    try:
        connect().execute(f"ATTACH {literal(path)} AS {database} (READ_ONLY, TYPE duckdb)")
    except duckdb.Error:
        raise DataError(
            f"{path}: not a DuckDB database, or one that another process writes; check it"
        ) from None
    tables = _stored(database, "tables", "table")
    if table not in tables:
        if table in _stored(database, "views", "view"):
            raise DataError(
                f"'{table}' is a view, which may read other files; sudare opens tables only: make a table of it"
            )
        raise UsageError(f"no table '{table}' in the database; {nearest(table, tables)}")
    where = ".".join(quote(part) for part in (database, *tables[table]))
    try:
        return Dataset(roles=Roles(), name=table, view=create_view(where))
    except duckdb.Error:
        raise DataError(f"{path}: the table '{table}' cannot be read; export it as Parquet") from None


def _stored(database: str, function: str, kind: str) -> dict[str, tuple[str, str]]:
    """What an attached database holds by name, from its catalogue: no view is looked into."""
    where = f"WHERE database_name = '{database}' AND NOT internal"
    found = connect().sql(f"SELECT schema_name, {kind}_name FROM duckdb_{function}() {where}").fetchall()
    return {name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in found}
