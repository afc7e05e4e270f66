"""Where a release is written: files of this process, or folders that the workers of Spark write."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sudare.data.files import SIDECAR
from sudare.data.files.writers import check_output, write_json, write_tables
from sudare.data.truth import ROW, TRUTH_COLUMN, write_truth
from sudare.errors import UsageError

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset

PathLike = str | os.PathLike[str]


class Target(Protocol):
    """One release on its way to disk; `linked` has the published columns and the original rows."""

    def check(
        self, path: PathLike, truth: PathLike | None, *, inputs: tuple[str, ...], escape_formulas: bool
    ) -> None:
        """Refuse, before anything is written, what cannot be."""

    def write(self, linked: Dataset, columns: Sequence[str], path: PathLike, *, escape_formulas: bool) -> int:
        """The published table; returns how many cells were escaped."""

    def write_card(self, card: dict[str, Any], path: PathLike) -> None:
        """The file beside the published table."""

    def write_truth(self, linked: Dataset, path: PathLike) -> None:
        """The truth, readable by its owner only: one row number per published row, empty for a dummy."""


def target_of(linked: Dataset) -> Target:
    """The target that fits where the rows are."""
    return Files() if linked.view is not None else SparkFolders()


class Files:
    """Files of this process, in the format of their ending, a batch of rows at a time."""

    def check(
        self, path: PathLike, truth: PathLike | None, *, inputs: tuple[str, ...], escape_formulas: bool
    ) -> None:
        path = check_output(path, inputs)
        if truth is not None and check_output(truth, inputs) == path:
            raise UsageError("release and truth need different files")

    def write(self, linked: Dataset, columns: Sequence[str], path: PathLike, *, escape_formulas: bool) -> int:
        tables = linked.tables(columns)
        return write_tables(tables, path, escape_formulas=escape_formulas)

    def write_card(self, card: dict[str, Any], path: PathLike) -> None:
        write_json(card, f"{os.fspath(path)}{SIDECAR}")

    def write_truth(self, linked: Dataset, path: PathLike) -> None:
        write_truth((np.asarray(table[ROW]) for table in linked.tables([ROW])), path)


class SparkFolders:
    """Folders of Parquet files that the workers write; where this process sees them, they appear whole."""

    def check(
        self, path: PathLike, truth: PathLike | None, *, inputs: tuple[str, ...], escape_formulas: bool
    ) -> None:
        if escape_formulas:
            raise UsageError(
                "formulas are escaped in CSV and xlsx files; a release on Spark is written as Parquet"
            )
        if Path(path).suffix not in ("", ".parquet"):
            raise UsageError(f"{path}: a release on Spark is a folder of Parquet files; name it *.parquet")
        for target in (path, *([] if truth is None else [truth])):
            if _is_local(target) and os.path.lexists(target):
                raise UsageError(f"{target}: exists already; remove it or choose another name")
        if truth is not None and os.fspath(truth) == os.fspath(path):
            raise UsageError("release and truth need different places")

    def write(self, linked: Dataset, columns: Sequence[str], path: PathLike, *, escape_formulas: bool) -> int:
        from sudare.data.readers.spark import column

        _write_frame(linked.keep_alive.select(*map(column, columns)), os.fspath(path), 0o755)
        return 0

    def write_card(self, card: dict[str, Any], path: PathLike) -> None:
        if _is_local(path):
            write_json(card, f"{os.fspath(path)}{SIDECAR}")

    def write_truth(self, linked: Dataset, path: PathLike) -> None:
        from pyspark.sql import functions as f

        from sudare.data.readers.spark import column

        row = f.when(column(ROW) >= 0, column(ROW)).alias(TRUTH_COLUMN)
        _write_frame(linked.keep_alive.select(row), os.fspath(path), 0o700)


def _write_frame(frame: Any, path: str, mode: int) -> None:
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


def _is_local(path: PathLike) -> bool:
    return "://" not in os.fspath(path)
