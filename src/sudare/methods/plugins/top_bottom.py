"""TopBottomCode: no number beyond a bound is published."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.constraints import Between
from sudare.engine.exact import Moments
from sudare.engine.numbers import as_numbers
from sudare.engine.summary import COUNT, Summary, counted
from sudare.errors import UsageError
from sudare.keys import Key
from sudare.keys.records import person_columns
from sudare.methods.numeric import numeric_columns
from sudare.registry import method

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.engine.rows import Draft

WIDE = Context(prec=80)  # digits that no decimal column has
FEWEST_PEOPLE = 3  # behind a published mean or median


@method
@dataclass(frozen=True, kw_only=True)
class TopBottomCode:
    """Publish no number above `top` or below `bottom`: they become the bound, or the mean or median of those beyond
    it.

    `share` sets both bounds at quantiles instead: 0.01 codes the largest and the smallest hundredth. The mean
    keeps the column's total. A mean or median needs the numbers of three people or more: of fewer it would publish a
    person's own.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, TopBottomCode(column="age", top=65), key=bytes(range(32)))
    >>> max(release.data.to_pyarrow()["age"].to_pylist())
    65
    """

    column: str
    top: float | None = None
    bottom: float | None = None
    share: Annotated[float, Between(0, 0.5)] | None = None
    replacement: Literal["bound", "mean", "median"] = "bound"

    scope: ClassVar[str] = "row"
    technique: ClassVar[str] = "top and bottom coding"
    family: ClassVar[str] = "Generalise and suppress"
    details: ClassVar[Mapping[str, str]] = {"top_coded": "total", "bottom_coded": "total"}

    def __post_init__(self) -> None:
        if self.top is None and self.bottom is None and self.share is None:
            raise UsageError("top-bottom-code: give top, bottom or share")
        if self.top is not None and self.bottom is not None and not self.bottom < self.top:
            raise UsageError("top-bottom-code: bottom is below top")

    def apply(self, draft: Draft, key: Key) -> Draft:
        return self.fit(draft).apply(draft, key)

    def fit(self, summary: Summary) -> Coded:
        """The bounds, and what is published beyond them, from how often each value occurs."""
        (name,) = numeric_columns(summary, self.column, "top-bottom-code")
        values, counts = _ordered(summary, name)
        bottom, top = self._bounds(values, counts)
        above, below = values > top, values < bottom
        if self.replacement == "bound":
            return Coded(name, bottom, top, bottom, top)
        _check_people(summary, Coded(name, bottom, top, bottom, top), self.replacement)
        middle = _mean if self.replacement == "mean" else _median
        high = middle(values[above], counts[above]) if above.any() else top
        low = middle(values[below], counts[below]) if below.any() else bottom
        return Coded(name, bottom, top, low, high)

    def _bounds(self, values: NDArray[Any], counts: NDArray[np.int64]) -> tuple[float, float]:
        """What may be published at most and at least; for whole numbers these are whole."""
        bottom = -math.inf if self.bottom is None else self.bottom
        top = math.inf if self.top is None else self.top
        if self.share is not None and len(values):
            ends = np.cumsum(counts)
            last = int(ends[-1]) - 1
            quantiles = math.floor(self.share * last), math.ceil((1 - self.share) * last)
            lowest, highest = values[np.searchsorted(ends, quantiles, side="right")].tolist()
            bottom, top = max(bottom, lowest), min(top, highest)
        if values.dtype.kind == "O":
            return Decimal(str(bottom)), Decimal(str(top))  # type: ignore[return-value]
        if values.dtype.kind == "f":
            return bottom, top
        ends_of_type = np.iinfo(values.dtype)
        inside = [min(max(bound, ends_of_type.min), ends_of_type.max) for bound in (bottom, top)]
        return math.ceil(inside[0]), math.floor(inside[1])


class Coded(NamedTuple):
    """Numbers below `bottom` become `low`, those above `top` become `high`."""

    column: str
    bottom: float
    top: float
    low: float
    high: float

    def apply(self, draft: Draft, key: Key) -> Draft:
        import pyarrow as pa

        values, missing = self._cells(draft)
        below, above = self.beyond(draft)
        coded = values.copy()
        coded[above], coded[below] = self.high, self.low
        kind = draft.types.field(self.column).type
        decimal = kind if pa.types.is_decimal(kind) else None
        return draft.with_column(self.column, pa.array(coded, decimal, mask=missing)).replace(
            details={"top_coded": int(above.sum()), "bottom_coded": int(below.sum())}
        )

    def beyond(self, draft: Draft) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which records are below the lower bound, and which above the upper one."""
        values, missing = self._cells(draft)
        return ~missing & (values < self.bottom), ~missing & (values > self.top)

    def _cells(self, draft: Draft) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        column = draft.table[self.column]
        return _numbers(column, self.column), np.asarray(column.is_null())


