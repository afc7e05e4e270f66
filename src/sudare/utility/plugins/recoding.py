"""What generalisation costs: the normalised certainty penalty and the discernibility of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sudare.data.values.originals import Originals
from sudare.data.values.recoded import SUPPRESSED, Anything, Interval, ValueSet, meaning_of, plain
from sudare.engine.pair import Pair
from sudare.engine.sums import exact_sum
from sudare.registry import metric
from sudare.utility.base import Measured, Metric

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]


@metric
@dataclass(frozen=True, kw_only=True)
class CertaintyPenalty(Metric):
    """NCP: the mean over the cells of the quasi-identifiers of what a published value leaves open.

    For numbers the width of the interval over the column's range, else (values it may stand for - 1) over
    (values of the column - 1); 0 for an unchanged cell, 1 for a suppressed one. A label that is neither a
    value, a set, an interval nor starred (a name from a hierarchy) counts as 1, since its meaning is not
    in the table.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, sudare.methods.Mondrian(k=2), key=bytes(range(32)))
    >>> round(sudare.utility(patients, release, CertaintyPenalty()).rows[0]["value"], 3)
    0.108
    """

    meaning: ClassVar[str] = "certainty lost to generalisation (NCP)"
    family: ClassVar[str] = "generalisation"
    priority: ClassVar[int] = 160
    columns: tuple[str, ...] | None = None

    def measure(self, pair: Pair) -> Measured:
        names = self.columns or pair.quasi()
        found = {name: exact_sum(_penalties(pair, name)) / pair.releases for name in names}
        worst = max(found, key=lambda name: found[name])
        return Measured(float(np.mean(list(found.values()))), f"largest in {worst}: {found[worst]:.3f}")

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls()] if pair.quasi() else []


@metric
@dataclass(frozen=True, kw_only=True)
class Discernibility(Metric):
    """The mean size of the class a release row hides in (the discernibility metric, sum of squared class
    sizes, over the rows); a row with all quasi-identifiers suppressed hides among all rows.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, sudare.methods.Mondrian(k=2), key=bytes(range(32)))
    >>> round(sudare.utility(patients, release, Discernibility()).rows[0]["value"], 3)
    2.0
    """

    meaning: ClassVar[str] = "mean size of a row's class (discernibility over rows)"
    family: ClassVar[str] = "generalisation"
    priority: ClassVar[int] = 170

    def measure(self, pair: Pair) -> Measured:
        quasi = pair.quasi()
        sizes = np.bincount(pair.blocks(quasi).release)
        gone = _all_suppressed(pair.tables(quasi)[1])
        total = float((sizes.astype(np.float64) ** 2).sum() - gone**2 + gone * pair.releases)
        return Measured(total / pair.releases, f"{gone:,} rows suppressed")

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls()] if pair.quasi() else []


def _penalties(pair: Pair, name: str) -> Floats:
    """The penalty of every release cell of a column."""
    from sudare.engine.codes import codes

    first, second = pair.tables([name])
    _, (values,) = codes(first, [name])
    matrix, (published,) = codes(second, [name])
    known, shown = values.to_pylist(), published.to_pylist()
    numeric = bool(pair.numeric_columns([name]))
    costs = _numeric_costs(shown, known) if numeric else _word_costs(shown, known)
    return costs[matrix[:, 0]]


def _word_costs(shown: Sequence[Any], known: Sequence[Any]) -> Floats:
    originals = Originals(known)
    fits = np.array([len(originals.behind(value)) for value in shown], np.int64)
    return np.where(fits > 0, (fits - 1) / max(len(known) - 1, 1), 1.0)


def _numeric_costs(shown: Sequence[Any], known: Sequence[Any]) -> Floats:
    numbers = [float(value) for value in known if value is not None]
    span = (max(numbers) - min(numbers)) if numbers else 0.0
    return np.array([min(1.0, _width(value, span)) for value in shown])


def _width(value: Any, span: float) -> float:
    """The share of the range that a published number, interval or set covers."""
    meaning = meaning_of(plain(value), numeric=True)
    if isinstance(meaning, Anything):
        return 1.0
    if isinstance(meaning, Interval) and isinstance(meaning.low, (int, float)):
        return (float(meaning.high) - float(meaning.low)) / span if span else 0.0  # type: ignore[arg-type]
    try:
        ends = [float(m) for m in meaning.members if m is not None] if isinstance(meaning, ValueSet) else []
        if not ends and value is not None:
            float(value)
    except (TypeError, ValueError):
        return 1.0
    return (max(ends) - min(ends)) / span if ends and span else 0.0


def _all_suppressed(table: pa.Table) -> int:
    """How many rows have nothing but suppressed cells."""
    gone = np.ones(table.num_rows, np.bool_)
    for column in table.columns:
        gone &= _suppressed(column)
    return int(gone.sum())


def _suppressed(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return np.zeros(len(column), np.bool_)
    return np.asarray(pc.fill_null(pc.equal(column, SUPPRESSED), False))
