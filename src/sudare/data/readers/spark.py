"""Spark: sessions, and tables that come back from it as exactly as they are there."""

from __future__ import annotations

import itertools
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.data.files.private import private_folder, temporaries_inside
from sudare.data.truth import ROW, TRUTH_COLUMN, read_truth
from sudare.errors import DataError, MissingPart, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.data.dataset import Dataset

QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
PLACE = "sudare place"
SMALL_PART = 50_000
FILE, START = "sudare file", "sudare start"
LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}

Batches = Iterator["pa.RecordBatch"]
_TRIP = "_sudare_trip"


def session(master: str, **settings: Any) -> Any:
    """The Spark session of this process on a master: `local[*]` or `spark://host:7077`.

    The workers run the same interpreter as this process; a local master talks on loopback only.
    """
    from_pyspark = _pyspark()
    _java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    chosen = dict(QUIET)
    if master.startswith("local") or "127.0.0.1" in master:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        chosen |= LOOPBACK
    if master.startswith("local"):  # Spark's own 200 parts are made for a cluster
        chosen["spark.sql.shuffle.partitions"] = str(2 * (os.cpu_count() or 1))
        chosen |= _inside(private_folder() / "spark")
    builder = from_pyspark.SparkSession.builder.master(master).appName("sudare")
    for name, value in (chosen | settings).items():
        builder = builder.config(name, value)
    try:
        with temporaries_inside():  # the file by which the process and its Java find each other
            return builder.getOrCreate()
    except Exception as error:
        raise DataError(
            f"Spark at {master} cannot be reached ({type(error).__name__}); check its address"
        ) from None


def _inside(folder: Path) -> dict[str, str]:
    """Everything that Spark and its Java keep on disk goes to a private folder."""
    folder.mkdir(mode=0o700, exist_ok=True)
    option = f"-Djava.io.tmpdir={folder}".replace("\\", "\\\\").replace('"', '\\"')
    return {
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": (folder / "warehouse").as_uri(),
        "spark.driver.extraJavaOptions": f'"{option}"',
    }


def frame_of(expression: Any) -> Any:
    """The Spark DataFrame of an ibis expression on Spark."""
    backend = expression.get_backend()
    return backend._session.sql(backend.compile(expression.as_table()))


def column(name: str) -> Any:
    """A column by its name, whatever signs the name has."""
    from pyspark.sql import functions as f

    return f.col("`" + name.replace("`", "``") + "`")


def in_batches(frame: Any, work: Callable[[Batches], Batches], schema: Any) -> Any:
    """The frame after a function of Arrow batches.

    One such function after another is one trip of the rows to Python: the frame that comes out knows where it comes
    from. Spark itself looks columns up by name here, and reads dots and backticks of a name as its own: it gets plain
    names, the functions the real ones.
    """
    source, works = getattr(frame, _TRIP, (frame, ()))
    names, works = source.columns, (*works, work)

    def every(batches: Batches) -> Batches:
        found: Batches = (batch.rename_columns(names) for batch in batches)
        for one in works:
            found = one(found)
        return found

    done = source.toDF(*(f"c{place}" for place in range(len(names)))).mapInArrow(every, schema)
    setattr(done, _TRIP, (source, works))
    return done


