"""Noise: every number is moved a little, by a draw that belongs to the record."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np

from sudare.constraints import AtLeast
from sudare.keys import Key, normal
from sudare.methods.numeric import as_numbers, like, numeric_columns
from sudare.registry import method

if TYPE_CHECKING:
    from sudare.methods.draft import Draft


@method
@dataclass(frozen=True, kw_only=True)
class Noise:
    """Add normal noise with `sd` times the column's standard deviation (P4, method b).

    `columns` defaults to the numeric sensitive columns; whole numbers stay whole. `scales` gives the
    standard deviation of the noise itself, per column, instead. `details` tell the information loss that `sd`
    lets expect: the mean absolute change over the column's standard deviation.

    >>> import sudare
    >>> shop = sudare.open("example:purchases", user="user", quasi=["date", "goods"], sensitive="price")
    >>> release = sudare.anonymize(shop, Noise(sd=0.1), key=bytes(range(32)))
    >>> release.data.rows, release.steps[0]["technique"]
    (10, 'noise addition')
    """

    sd: Annotated[float, "a share of the standard deviation", AtLeast(0)] = 0.1
    columns: Sequence[str] | str | None = None
    scales: Mapping[str, Annotated[float, AtLeast(0)]] | None = None

    technique: ClassVar[str] = "noise addition"
    family: ClassVar[str] = "Perturb"
    rowwise: ClassVar[bool] = True

    def fit(self, draft: Draft) -> Self:
        """The same method with the spread of every column fixed, so that chunks agree."""
        names = self.moved(draft)
        return dataclasses.replace(self, columns=names, scales=self._scales(draft, names))

    def apply(self, draft: Draft, key: Key) -> Draft:
        scales = self._scales(draft, self.moved(draft))
        for name, scale in scales.items():
            column = draft.table[name]
            moved = as_numbers(column, name) + scale * normal(key, "noise", name, draft.ids)[:, 0]
            draft = draft.with_column(name, like(moved, column))
        return draft.replace(details=self.told(scales))

    def moved(self, draft: Draft) -> tuple[str, ...]:
        """The columns that get noise."""
        return numeric_columns(draft, self.columns if self.scales is None else tuple(self.scales), "noise")

    def told(self, scales: Mapping[str, float]) -> dict[str, Any]:
        """What the method says of itself; a normal draw is 0.8 of its standard deviation away on average."""
        relative = None if self.scales is not None else self.sd
        moved = sum(scale > 0 for scale in scales.values()) / max(len(scales), 1)
        loss = None if relative is None else relative * math.sqrt(2 / math.pi) * moved
        return {"columns": len(scales), "relative_sd": relative, "information_loss": loss}

    def _scales(self, draft: Draft, names: Sequence[str]) -> dict[str, float]:
        if self.scales is not None:
            return dict(self.scales)
        return {name: self.sd * _spread(as_numbers(draft.table[name], name)) for name in names}


def _spread(values: np.ndarray) -> float:
    """The standard deviation of the cells that are there, the same in any order of the rows."""
    known = np.sort(values[~np.isnan(values)])
    return float(known.std()) if len(known) else 0.0
