"""A pair on Spark: the workers add up; sums, the cells of cross-tabulations and drawn rows come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sudare.data.readers.spark import column, frame_of, numbered
from sudare.data.truth import ROW
from sudare.engine.answers import Change, Crossed, NeedsRows
from sudare.engine.pair import Drawn, Met, Pair, Visitor
from sudare.engine.side import Floats, Held, Ints, Side
from sudare.engine.spark.meeting import meeting, named_rows, plain_names
from sudare.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

RECORDS = "sudare records"


@dataclass(frozen=True, eq=False)
class SparkPair(Pair):
    """Both tables on one cluster. What needs their rows in this process reads them from `fetched()`."""

    here: ClassVar[bool] = False

    def fetched(self) -> Pair:
        return Pair(self.original, self.release, self.known)

    def check_truth(self) -> None:
        from pyspark.sql import functions as f

        low, high = self._linked.agg(f.min(column(ROW)), f.max(column(ROW))).collect()[0]
        if low is not None and (low < -1 or high >= self.originals):
            raise UsageError(
                f"truth names rows that the original does not have; it has {self.originals:,} (0 is the first)"
            )

    def means(self, columns: Sequence[str]) -> tuple[Floats, Floats]:
        from pyspark.sql import functions as f

        first, second = (_row(frame, map(f.avg, self._numbers(columns))) for frame in self._frames)
        return first, second

    def spreads(self, columns: Sequence[str]) -> Floats:
        from pyspark.sql import functions as f

        return _row(self._frames[0], map(f.stddev_pop, self._numbers(columns)))

    def correlations(self, columns: Sequence[str]) -> tuple[Floats, Floats]:
        middle = np.nan_to_num(self.means(columns)[0])
        first, second = (_correlations(frame, self._numbers(columns), middle) for frame in self._frames)
        return first, second

    def sizes(self, quasi: Sequence[str]) -> Ints:
        return np.asarray(_cells(self._frames[1], quasi, ())[RECORDS], np.int64)

    def crossed(self, quasi: Sequence[str], columns: Sequence[str] = ()) -> Crossed:
        from sudare.engine.codes import joint_codes
        from sudare.engine.kernels.groups import group_ids

        tables = [_cells(frame, quasi, self._numbers(columns)) for frame in self._frames]
        cells, number = group_ids(joint_codes([table.select(list(quasi)) for table in tables], quasi)[0])
        counts = [np.zeros(number, np.int64) for _ in tables]
        means = [np.full((len(columns), number), np.nan) for _ in tables]
        for table, cell_of, count, mean in zip(tables, cells, counts, means):
            np.add.at(count, cell_of, np.asarray(table[RECORDS], np.int64))
            for index in range(len(columns)):
                mean[index, cell_of] = table[f"sudare mean {index}"].to_numpy()
        return Crossed(counts[0], counts[1], *means)

    def change(self, columns: Sequence[str], scale: Floats) -> Change | None:
        """Every release row meets the (numbered) original row it is about."""
        from pyspark.sql import functions as f

        if not self.has_truth:
            return None
        used = [(name, size) for name, size in zip(columns, scale.tolist()) if size > 0]
        numbers = list(enumerate(self._numbers([name for name, _ in used])))

        def plain(frame: Any, side: str) -> Any:
            return frame.select(column(ROW).alias(side), *(n.alias(f"{side}{i}") for i, n in numbers))

        first, second = plain(numbered(self.original.dataset), "x"), plain(self._linked, "y")
        sizes = [f.lit(size) for _, size in used]
        apart = [f.abs(column(f"x{i}") - column(f"y{i}")) / size for i, size in enumerate(sizes)]
        sums = (f.count(f.lit(1)), *map(f.sum, apart), *map(f.count, apart))
        rows, *found = second.join(first, column("x") == column("y")).select(*sums).collect()[0]
        total = float(sum(s or 0.0 for s in found[: len(used)]))
        return Change(rows, total, sum(found[len(used) :]))

    def met(self, equal: Sequence[str], compared: Sequence[str], visit: Visitor, most: int) -> Met:
        from pyspark.sql import functions as f

        names = list(dict.fromkeys((*equal, *compared)))
        original = numbered(self.original.dataset).select(*map(column, (*names, ROW)))
        release = self._linked.select(*map(column, (*names, ROW)))
        measured = self.original.number_columns(compared)
        means = (
            _row(self._frames[0], [f.avg(column(c).cast("double")) for c in measured])
            if measured
            else np.empty(0)
        )
        middles = dict(zip(measured, np.nan_to_num(means).tolist()))
        alike = (self.roles, self.set_columns, self.release.published)
        found = meeting(original, release, equal, visit, middles, alike, self.originals).persist()
        sums = [tuple(row[0]) for row in found.where("sums is not null").select("sums").collect()]
        lost = found.where("sums is null").select("lost.*")
        number = lost.count()
        rest = self._here(named_rows(_some(lost, number, most), (*names, ROW)), number) if number else None
        found.unpersist()
        return Met(sums, rest)

    def drawn(self, most: int) -> Drawn:
        def draw() -> Drawn:
            chosen = _some(self._linked.toDF(*plain_names(self._linked)), self.releases, most)
            return self._here(named_rows(chosen, self._linked.columns), self.releases)

        return self.once(("drawn", most), draw)

    def _here(self, rows: pa.Table, drawn_from: int) -> Drawn:
        """Drawn rows beside the originals, whose columns are fetched when they are asked for."""
        held = Held(rows.drop_columns([ROW]), self.release.roles, self.set_columns, self.release.published)
        return Drawn(Pair(self.original, Side(held)), np.asarray(rows[ROW], np.int64), drawn_from)

    @property
    def _linked(self) -> Any:
        """The release's frame with the original row beside every row."""
        assert self.known is not None
        return self.known.linked.keep_alive

    @property
    def _frames(self) -> tuple[Any, Any]:
        return frame_of(self.original.dataset.table), frame_of(self.release.dataset.table)

    def _numbers(self, columns: Sequence[str]) -> list[Any]:
        """The columns as numbers of Spark; what is published as text must be read row by row."""
        texts = [
            c for c in columns if not (self.original.number_columns([c]) and self.release.number_columns([c]))
        ]
        if texts:
            raise NeedsRows(f"{', '.join(texts)}: published as text, whose numbers are read row by row")
        return [column(name).cast("double") for name in columns]


