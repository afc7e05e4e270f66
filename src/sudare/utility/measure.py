"""sudare.utility: what is left of the data's use in a release."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sudare.data.dataset import Dataset
from sudare.data.published import Published, original_and_published
from sudare.errors import UsageError, nearest
from sudare.parameters import checked
from sudare.registry import all_of, name_of
from sudare.results import Result
from sudare.utility.base import Comparison, Measured, Metric

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True, repr=False)
class UtilityResult(Result):
    """One row per metric; `by_column` says which columns changed."""

    by_column: tuple[dict[str, Any], ...] = ()

    command: ClassVar[str] = "utility"

    def value(self, metric: str) -> float | None:
        """The value of one metric, by its code or name: `result.value("U1")`."""
        for row in self.rows:
            if str(row["metric"]).lower() == metric.lower():
                found: float | None = row["value"]
                return found
        raise UsageError(
            f"no metric '{metric}' here; {nearest(metric, [str(r['metric']) for r in self.rows])}"
        )

    def extra(self) -> dict[str, Any]:
        return {"by_column": list(self.by_column)}

    def chart(self) -> altair.Chart:
        from sudare.utility.charts import change_by_column

        return change_by_column(self)


@checked
def utility(
    original: Dataset,
    release: Any,
    metrics: Metric | str | Sequence[Any] | None = None,
    *,
    truth: Iterable[Any] | None = None,
) -> UtilityResult:
    """Measure what a release (a Release, or a Dataset) keeps of the original.

    `truth` (a Release has its own) is needed only by metrics that compare row by row. Without `metrics`,
    those that fit the roles are computed.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=10), key=bytes(range(32)))
    >>> sudare.utility(patients, release, ["U1", "U6"]).value("U1")
    0.125
    """
    from sudare.utility.columns import changes, compared_columns

    original, published = original_and_published(original, release, truth, "utility")
    if original.engine == "pyspark" and published.data.engine == "pyspark" and published.has_truth:
        return _on_spark(original, published, metrics)
    known = published.rows_among(original.rows)
    if not original.rows or not published.data.rows:
        raise UsageError("utility: a table without rows cannot be compared")
    pair = Comparison(original, published.data, truth=known)
    pair.tables(compared_columns(pair))
    chosen = suited_metrics(pair) if metrics is None else [metric_of(one) for one in _listed(metrics)]
    return UtilityResult(
        rows=tuple(_row(one, pair) for one in chosen),
        by_column=tuple(changes(pair)) if metrics is None else (),
    )


def _on_spark(
    original: Dataset, release: Published, metrics: Metric | str | Sequence[Any] | None
) -> UtilityResult:
    """The metrics that are sums, without fetching rows; others only by name, and then the rows are fetched."""
    from sudare.utility.spark import measure_on_spark, runs_on_spark

    sums = Comparison(original, release.data, truth=np.empty(0, np.int64))
    named = suited_metrics(sums) if metrics is None else [metric_of(one) for one in _listed(metrics)]
    left = [one for one in named if not runs_on_spark(one, sums)]
    if left and metrics is not None:
        pair = Comparison(original, release.data, truth=release.rows)
        return UtilityResult(rows=tuple(_row(one, pair) for one in named))
    chosen = [one for one in named if one not in left]
    rows = tuple(_shown(one, measure_on_spark(one, sums, release.linked.keep_alive)) for one in chosen)
    names = ", ".join(one.code or name_of(one) for one in left)
    return UtilityResult(rows=rows, notes=(f"Left out, for they need all rows: {names}.",) if left else ())


def suited_metrics(pair: Comparison) -> list[Metric]:
    """Every metric that fits the table, in the order of the contest's table, then the others."""
    known = sorted(all_of("metric").values(), key=lambda cls: (getattr(cls, "place", 1000), cls.__name__))
    return [one for cls in known for one in cls.suited(pair)]


def metric_of(one: Metric | str) -> Metric:
    """A metric from itself, its code (`U1`) or its name (`mean-error`)."""
    if not isinstance(one, str):
        if isinstance(one, type) or not hasattr(one, "measure"):
            raise UsageError("metrics: give metrics such as sudare.utility.MeanError(), or their names")
        return one
    known = all_of("metric")
    codes = {cls.code.lower(): cls for cls in known.values() if getattr(cls, "code", "")}
    cls = codes.get(one.lower()) or known.get(one.lower())
    if cls is None:
        names = [*(code.upper() for code in codes), *known]
        raise UsageError(f"unknown metric '{one}'; {nearest(one, names)}")
    made: Metric = cls()
    return made


def _listed(metrics: Metric | str | Sequence[Metric | str]) -> Sequence[Metric | str]:
    chosen = metrics if isinstance(metrics, (list, tuple)) else [metrics]
    if not chosen:
        raise UsageError("metrics: the list is empty; leave it out to compute all that fit")
    return chosen  # type: ignore[return-value]


def _row(one: Metric, pair: Comparison) -> dict[str, Any]:
    return _shown(one, one.measure(pair))


def _shown(one: Metric, found: Measured) -> dict[str, Any]:
    return {
        "metric": one.code or name_of(one),
        "value": found.value,
        "better": one.better,
        "meaning": one.meaning,
        "detail": found.detail,
    }
