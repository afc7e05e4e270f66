"""Attacks on Spark: rows with equal quasi-identifiers meet in one partition, where the attack's own `match` runs.

Only sums come to the driver. Attacks that compare a row with all rows cannot run there; one exception: rows that
IdentifySa looks for among all rows are found in the sorted values of its one column.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.base import Attack
from sudare.attacks.nearest import chosen_columns, chosen_quasi
from sudare.attacks.plugins.euclid import Euclid
from sudare.attacks.plugins.identify import IdentifyRand, IdentifySa
from sudare.attacks.scoring import Score, Ties, hit_probability, wilson
from sudare.attacks.view import View
from sudare.data.readers.spark import column, numbered
from sudare.data.truth import ROW
from sudare.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.attacks.measure import AttackResult
    from sudare.data.dataset import Dataset

BLOCK_ROWS = 1_000_000
MOST_VALUES = 20_000_000
SUMS = (
    "rows long, real long, hits double, gave_up long, tied long, from_ties double, point double, truth long"
)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Part(View):
    """The rows of both tables in one partition; a missing cell is at the mean of the whole original."""

    means: dict[str, float] = field(default_factory=dict)

    @property
    def originals(self) -> int:
        return int(self.original.num_rows)  # type: ignore[attr-defined]

    @property
    def releases(self) -> int:
        return int(self.release.num_rows)  # type: ignore[attr-defined]

    def tables(self, columns: Sequence[str]) -> tuple[pa.Table, pa.Table]:
        return self.original.select(columns), self.release.select(columns)  # type: ignore[attr-defined]

    def _points(self, columns: tuple[str, ...]) -> tuple[Floats, Floats]:
        middle = np.array([self.means[name] for name in columns])
        original, release = self.numbers(columns)
        return np.where(np.isnan(original), middle, original), np.where(np.isnan(release), middle, release)


def attack_on_spark(
    original: Dataset, release: Any, attacks: Sequence[Attack] | None, ties: Ties
) -> AttackResult:
    """Score attacks on a release that was made on Spark; without names, those that can run there."""
    from sudare.attacks import measure as score

    view = View(original, release.data)
    known = score.battery(view) if attacks is None else list(attacks)
    chosen = [one for one in known if runs_on_spark(one)]
    left = [score.label(one) for one in known if not runs_on_spark(one)]
    if (left and attacks is not None) or not chosen:
        raise UsageError(
            f"{', '.join(left)}: compares with all rows and cannot run on Spark; identify-rand, identify-sa and euclid "
            "(without fallback) can, or open a sample with DuckDB"
        )
    rows, scores = [], []
    for one in chosen:
        begin = time.perf_counter()
        scores.append(score_on_spark(one, view, release.linked.keep_alive, ties))
        rows.append(score.result_row(one, scores[-1], time.perf_counter() - begin))
    return score.AttackResult(
        rows=tuple(rows),
        notes=(f"Left out, for they compare with all rows: {', '.join(left)}.",) if left else (),
        ties=ties,
        originals=view.originals,
        releases=view.releases,
        tied=tuple(s.tied for s in scores),
        from_ties=tuple(s.from_ties for s in scores),
    )


def runs_on_spark(one: Attack) -> bool:
    """Whether an attack looks only among rows with equal quasi-identifiers, or is IdentifySa."""
    if isinstance(one, Euclid):
        return not one.fallback and not one.paper
    return isinstance(one, (IdentifyRand, IdentifySa))


def score_on_spark(one: Attack, view: View, frame: Any, ties: Ties) -> Score:
    """Score one attack; `frame` is the release with the original row beside every published one."""
    columns = _columns(one, view)
    quasi = chosen_quasi(view, getattr(one, "quasi", None), columns)
    if not quasi:
        raise UsageError(
            "without quasi-identifiers all rows are one block, too large for one worker; name some (quasi=)"
        )
    original = numbered(view.original).select(*map(column, (*quasi, *columns, ROW)))
    release = frame.select(*map(column, (*quasi, *columns, ROW)))
    means = _means(original, columns)
    fixed = _within_blocks(one, quasi, columns)
    keep_lost = isinstance(one, IdentifySa)
    together = _together(original, release, quasi, view.originals)
    found = together.mapInArrow(_matching(fixed, quasi, columns, means, ties, keep_lost), SUMS).persist()
    sums = found.where("rows >= 0").toArrow()
    extra = (
        _fallback(found.where("rows < 0"), original, columns[0], means[columns[0]], ties)
        if keep_lost
        else None
    )
    found.unpersist()
    return _score(sums, view.originals, extra)


def _columns(one: Attack, view: View) -> tuple[str, ...]:
    if isinstance(one, IdentifyRand):
        return ()
    if isinstance(one, IdentifySa):
        return (one.column,) if one.column is not None else chosen_columns(view, None)[:1]
    return chosen_columns(view, one.columns)  # type: ignore[attr-defined]


def _within_blocks(one: Attack, quasi: tuple[str, ...], columns: tuple[str, ...]) -> Attack:
    """The attack with everything named that it would otherwise choose from roles, and no look outside its block."""
    if isinstance(one, IdentifyRand):
        return dataclasses.replace(one, quasi=quasi)
    return Euclid(quasi=quasi, columns=columns)


def _means(original: Any, columns: Sequence[str]) -> dict[str, float]:
    from pyspark.sql import functions as f

    if not columns:
        return {}
    found = original.select(*(f.avg(column(name).cast("double")) for name in columns)).collect()[0]
    return {name: float(mean or 0.0) for name, mean in zip(columns, found)}


def _together(original: Any, release: Any, quasi: Sequence[str], rows: int) -> Any:
    """Both tables in one, packed in two columns of rows so that their types need not agree."""
    from pyspark.sql import functions as f

    def packed(frame: Any, side: int) -> Any:
        empty = [f.lit(None).cast(other.schema) for other in (original, release)]
        whole = f.struct(*(column(name) for name in frame.columns))
        sides = [whole if place == side else empty[place] for place in (0, 1)]
        marks = [_mark(name, original, release).alias(f"sudare mark {i}") for i, name in enumerate(quasi)]
        return frame.select(sides[0].alias("original"), sides[1].alias("release"), *marks)

    both = packed(original, 0).unionByName(packed(release, 1))
    marks = [column(f"sudare mark {i}") for i in range(len(quasi))]
    partitions = max(2, -(-2 * rows // BLOCK_ROWS))
    return both.repartition(partitions, *marks).select("original", "release")


def _mark(name: str, original: Any, release: Any) -> Any:
    """What decides in which partition a row goes: equal cells must agree, unequal ones may."""
    from pyspark.sql import functions as f

    kinds = {dict(frame.dtypes)[name] for frame in (original, release)}
    if len(kinds) == 1:
        return column(name)
    if kinds <= {"string", "tinyint", "smallint", "int", "bigint", "date"}:
        return column(name).cast("string")
    return f.lit(None).cast("string")


def _matching(
    one: Attack,
    quasi: tuple[str, ...],
    columns: tuple[str, ...],
    means: dict[str, float],
    ties: Ties,
    keep_lost: bool,
) -> Callable[..., Any]:
    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        tables = [pa.Table.from_batches([batch]) for batch in batches if batch.num_rows]
        if not tables:
            return
        whole = pa.concat_tables(tables)
        original, release = _unpacked(whole, "original").sort_by(ROW), _unpacked(whole, "release")
        if release.num_rows == 0:
            return
        part = Part(original, release, means=means)
        truth, local = np.asarray(release[ROW]), _places(np.asarray(original[ROW]), np.asarray(release[ROW]))
        candidates = one.match(part)
        sizes, hits = candidates.sizes, hit_probability(candidates, local, ties)
        lost = (sizes == 0) & keep_lost
        yield _batch(
            [
                [len(truth)],
                [int((truth >= 0).sum())],
                [fsum(hits)],
                [int((sizes == 0).sum())],
                [int((sizes > 1).sum())],
                [fsum(hits[sizes > 1])],
                [0.0],
                [0],
            ]
        )
        if lost.any():
            points = part.points(columns)[1][lost, 0]
            blank = np.full(len(points), -1)
            yield _batch([blank, blank, blank * 1.0, blank, blank, blank * 1.0, points, truth[lost]])

    return work


def _unpacked(whole: pa.Table, side: str) -> pa.Table:
    import pyarrow as pa

    there = whole.filter(whole[side].is_valid())[side].combine_chunks()
    there = pa.concat_arrays(there.chunks) if isinstance(there, pa.ChunkedArray) else there
    return pa.Table.from_batches([pa.RecordBatch.from_struct_array(there)])


def _places(rows: Ints, truth: Ints) -> Ints:
    """The place of every true row among sorted rows, -1 if it is not there."""
    if len(rows) == 0:
        return np.full(len(truth), -1, np.int64)
    place = np.minimum(np.searchsorted(rows, truth), len(rows) - 1)
    return np.where(rows[place] == truth, place, -1).astype(np.int64)


def _batch(columns: Sequence[Any]) -> pa.RecordBatch:
    import pyarrow as pa

    names = [part.split()[0] for part in SUMS.split(", ")]
    kinds = [pa.float64() if part.endswith("double") else pa.int64() for part in SUMS.split(", ")]
    return pa.RecordBatch.from_arrays([pa.array(c, k) for c, k in zip(columns, kinds)], names=names)


def _fallback(lost: Any, original: Any, name: str, mean: float, ties: Ties) -> pa.Table | None:
    """Rows without an equal row: the nearest of all values of the one column, however many rows have it."""
    from pyspark.sql import functions as f

    value = f.coalesce(column(name).cast("double"), f.lit(mean)).alias("value")
    points = original.select(value, column(ROW).alias("row"))
    known = points.groupBy("value").agg(f.count("*").alias("count"), f.min("row").alias("first"))
    if lost.isEmpty():
        return None
    if (number := known.count()) > MOST_VALUES:
        raise UsageError(
            f"identify-sa: {name} has {number:,} values, too many to look among all of them on Spark; use euclid"
        )
    table = known.orderBy("value").toArrow()
    sorted_values = lost.sparkSession.sparkContext.broadcast(tuple(np.asarray(c) for c in table.columns))
    true = points.select(column("value").alias("true"), column("row").alias("true row"))
    joined = lost.select("point", "truth").join(true, column("truth") == column("true row"), "left")
    return joined.select("point", "truth", "true").mapInArrow(_looking(sorted_values, ties), SUMS).toArrow()


def _looking(known: Any, ties: Ties) -> Callable[..., Any]:
    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        values, counts, first = known.value
        for batch in batches:
            point, truth, true = (
                np.asarray(batch.column(i).to_numpy(zero_copy_only=False)) for i in range(3)
            )
            above = np.minimum(np.searchsorted(values, point), len(values) - 1)
            below = np.maximum(above - 1, 0)
            far, near = np.square(values[above] - point), np.square(values[below] - point)
            use_above, use_below = far <= near, (near <= far) & (below != above)
            sizes = counts[above] * use_above + counts[below] * use_below
            hit = ((values[above] == true) & use_above) | ((values[below] == true) & use_below)
            big = np.iinfo(np.int64).max
            lowest = np.minimum(
                np.where(use_above, first[above], big), np.where(use_below, first[below], big)
            )
            chance = {"expected": hit / sizes, "first": hit & (lowest == truth), "fail": hit & (sizes == 1)}[
                ties
            ]
            chance = np.asarray(chance, np.float64)
            tied = sizes > 1
            yield _batch(
                [[len(point)], [0], [fsum(chance)], [0], [int(tied.sum())], [fsum(chance[tied])], [0.0], [0]]
            )

    return work


def _score(sums: pa.Table, originals: int, extra: pa.Table | None) -> Score:
    parts = [sums] if extra is None else [sums, extra]
    total = {
        name: fsum(v for part in parts for v in part[name].to_pylist())
        for name in ("hits", "from_ties", "tied")
    }
    rows, gave_up = (sum(sums[name].to_pylist()) for name in ("rows", "gave_up"))
    found_after_all = 0 if extra is None else sum(extra["rows"].to_pylist())
    rate = total["hits"] / rows
    low, high = wilson(rate, rows)
    return Score(
        rate=rate,
        baseline=sum(sums["real"].to_pylist()) / rows / originals,
        low=low,
        high=high,
        gave_up=gave_up - found_after_all,
        tied=int(total["tied"]),
        from_ties=total["from_ties"] / rows,
    )
