"""Where a release is written: files of this process, or folders that the workers of Spark write."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sudare.data.digest import ContentDigest
from sudare.data.files.outputs import PathLike, card_path, check_apart, check_output
from sudare.data.files.unit import PRIVATE, Unit, writing
from sudare.data.files.writers import kind_of, put_json, put_tables
from sudare.data.truth import ROW, TRUTH_COLUMN, put_truth
from sudare.errors import UsageError

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset

Card = Callable[
    [str | None, int], dict[str, Any]
]  # from the digest of the release and the number of escaped cells


class Target(Protocol):
    """One release on its way to disk; `linked` has the published columns and the original rows."""

    def check(
        self, path: PathLike, truth: PathLike | None, *, inputs: tuple[str, ...], escape_formulas: bool
    ) -> None:
        """Refuse, before anything is written, what cannot be."""

    def write(
        self,
        linked: Dataset,
        columns: Sequence[str],
        card: Card,
        path: PathLike,
        truth: PathLike | None,
        *,
        escape_formulas: bool,
    ) -> int:
        """The published table, its card and, for its owner only, the truth; returns how many cells were escaped."""


def target_of(linked: Dataset) -> Target:
    """The target that fits where the rows are."""
    return Files() if linked.view is not None else SparkFolders()


def unit_paths(path: PathLike, truth: PathLike | None) -> tuple[PathLike, ...]:
    """The files of a release that this process sees: the published table, the card beside it, the truth."""
    named = (path, card_path(path), *(() if truth is None else (truth,)))
    return tuple(target for target in named if _is_local(target))


class Files:
    """Files of this process, in the format of their ending, a batch of rows at a time."""

    def check(
        self, path: PathLike, truth: PathLike | None, *, inputs: tuple[str, ...], escape_formulas: bool
    ) -> None:
        kind_of(path)
        for target in unit_paths(path, truth):
            check_output(target, inputs)
        check_apart(*unit_paths(path, truth))

    def write(
        self,
        linked: Dataset,
        columns: Sequence[str],
        card: Card,
        path: PathLike,
        truth: PathLike | None,
        *,
        escape_formulas: bool,
    ) -> int:
        digest = ContentDigest(columns)
        with writing(*unit_paths(path, truth)) as unit:
            with unit.file(path) as file:
                tables = digest.over(linked.tables(columns))
                escaped = put_tables(tables, file, kind_of(path), escape_formulas=escape_formulas)
            release = digest.hexdigest()
            with unit.file(card_path(path)) as file:
                put_json(card(release, escaped), file)
            if truth is not None:
                rows = (np.asarray(table[ROW]) for table in linked.tables([ROW]))
                with unit.file(truth, mode=PRIVATE) as file:
                    put_truth(rows, file, release, as_text=os.fspath(truth).endswith(".csv"))
        return escaped


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
        for target in unit_paths(path, truth):
            if os.path.lexists(target):
                raise UsageError(f"{target}: exists already; remove it or choose another name")
            check_output(target, inputs)
        check_apart(*unit_paths(path, truth))
        if truth is not None and os.fspath(truth) == os.fspath(path):
            raise UsageError("release and truth need different folders")

    def write(
        self,
        linked: Dataset,
        columns: Sequence[str],
        card: Card,
        path: PathLike,
        truth: PathLike | None,
        *,
        escape_formulas: bool,
    ) -> int:
        from pyspark.sql import functions as f

        from sudare.data.readers.spark import column

        with writing(*unit_paths(path, truth)) as unit:
            _write_frame(linked.keep_alive.select(*map(column, columns)), unit, path, 0o755)
            if _is_local(path):
                with unit.file(card_path(path)) as file:
                    put_json(card(None, 0), file)
            if truth is not None:
                row = f.when(column(ROW) >= 0, column(ROW)).alias(TRUTH_COLUMN)
                _write_frame(linked.keep_alive.select(row), unit, truth, 0o700)
        return 0


def _write_frame(frame: Any, unit: Unit, path: PathLike, mode: int) -> None:
    """As a part of the unit where this process sees the folder; elsewhere Spark's own committer has to do."""
    if not _is_local(path):
        frame.write.mode("errorifexists").parquet(os.fspath(path))
        return
    part = unit.part(path)
    part.mkdir(mode=0o700)  # while Spark writes into it, nobody else can look
    frame.write.parquet(f"file://{part}/rows")
    for file in (part / "rows").iterdir():
        file.rename(part / file.name)
    (part / "rows").rmdir()
    os.chmod(part, mode)


def _is_local(path: PathLike) -> bool:
    return "://" not in os.fspath(path)
