"""Noise: every number is moved a little, by a draw that belongs to the record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

from sudare.constraints import AtLeast
from sudare.engine.numbers import as_numbers
from sudare.keys import Key, brownian
from sudare.methods.numeric import like, numeric_columns
from sudare.registry import method

if TYPE_CHECKING:
    from sudare.engine.rows import Draft
    from sudare.engine.summary import Summary


@method
@dataclass(frozen=True, kw_only=True)
class Noise:
    """Add normal noise with `sd` times the column's standard deviation (P4, method b).

    `columns` defaults to the numeric sensitive columns; whole numbers stay whole. `scales` gives the
    standard deviation of the noise itself, per column, instead. Noise of two strengths is nested: under one key
    two releases together say no more than the less noisy one, also where the table has grown; for that the standard
    deviation is up to 0.4% more than was asked for. `details` tell the information loss that `sd` lets expect: the
    mean absolute change over the column's standard deviation.

    >>> import sudare
    >>> shop = sudare.open("example:purchases", user="user", quasi=["date", "goods"], sensitive="price")
    >>> release = sudare.anonymize(shop, Noise(sd=0.1), key=bytes(range(32)))
    >>> release.data.rows, release.steps[0]["technique"]
    (10, 'noise addition')
    """

    sd: Annotated[float, "a share of the standard deviation", AtLeast(0)] = 0.1
    columns: Sequence[str] | str | None = None
    scales: Mapping[str, Annotated[float, AtLeast(0)]] | None = None

    scope: ClassVar[str] = "row"
    randomises: ClassVar[bool] = True
    technique: ClassVar[str] = "noise addition"
    family: ClassVar[str] = "Perturb"
    details: ClassVar[Mapping[str, str]] = {
        "columns": "fact",
        "relative_sd": "fact",
        "information_loss": "fact",
    }

    def apply(self, draft: Draft, key: Key) -> Draft:
        return self.fit(draft).apply(draft, key)

    def fit(self, summary: Summary) -> Added:
        """The scale of every column's noise: by its spread in the whole table, the same in any order of the rows."""
        asked = self.columns if self.scales is None else tuple(self.scales)
        names = numeric_columns(summary, asked, "noise")
        scales = self.scales or {name: self.sd * summary.moments(name).spread for name in names}
        return Added(dict(scales), self._described(scales))

    def _described(self, scales: Mapping[str, float]) -> dict[str, Any]:
        """What the method says of itself; a normal draw is 0.8 of its standard deviation away on average."""
        relative = None if self.scales is not None else self.sd
        changed = sum(scale > 0 for scale in scales.values()) / max(len(scales), 1)
        loss = None if relative is None else relative * math.sqrt(2 / math.pi) * changed
        return {"columns": len(scales), "relative_sd": relative, "information_loss": loss}


class Added(NamedTuple):
    """Normal noise of a known scale per column."""

    scales: Mapping[str, float]
    details: Mapping[str, Any]

    def apply(self, draft: Draft, key: Key) -> Draft:
        for name, scale in self.scales.items():
            purpose, draft = draft.drawing("noise", name)
            column = draft.table[name]
            noisy = as_numbers(column, name) + brownian(key, purpose, name, draft.ids, scale)
            draft = draft.with_column(name, like(noisy, column))
        return draft.replace(details=self.details)