def _row(frame: Any, expressions: Any) -> Floats:
    """One row of numbers; what is not known is NaN."""
    return np.array([np.nan if v is None else v for v in frame.select(*expressions).collect()[0]], np.float64)


def _some(frame: Any, rows: int, most: int) -> Any:
    """At most so many rows, drawn by their content: the same ones on every cluster."""
    from pyspark.sql import functions as f

    return frame if rows <= most else frame.orderBy(f.xxhash64(*map(column, frame.columns))).limit(most)


def _correlations(frame: Any, numbers: Sequence[Any], middle: Floats) -> Floats:
    """Pearson's correlation of every pair of columns; 0 where a column has no spread."""
    from pyspark.sql import functions as f

    filled = [f.coalesce(number, f.lit(float(mean))) for number, mean in zip(numbers, middle)]
    means = frame.select(*map(f.avg, filled)).collect()[0]
    centred = [number - f.lit(float(mean or 0.0)) for number, mean in zip(filled, means)]
    n, pairs = len(numbers), list(combinations(range(len(numbers)), 2))
    squares = [f.sum(c * c) for c in centred] + [f.max(f.abs(number)) for number in filled]
    products = [f.sum(centred[i] * centred[j]) for i, j in pairs]
    found = np.array(frame.select(*squares, *products, f.count(f.lit(1))).collect()[0], np.float64)
    scale, largest = np.sqrt(found[:n]), found[n : 2 * n]
    known = scale > 1e-12 * np.maximum(largest * sqrt(found[-1]), 1e-300)
    matrix = np.diag(known.astype(np.float64))
    for (i, j), product in zip(pairs, found[2 * n :]):
        matrix[i, j] = matrix[j, i] = product / (scale[i] * scale[j]) if known[i] and known[j] else 0.0
    return np.asarray(np.clip(matrix, -1.0, 1.0))


def _cells(frame: Any, quasi: Sequence[str], numbers: Sequence[Any]) -> pa.Table:
    """The records of every cell, and the means of numbers in it."""
    from pyspark.sql import functions as f

    means = [f.avg(number).alias(f"sudare mean {index}") for index, number in enumerate(numbers)]
    return frame.groupBy(*map(column, quasi)).agg(f.count(f.lit(1)).alias(RECORDS), *means).toArrow()
