"""sudare.utility: what is left of the data's use in a release."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sudare.data.dataset import Dataset
from sudare.data.published import original_and_published
from sudare.engine.answers import NeedsRows
from sudare.engine.pair import Pair, pair_of
from sudare.errors import UsageError, nearest
from sudare.parameters import checked
from sudare.registry import all_of, name_of
from sudare.results import Result
from sudare.utility.base import Metric
from sudare.utility.columns import changes, compared_columns

if TYPE_CHECKING:
    import altair

ROWS = "needs all rows in this process; ask for it by name to fetch them"


@dataclass(frozen=True, repr=False)
class UtilityResult(Result):
    """One row per metric; `by_column` says which columns changed, `skipped` what was not measured and why."""

    by_column: tuple[dict[str, Any], ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()

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
        return {"by_column": list(self.by_column), "skipped": list(self.skipped)}

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
    those that fit the roles are computed; of tables on a cluster those that sums are enough for.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=10), key=bytes(range(32)))
    >>> sudare.utility(patients, release, ["U1", "U6"]).value("U1")
    0.125
    """
    pair = pair_of(*original_and_published(original, release, truth, "utility"))
    if not pair.originals or not pair.releases:
        raise UsageError("utility: a table without rows cannot be compared")
    pair.check_truth()
    if metrics is not None:
        return UtilityResult(tuple(_fetching_row(metric_of(one), pair) for one in _listed(metrics)))
    rows, skipped = _suited_rows(pair)
    by_column: tuple[dict[str, Any], ...] = ()
    if pair.here:
        by_column = tuple(changes(pair))
    else:
        skipped.append(("by_column", ROWS))
    left = ", ".join(name for name, _ in skipped)
    notes = (f"Left out, for they need all rows: {left}.",) if left else ()
    return UtilityResult(tuple(rows), notes, by_column, tuple(skipped))


def suited_metrics(pair: Pair) -> list[Metric]:
    """Every metric that fits the table, in the order of the contest's table, then the others."""
    known = sorted(all_of("metric").values(), key=lambda cls: (cls.priority, cls.__name__))
    return [one for cls in known for one in cls.suited(pair)]


def _suited_rows(pair: Pair) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """The metrics that can be computed where the rows are, and the names of the others."""
    if pair.here:
        pair.tables(compared_columns(pair))  # all columns at once
    rows, skipped = [], []
    for one in suited_metrics(pair):
        try:
            if one.scope == "table" and not pair.here:
                raise NeedsRows(ROWS)
            rows.append(_row(one, pair))
        except NeedsRows as reason:
            skipped.append((one.code or name_of(one), str(reason)))
    return rows, skipped


def _fetching_row(one: Metric, pair: Pair) -> dict[str, Any]:
    """A metric that was asked for by name: where sums are not enough, the rows are fetched."""
    try:
        return _row(one, pair if one.scope == "sums" else pair.fetched())
    except NeedsRows:
        return _row(one, pair.fetched())


def metric_of(one: Metric | str) -> Metric:
    """A metric from itself, its code (`U1`) or its name (`mean-error`)."""
    if not isinstance(one, str):
        if not isinstance(one, Metric):
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


def _row(one: Metric, pair: Pair) -> dict[str, Any]:
    found = one.measure(pair)
    return {
        "metric": one.code or name_of(one),
        "value": found.value,
        "better": one.better,
        "meaning": one.meaning,
        "detail": found.detail,
    }
