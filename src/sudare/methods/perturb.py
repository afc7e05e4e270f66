"""Noise: every number is moved a little, by a draw that belongs to the record."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from sudare.data.keys import Key, normal
from sudare.errors import UsageError
from sudare.methods.numeric import as_numbers, like, numeric_columns
from sudare.registry import method

if TYPE_CHECKING:
    from sudare.methods.draft import Draft


@method
@dataclass(frozen=True, kw_only=True)
class Noise:
    """Add normal noise with `sd` times the column's standard deviation (P4, method b).

    `columns` defaults to the numeric sensitive columns; whole numbers stay whole. `scales` gives the
    standard deviation of the noise itself, per column, instead.
    """

    sd: float = 0.1
    columns: Sequence[str] | str | None = None
    scales: Mapping[str, float] | None = None

    technique: ClassVar[str] = "noise addition"
    rowwise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        given = (self.sd, *(self.scales or {}).values())
        if any(
            isinstance(x, bool) or not isinstance(x, (int, float)) or not x >= 0 or math.isinf(x)
            for x in given
        ):
            raise UsageError(
                "noise: sd is a number from 0 on (0.1 adds a tenth of the column's standard deviation)"
            )

    def fit(self, draft: Draft) -> Self:
        """The same method with the spread of every column fixed, so that chunks agree."""
        names = numeric_columns(draft, self.columns, "noise") if self.scales is None else tuple(self.scales)
        return dataclasses.replace(self, columns=names, scales=self._scales(draft, names))

    def apply(self, draft: Draft, key: Key) -> Draft:
        names = (
            tuple(self.scales) if self.scales is not None else numeric_columns(draft, self.columns, "noise")
        )
        scales = self._scales(draft, numeric_columns(draft, names, "noise"))
        for name in names:
            column = draft.table[name]
            moved = as_numbers(column, name) + scales[name] * normal(key, "noise", name, draft.ids)[:, 0]
            draft = draft.with_column(name, like(moved, column))
        return draft.replace(
            details={"columns": len(names), "relative_sd": self.sd if self.scales is None else None}
        )

    def _scales(self, draft: Draft, names: Sequence[str]) -> dict[str, float]:
        if self.scales is not None:
            return dict(self.scales)
        return {name: self.sd * _spread(as_numbers(draft.table[name], name)) for name in names}


def _spread(values: np.ndarray) -> float:
    """The standard deviation of the cells that are there, the same in any order of the rows."""
    known = np.sort(values[~np.isnan(values)])
    return float(known.std()) if len(known) else 0.0
