"""The contest's metrics on Spark: the workers add up, only sums and the cells of the cross-tabulation come back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.readers.spark import column, numbered
from sudare.data.truth import ROW
from sudare.utility.base import Comparison, Measured
from sudare.utility.formulas import gap
from sudare.utility.plugins import contest

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]
METRICS = (
    contest.MeanError,
    contest.CrossMean,
    contest.CrossCount,
    contest.CorrelationError,
    contest.RowLoss,
    contest.RowsChanged,
    contest.SmallestClass,
    contest.MeanClass,
)


def runs_on_spark(one: Any, pair: Comparison) -> bool:
    """Whether a metric is a matter of sums: one of the contest's, on columns that are still numbers."""
    if not isinstance(one, METRICS):
        return False
    from sudare.engine.numbers import is_number

    columns = getattr(one, "columns", None) or (pair.numeric() if hasattr(one, "columns") else ())
    return all(is_number(pair.release.schema.field(name).type) for name in columns)


def measure_on_spark(one: Any, pair: Comparison, frame: Any) -> Measured:
    """One metric; `frame` is the release with the original row beside every published one."""
    from sudare.data.readers.spark import frame_of

    original = frame_of(pair.original.table)
    columns = tuple(getattr(one, "columns", None) or pair.numeric())
    if isinstance(one, contest.RowsChanged):
        return one.measure(pair)
    if isinstance(one, contest.MeanError):
        gaps = gap(_means(original, columns), _means(frame, columns))
        return Measured(float(np.nanmean(gaps)), f"{len(columns)} columns")
    if isinstance(one, contest.CorrelationError):
        return _correlation_error(original, frame, columns)
    if isinstance(one, contest.RowLoss):
        return _row_loss(numbered(pair.original), frame, columns)
    without = columns if isinstance(one, contest.CrossMean) else ()
    quasi = tuple(one.quasi) if one.quasi is not None else pair.quasi(without=without)
    if isinstance(one, (contest.SmallestClass, contest.MeanClass)):
        return _classes(one, frame, quasi)
    return _cross(one, original, frame, quasi, columns if isinstance(one, contest.CrossMean) else ())


def _numbers(columns: Sequence[str]) -> list[Any]:
    return [column(name).cast("double") for name in columns]


def _means(frame: Any, columns: Sequence[str]) -> Floats:
    from pyspark.sql import functions as f

    found = frame.select(*(f.avg(number) for number in _numbers(columns))).collect()[0]
    return np.array([np.nan if mean is None else mean for mean in found], np.float64)


def _correlation_error(original: Any, release: Any, columns: tuple[str, ...]) -> Measured:
    """U4; a missing cell is at the original's mean, in both tables."""
    if len(columns) < 2:
        return Measured(None, "needs two numeric columns")
    fill = np.nan_to_num(_means(original, columns))
    first, second = (_correlations(frame, columns, fill) for frame in (original, release))
    gaps = np.where(np.abs(first - second) < 1e-12, 0.0, np.abs(first - second))
    return Measured(float(gaps.mean()), f"{len(gaps)} pairs")


def _correlations(frame: Any, columns: tuple[str, ...], fill: Floats) -> Floats:
    """Pearson's correlation of every pair of columns; 0 where a column has no spread."""
    from pyspark.sql import functions as f

    filled = [f.coalesce(number, f.lit(float(mean))) for number, mean in zip(_numbers(columns), fill)]
    middle = frame.select(*map(f.avg, filled)).collect()[0]
    centred = [number - f.lit(float(mean or 0.0)) for number, mean in zip(filled, middle)]
    pairs = list(combinations(range(len(columns)), 2))
    squares = [f.sum(c * c) for c in centred] + [f.max(f.abs(number)) for number in filled]
    products = [f.sum(centred[i] * centred[j]) for i, j in pairs]
    found = np.array(frame.select(*squares, *products, f.count(f.lit(1))).collect()[0], np.float64)
    n, rows = len(columns), found[-1]
    scale, largest = np.sqrt(found[:n]), found[n : 2 * n]
    known = scale > 1e-12 * np.maximum(largest * sqrt(rows), 1e-300)
    shares = [
        p / (scale[i] * scale[j]) if known[i] and known[j] else 0.0
        for (i, j), p in zip(pairs, found[2 * n :])
    ]
    return np.asarray(np.clip(np.array(shares, np.float64), -1.0, 1.0))


def _row_loss(original: Any, release: Any, columns: tuple[str, ...]) -> Measured:
    """U5; every release row meets the (numbered) original row it is about."""
    from pyspark.sql import functions as f

    numbers = _numbers(columns)
    spreads = original.select(*(f.stddev_pop(number) for number in numbers)).collect()[0]
    here, there = ([f"sudare {side} {place}" for place in range(len(columns))] for side in ("x", "y"))
    first = original.select(column(ROW).alias("sudare x"), *(n.alias(a) for n, a in zip(numbers, here)))
    second = release.select(column(ROW).alias("sudare y"), *(n.alias(a) for n, a in zip(numbers, there)))
    joined = second.join(first, column("sudare x") == column("sudare y"))
    used = [(x, y, sqrt(2) * s) for x, y, s in zip(here, there, spreads) if s]
    changes = [f.abs(column(x) - column(y)) / f.lit(scale) for x, y, scale in used]
    found = joined.select(f.count(f.lit(1)), *map(f.sum, changes), *map(f.count, changes)).collect()[0]
    sums, known = found[1 : 1 + len(used)], found[1 + len(used) :]
    if not found[0]:
        return Measured(None, "needs the truth: which row is about which")
    total = sum(s or 0.0 for s in sums)
    return Measured(total / sum(known) if sum(known) else 0.0, f"{found[0]:,} rows")


def _cells(frame: Any, quasi: Sequence[str], columns: Sequence[str]) -> pa.Table:
    from pyspark.sql import functions as f

    numbers = list(enumerate(_numbers(columns)))
    means = [f.avg(number).alias(f"sudare mean {place}") for place, number in numbers]
    return frame.groupBy(*map(column, quasi)).agg(f.count(f.lit(1)).alias("sudare records"), *means).toArrow()


def _classes(one: Any, release: Any, quasi: tuple[str, ...]) -> Measured:
    sizes = np.asarray(_cells(release, quasi, ())["sudare records"], np.int64)
    value = sizes.min() if isinstance(one, contest.SmallestClass) else sizes.mean()
    return Measured(float(value), f"{len(sizes):,} classes")


def _cross(
    one: Any, original: Any, release: Any, quasi: tuple[str, ...], columns: tuple[str, ...]
) -> Measured:
    """U2 and U3: the cells that both tables have, matched as on one machine."""
    from sudare.engine.codes import joint_codes
    from sudare.engine.kernels.groups import group_ids

    tables = [_cells(frame, quasi, columns) for frame in (original, release)]
    (first, second), _ = group_ids(joint_codes([table.select(quasi) for table in tables], quasi)[0])
    _, here, there = np.intersect1d(first, second, return_indices=True)
    detail = f"{len(here):,} of {len(first):,} cells"
    if not len(here):
        return Measured(None, "no cell is in both tables")
    if isinstance(one, contest.CrossCount):
        counts = [np.asarray(table["sudare records"], np.int64) for table in tables]
        return Measured(float(np.abs(counts[0][here] - counts[1][there]).mean()), detail)
    names = [f"sudare mean {place}" for place in range(len(columns))]
    x, y = (np.array([t[n].to_numpy() for n in names], np.float64) for t in tables)
    return Measured(float(np.nanmean(gap(x[:, here], y[:, there]))), detail)