def parts_for(frame: Any, rows: int, *, most: int = 1_000_000) -> int:
    """Into how many parts so many rows are dealt: work for every core, no part above `most` rows, none tiny."""
    cores = int(frame.sparkSession.sparkContext.defaultParallelism)
    return max(1, -(-rows // most), min(cores, rows // SMALL_PART))


def numbered(ds: Dataset) -> Any:
    """The table's frame with the number of every row, from 0.

    Rows of Parquet files are counted in the order of the files' names, as everywhere else: Spark deals files out by
    size and by the number of cores, so that its own order is another one on another day. Any other frame is counted in
    its own order.
    """
    found = _numbered_files(ds.keep_alive) if _as_opened(ds) else None
    return _numbered_parts(frame_of(ds.table)) if found is None else found


def _numbered_files(frame: Any) -> Any | None:
    """Row numbers by file and place in it; None if this is not every row of Parquet files once."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as f

    path, place = f.col("_metadata.file_path"), f.col("_metadata.row_index")
    try:
        placed = frame.select(path.alias("path"), place.alias("place"))
    except AnalysisException:
        return None
    files = sorted(placed.groupBy("path").agg(f.count("*"), f.max("place"), f.sum("place")).collect())
    if not files or any(last + 1 != rows or 2 * total != rows * last for _, rows, last, total in files):
        return None
    before = itertools.accumulate((rows for _, rows, _, _ in files), initial=0)
    starts = [(path, start) for (path, *_), start in zip(files, before)]
    known = frame.sparkSession.createDataFrame(starts, f"`{FILE}` string, `{START}` long")
    joined = frame.withColumn(FILE, path).withColumn(ROW, place).join(f.broadcast(known), FILE)
    return joined.select(*map(column, frame.columns), (column(ROW) + column(START)).alias(ROW))


def _numbered_parts(frame: Any) -> Any:
    from pyspark.sql import functions as f

    counts = dict(frame.groupBy(f.spark_partition_id().alias("part")).count().collect())
    parts = range(max(counts, default=0) + 1)
    before = itertools.accumulate((counts.get(part, 0) for part in parts), initial=0)
    offsets = f.array(*map(f.lit, before))
    place = f.monotonically_increasing_id()
    part = f.shiftright(place, 33).cast("int")
    row = f.element_at(offsets, part + 1).cast("long") + place.bitwiseAND(f.lit((1 << 33) - 1))
    return frame.withColumn(ROW, row)


def in_order(ds: Dataset, columns: Sequence[str]) -> pa.Table:
    """Columns of the table here, its rows in the order in which they are numbered."""
    frame = _numbered_files(ds.keep_alive) if _as_opened(ds) else None
    if frame is None:
        found: pa.Table = ds.table.select(*columns).to_pyarrow()
        return found
    fetched = frame.select(*map(column, (*columns, ROW))).toArrow()
    return fetched.sort_by(ROW).select(list(columns))


def linked(published: Dataset, truth: str | os.PathLike[str] | Sequence[int | None]) -> Any:
    """The frame of a published table with the original row beside every row, in the order of the rows."""
    from pyspark.sql import functions as f

    from sudare.data.readers.databases import open_spark_frame

    spark = published.keep_alive.sparkSession
    if isinstance(truth, (str, os.PathLike)) and not os.fspath(truth).endswith(".csv"):
        known = spark.read.parquet(os.fspath(truth))
    else:
        rows = read_truth(truth) if isinstance(truth, (str, os.PathLike)) else truth
        known = spark.createDataFrame([(row,) for row in rows], f"{TRUTH_COLUMN} long")
    if known.columns != [TRUTH_COLUMN]:
        raise DataError(f"{truth}: not a truth file; it is written by `sudare anonymize --truth`")
    beside = numbered(open_spark_frame(known)).select(
        column(ROW).alias(PLACE), f.coalesce(column(TRUTH_COLUMN), f.lit(-1)).alias(TRUTH_COLUMN)
    )
    if (entries := beside.count()) != published.rows:
        raise UsageError(
            f"truth has {entries:,} entries, the release {published.rows:,} rows; give one entry per row"
        )
    placed = numbered(published).withColumnRenamed(ROW, PLACE).join(beside, PLACE)
    ordered = placed.withColumnRenamed(TRUTH_COLUMN, ROW).orderBy(column(PLACE)).drop(PLACE)
    return ordered.persist()


def _as_opened(ds: Dataset) -> bool:
    return ds.keep_alive is not None and tuple(ds.keep_alive.columns) == ds.columns


@cache
def backend_class() -> Any:
    """The ibis backend of Spark, except that results come as Arrow from Spark itself.

    The stock one takes a detour over pandas, where a whole number beside a missing one becomes a float
    and ids above 2^53 change.
    """
    _pyspark()
    from ibis.backends.pyspark import Backend

    class Spark(Backend):  # type: ignore[misc]
        def to_pyarrow(self, expr: Any, /, *, params: Any = None, limit: Any = None, **options: Any) -> Any:
            from ibis.formats.pyarrow import PyArrowData

            wanted = expr.as_table()
            self._run_pre_execute_hooks(wanted)
            found = self._session.sql(self.compile(wanted, params=params, limit=limit, **options)).toArrow()
            return expr.__pyarrow_result__(PyArrowData.convert_table(found, wanted.schema()))

        def to_pyarrow_batches(
            self,
            expr: Any,
            /,
            *,
            params: Any = None,
            limit: Any = None,
            chunk_size: int = 1_000_000,
            **options: Any,
        ) -> pa.RecordBatchReader:
            import pyarrow as pa

            table = self.to_pyarrow(expr.as_table(), params=params, limit=limit, **options)
            return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=chunk_size))

    return Spark


def connect(spark: Any) -> Any:
    """The ibis backend over a session."""
    backend = backend_class()()
    backend.register_options()
    backend.do_connect(spark)
    return backend


def _pyspark() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            import pyspark.sql
            from pyspark.logger import PySparkLogger
    except ImportError:
        raise MissingPart.extra("a table on Spark", "spark") from None
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):  # they quote data on standard error
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL)
    warnings.filterwarnings(
        "ignore", message="PySpark does not yet fully support pandas", category=FutureWarning
    )
    return pyspark.sql


def _java() -> None:
    import shutil
    from pathlib import Path

    home = os.environ.get("JAVA_HOME")
    if not ((home and (Path(home) / "bin" / "java").exists()) or shutil.which("java")):
        raise MissingPart("Spark needs Java 17 or later; install it, or set JAVA_HOME")
