"""Spark: sessions, and tables that come back from it as exactly as they are there."""

from __future__ import annotations

import os
import sys
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

from sudare.errors import DataError, MissingPart

if TYPE_CHECKING:
    import pyarrow as pa

QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


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
    builder = from_pyspark.SparkSession.builder.master(master).appName("sudare")
    for name, value in (chosen | settings).items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except Exception as error:
        raise DataError(
            f"Spark at {master} cannot be reached ({type(error).__name__}); check its address"
        ) from None


def frame_of(expression: Any) -> Any:
    """The Spark DataFrame of an ibis expression on Spark."""
    backend = expression.get_backend()
    return backend._session.sql(backend.compile(expression.as_table()))


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
    except ImportError:
        raise MissingPart.extra("a table on Spark", "spark") from None
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