def _numbers(column: pa.ChunkedArray, name: str) -> NDArray[Any]:
    """Numbers in the column's own type where it is whole: exact also above 2^53."""
    import pyarrow as pa

    if pa.types.is_integer(column.type):
        return np.asarray(column.fill_null(0)).astype(column.type.to_pandas_dtype())
    if pa.types.is_decimal(column.type):
        return np.array([Decimal(0) if v is None else v for v in column.to_pylist()], dtype=object)
    return as_numbers(column, name)


def _ordered(summary: Summary, name: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The different numbers of a column in order, and how often each occurs."""
    counted = summary.counts([name])
    known = counted.filter(counted[name].is_valid())
    values, counts = _numbers(known[name], name), np.asarray(known[COUNT], np.int64)
    order = np.argsort(values, kind="stable")
    return values[order], counts[order]


def _check_people(summary: Summary, coded: Coded, what: str) -> None:
    """Refuse a number behind which there are too few people: it would be theirs."""
    roles = summary.shape.roles
    person = [name for name in person_columns(roles) if name in summary.types.names]
    parts = summary.reduce(lambda draft: [_some_people(draft.take(m), person) for m in coded.beyond(draft)])
    for side, bound, found in zip(("bottom", "top"), ("below", "above"), zip(*parts)):
        people = len(set().union(*found))
        if 0 < people < FEWEST_PEOPLE:
            raise UsageError(
                f"top-bottom-code: the {what} {bound} the bound of '{coded.column}' would be of fewer than "
                f'{FEWEST_PEOPLE} people; choose another {side}, or replacement = "bound"'
            )


def _some_people(draft: Draft, person: list[str]) -> set[tuple[Any, ...]]:
    """People of some records, not more than have to be counted; without names every record is a person."""
    if not person:
        return {(row,) for row in draft.truth[:FEWEST_PEOPLE].tolist()}
    different = counted(draft.table.select(person), person).slice(0, FEWEST_PEOPLE)
    return {tuple(row.values()) for row in different.select(person).to_pylist()}


def _median(beyond: NDArray[Any], counts: NDArray[np.int64]) -> float:
    """The median of the numbers beyond a bound, whole for whole numbers."""
    ends = np.cumsum(counts)
    last = int(ends[-1]) - 1
    low, high = beyond[np.searchsorted(ends, [last // 2, (last + 1) // 2], side="right")].tolist()
    return _like((Fraction(low) + Fraction(high)) / 2, beyond)


def _mean(beyond: NDArray[Any], counts: NDArray[np.int64]) -> float:
    """The mean of the numbers beyond a bound, whole for whole numbers."""
    if beyond.dtype.kind == "f":
        return Moments.of(np.repeat(beyond, counts)).mean
    pairs = zip(beyond.tolist(), counts.tolist())
    return _like(sum((Fraction(v) * n for v, n in pairs), Fraction(0)) / int(counts.sum()), beyond)


def _like(number: Fraction, values: NDArray[Any]) -> float:
    """A number as precise as the values it stands for."""
    if values.dtype.kind == "f":
        return float(number)
    if values.dtype.kind != "O":
        return round(number)
    digits = -min(value.as_tuple().exponent for value in values)
    return Decimal(round(number * 10**digits)).scaleb(-digits, WIDE)  # type: ignore[return-value]
