"""A release whose rows stay on Spark: the workers write it, and the truth apart from it."""

from __future__ import annotations

import os
import shutil
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.dataset import Dataset
from sudare.data.keys import Key
from sudare.data.opening import SIDECAR
from sudare.data.writers import write_json
from sudare.engine.spark_rows import ROW, column
from sudare.errors import UsageError
from sudare.methods.release import TRUTH_COLUMN, Release

if TYPE_CHECKING:
    from sudare.methods.recipe import Recipe


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
        return np.asarray(self.frame.select(column(ROW)).toArrow().column(0).to_numpy(), np.int64)

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
