"""A release whose rows stay on Spark: the workers write it, and the truth apart from it."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.databases import open_spark_frame
from sudare.data.dataset import Dataset
from sudare.data.keys import Key
from sudare.data.opening import SIDECAR
from sudare.data.spark import ROW, column, numbered
from sudare.data.writers import write_json
from sudare.errors import DataError, UsageError
from sudare.methods.release import TRUTH_COLUMN, Release, read_truth

if TYPE_CHECKING:
    from sudare.methods.recipe import Recipe

PLACE = "sudare place"


class SparkRelease(Release):
    """Like Release. `frame` is the shuffled table with the original row beside every published one; the truth comes
    to this process only when somebody asks for it.
    """

    frame: Any

    def __init__(
        self,
        frame: Any,
        data: Dataset,
        recipe: Recipe,
        steps: tuple[dict[str, Any], ...],
        key: Key,
        dummies: int = 0,
    ) -> None:
        fields = {
            "frame": frame,
            "data": data,
            "recipe": recipe,
            "steps": steps,
            "key": key,
            "dummies": dummies,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The original row of every published one, -1 for a dummy; it comes to this process."""
        return original_rows(self.frame)

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        truth: str | os.PathLike[str] | None = None,
        escape_formulas: bool = False,
    ) -> None:
        """The workers write a folder of Parquet files, the truth to another folder in the same order of rows.

        Paths are those of the workers: a shared file system, or this machine's own with workers on it.
        """
        if escape_formulas:
            raise UsageError(
                "formulas are escaped in CSV and xlsx files; a release on Spark is written as Parquet"
            )
        if Path(path).suffix not in ("", ".parquet"):
            raise UsageError(f"{path}: a release on Spark is a folder of Parquet files; name it *.parquet")
        for target in (path, *([] if truth is None else [truth])):
            if _is_local(target) and os.path.lexists(target):
                raise UsageError(f"{target}: exists already; remove it or choose another name")
        self._check_roles()
        if truth is not None and os.fspath(truth) == os.fspath(path):
            raise UsageError("release and truth need different places")
        if _is_local(path):
            self._check_secrets(Path(path), None)
        _write(self.frame.select(*map(column, self.data.columns)), os.fspath(path), 0o755)
        if _is_local(path):
            write_json(self.card, f"{os.fspath(path)}{SIDECAR}")
        if truth is not None:
            kept = self.frame.select(column(ROW).alias(TRUTH_COLUMN))
            from pyspark.sql import functions as f

            missing = f.when(f.col(TRUTH_COLUMN) >= 0, f.col(TRUTH_COLUMN)).alias(TRUTH_COLUMN)
            _write(kept.select(missing), os.fspath(truth), 0o700)

    def __repr__(self) -> str:
        extra = f", {self.dummies:,} of them dummies" if self.dummies else ""  # type: ignore[attr-defined]
        steps = " > ".join(step["method"] for step in self.steps)
        return f"Release({self.data.rows:,} records on Spark{extra}; {steps}; key {self.key.fingerprint})"


@dataclass(frozen=True, eq=False)
class SavedRelease:
    """A release that was saved with its truth, on Spark again: `frame` is its table with the original rows beside."""

    data: Dataset
    frame: Any

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The original row of every published one, -1 for a dummy, in the order of the saved rows."""
        return original_rows(self.frame.orderBy(column(PLACE)))


def reopen(published: Dataset, truth: str | os.PathLike[str]) -> SavedRelease:
    """A release from its folder or file, opened on Spark, and the truth that was saved with it."""
    from pyspark.sql import functions as f

    spark = published.keep_alive.sparkSession
    if os.fspath(truth).endswith(".csv"):
        known = spark.createDataFrame([(row,) for row in read_truth(truth)], f"{TRUTH_COLUMN} long")
    else:
        known = spark.read.parquet(os.fspath(truth))
    if known.columns != [TRUTH_COLUMN]:
        raise DataError(f"{truth}: not a truth file; it is written by `sudare anonymize --truth`")
    beside = numbered(open_spark_frame(known)).select(
        column(ROW).alias(PLACE), f.coalesce(column(TRUTH_COLUMN), f.lit(-1)).alias(TRUTH_COLUMN)
    )
    rows, entries = published.rows, beside.count()
    if rows != entries:
        raise UsageError(f"truth has {entries:,} entries, the release {rows:,} rows; give one entry per row")
    placed = numbered(published).withColumnRenamed(ROW, PLACE).join(beside, PLACE)
    return SavedRelease(published, placed.withColumnRenamed(TRUTH_COLUMN, ROW).persist())


def original_rows(frame: Any) -> NDArray[np.int64]:
    """The truth of a frame, here."""
    return np.asarray(frame.select(column(ROW)).toArrow().column(0).to_numpy(), np.int64)


def _write(frame: Any, path: str, mode: int) -> None:
    """Written beside and renamed where this process can; elsewhere Spark's own committer has to do."""
    if not _is_local(path):
        frame.write.mode("errorifexists").parquet(path)
        return
    target = Path(path).absolute()
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    part.mkdir(mode=0o700)
    try:
        frame.write.mode("overwrite").parquet(f"file://{part}/rows")
        os.chmod(part / "rows", mode)
        os.rename(part / "rows", target)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _is_local(path: str | os.PathLike[str]) -> bool:
    return "://" not in os.fspath(path)
