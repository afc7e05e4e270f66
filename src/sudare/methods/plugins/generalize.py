"""Round and Generalize: a column says less, the same for every record."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np

from sudare.constraints import AtLeast
from sudare.data.values.hierarchy_sources import writable
from sudare.engine.numbers import as_numbers
from sudare.engine.summary import Summary
from sudare.errors import SudareError, UsageError
from sudare.keys import Key
from sudare.methods.numeric import Floats, numeric_columns
from sudare.registry import method

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.data.values.hierarchies import Hierarchy
    from sudare.engine.rows import Draft


WIDE = Context(prec=80)  # digits that no decimal column has


@method
@dataclass(frozen=True, kw_only=True)
class Round:
    """Round numbers to the nearest multiple of `to`; halves go up, missing cells stay missing.

    Whole numbers stay whole, and exact also above 2^53, when `to` is whole.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, Round(column="age", to=20), key=bytes(range(32)))
    >>> sorted(set(release.data.to_pyarrow()["age"].to_pylist()))
    [40, 60, 80]
    """

    column: str
    to: Annotated[float, "a number, e.g. 10", AtLeast(1e-15)]

    scope: ClassVar[str] = "row"
    technique: ClassVar[str] = "rounding"
    family: ClassVar[str] = "Generalise and suppress"
    details: ClassVar[Mapping[str, str]] = {"changed": "total", "to": "fact"}

    def apply(self, draft: Draft, key: Key) -> Draft:
        import pyarrow as pa
        import pyarrow.compute as pc

        (name,) = numeric_columns(draft, self.column, "round")
        column = draft.table[name]
        if pa.types.is_integer(column.type) and float(self.to).is_integer():
            before, rounded = column.combine_chunks(), _round_whole(column, int(self.to))
        elif pa.types.is_decimal(column.type):
            rounded = _round_decimal(column, self.to)
            before = column.combine_chunks().cast(rounded.type)
        else:
            numbers, missing = as_numbers(column, name), np.asarray(column.is_null())
            before, rounded = (pa.array(v, mask=missing) for v in (numbers, _round(numbers, self.to)))
        changed = int(pc.sum(pc.not_equal(rounded, before)).as_py() or 0)
        return draft.with_column(name, rounded).replace(details={"changed": changed, "to": self.to})


@method
@dataclass(frozen=True, kw_only=True)
class Generalize:
    """Publish every value of a column as its label on a level of its hierarchy.

    `hierarchy`: a Hierarchy, the path of its CSV, or a table as in a `sudare.toml` (`{"intervals": [5, 10]}`); by
    default one is proposed from the data. Level 0 is the value, the last level "*".

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, Generalize(column="age", hierarchy={"intervals": [20]}),
    ...     key=bytes(range(32)))
    >>> sorted(set(release.data.to_pyarrow()["age"].to_pylist()))
    ['[40-59]', '[60-79]']
    """

    column: str
    level: Annotated[int, AtLeast(0)] = 1
    hierarchy: Hierarchy | Mapping[str, Any] | str | os.PathLike[str] | None = None

    scope: ClassVar[str] = "row"
    technique: ClassVar[str] = "generalization"
    family: ClassVar[str] = "Generalise and suppress"
    details: ClassVar[Mapping[str, str]] = {"level": "fact", "levels": "fact", "ncp": "mean"}

    def __post_init__(self) -> None:
        writable({self.column: self.hierarchy} if self.hierarchy is not None else None)

    def fit(self, summary: Summary) -> Self:
        """The same method with its hierarchy fixed, so that batches agree."""
        _refuse_sets(summary.types.field(*summary.require(self.column)))
        return dataclasses.replace(self, hierarchy=self._resolve(summary.distinct(self.column)))

    def apply(self, draft: Draft, key: Key) -> Draft:
        draft.require(self.column)
        _refuse_sets(draft.types.field(self.column))
        column = draft.table[self.column]
        hierarchy = self._resolve(column)
        level = hierarchy.check_level(self.level)
        codes = hierarchy.codes(column)
        loss = float(hierarchy.loss[level][hierarchy.generalize(codes, level)].mean()) if draft.rows else 0.0
        if level > 0:
            labels = hierarchy.decode(hierarchy.generalize(codes, level), level)
            draft = draft.with_column(self.column, labels)
        return draft.replace(details={"level": level, "levels": hierarchy.levels, "ncp": loss})

    def _resolve(self, column: pa.ChunkedArray) -> Hierarchy:
        from sudare.data.values.hierarchies import Hierarchy
        from sudare.data.values.hierarchy_kinds import from_spec
        from sudare.data.values.hierarchy_proposals import propose

        given = self.hierarchy
        if isinstance(given, Hierarchy):
            return given.with_missing() if column.null_count else given
        if isinstance(given, (str, os.PathLike)):
            given = {"file": str(Path(given).absolute())}
        try:
            return from_spec(propose(column) if given is None else given, column.unique())
        except SudareError as error:
            raise type(error)(f"column '{self.column}': {error}") from None


def _refuse_sets(field: pa.Field) -> None:
    from sudare.data.values.sets import is_sets

    if is_sets(field.type):
        raise UsageError(f"column '{field.name}' holds sets, which have no hierarchy; generalize it first")


def _round(numbers: Floats, to: float) -> Floats:
    steps = np.round(numbers / to, 9)  # 0.35 / 0.1 is a half, floats say less
    digits = max(0, 12 - math.floor(math.log10(to)))
    return np.asarray(np.round(np.floor(steps + 0.5) * to, min(digits, 15)), np.float64)


def _round_decimal(column: pa.ChunkedArray, to: float) -> pa.Array:
    """Decimals stay decimals, exact however many digits they have."""
    import pyarrow as pa

    step, scale = Fraction(str(to)), column.type.scale
    digits = max(scale, len(str(to).partition(".")[2]) if "e" not in str(to) else 15)
    rounded = [
        None if value is None else math.floor(Fraction(value) / step + Fraction(1, 2)) * step
        for value in column.to_pylist()
    ]
    unit = 10**digits
    exact = [None if r is None else Decimal(int(r * unit)).scaleb(-digits, WIDE) for r in rounded]
    return pa.array(exact, pa.decimal128(38, digits) if digits + 20 <= 38 else pa.decimal256(76, digits))


def _round_whole(column: pa.ChunkedArray, to: int) -> pa.Array:
    """Whole numbers without a detour over floats; the end of the type's range is not passed."""
    import pyarrow as pa

    kind = column.type.to_pandas_dtype()
    missing = np.asarray(column.is_null())
    numbers = np.asarray(column.fill_null(0)).astype(kind)
    bounds = np.iinfo(kind)
    if to > bounds.max:
        raise UsageError(f"round: to = {to} is larger than any number of the column's type")
    rest = numbers % kind(to)  # never negative
    more = kind(to) - rest
    room_above, room_below = numbers <= kind(bounds.max) - more, numbers >= kind(bounds.min) + rest
    up = room_above & ((rest >= kind(to - to // 2)) | ~room_below) & (rest > 0)
    rounded = numbers + np.where(up, more, kind(0)) - np.where(~up & room_below, rest, kind(0))
    return pa.array(rounded.astype(kind), type=column.type, mask=missing)
