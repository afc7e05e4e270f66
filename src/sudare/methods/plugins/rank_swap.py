"""RankSwap: values change places with values of nearly the same rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.constraints import Above, AtMost
from sudare.engine.numbers import as_numbers
from sudare.errors import DataError
from sudare.keys import Key, uniform, words
from sudare.methods.numeric import numeric_columns
from sudare.registry import method

if TYPE_CHECKING:
    from sudare.engine.rows import Draft

Ints = NDArray[np.int64]


@method
@dataclass(frozen=True, kw_only=True)
class RankSwap:
    """Rank swapping (Moore 1996): in every column a value changes places with one at most p% of the records away.

    `p` is a percentage of the records: p=5 in a table of 1,000 rows swaps within 50 ranks. Columns are swapped
    independently; each keeps exactly its values, and loses its ties to the other columns. Equal values are ranked
    by the key, so that the order of rows does not matter. Missing cells stay. `details` tell the mean change of
    rank (as a share of the records) and the information loss: the mean absolute change over the standard deviation.

    >>> import pyarrow as pa, sudare
    >>> ds = sudare.open(pa.table({"pay": [10, 20, 30, 40]}), sensitive=["pay"])
    >>> release = sudare.anonymize(ds, RankSwap(p=50), key=bytes(range(32)))
    >>> sorted(release.data.to_pyarrow()["pay"].to_pylist())
    [10, 20, 30, 40]
    """

    p: Annotated[float, "a percentage of the records", Above(0), AtMost(100)]
    columns: Sequence[str] | None = None

    scope: ClassVar[str] = "table"
    instead: ClassVar[str] = "use swap within groups instead"
    technique: ClassVar[str] = "rank swapping"
    family: ClassVar[str] = "Perturb"
    details: ClassVar[Mapping[str, str]] = {
        "p": "fact",
        "mean_rank_change": "mean",
        "information_loss": "mean",
        "information_loss_by_column": "mean",
    }

    def apply(self, draft: Draft, key: Key) -> Draft:
        """Swap every column by itself."""
        names = numeric_columns(draft, self.columns, "rank-swap")
        shifts, losses = [], []
        for name in names:
            draft, shift, loss = self._swap(draft, name, key)
            shifts.append(shift)
            losses.append(loss)
        return draft.replace(
            details={
                "p": self.p,
                "mean_rank_change": float(np.mean(shifts)),
                "information_loss": float(np.mean(losses)),
                "information_loss_by_column": {n: round(v, 6) for n, v in zip(names, losses)},
            }
        )

    def _swap(self, draft: Draft, name: str, key: Key) -> tuple[Draft, float, float]:
        import pyarrow as pa

        from sudare.engine.kernels.swapping import partners

        numbers = as_numbers(draft.table[name], name)
        present = np.flatnonzero(~np.isnan(numbers))
        reach = int(len(present) * self.p / 100)
        if reach < 1:
            raise DataError(f"column '{name}': {self.p}% of its records is less than one; raise p")
        ids = draft.ids[present]
        ties = words(key, "rank-swap ties", name, ids, 2)
        ranked = present[np.lexsort((ties[:, 1], ties[:, 0], numbers[present]))]
        drawn = uniform(key, "rank-swap", name, draft.ids[ranked])[:, 0]
        other = partners(drawn, reach)
        source = np.arange(draft.rows)
        source[ranked] = ranked[other]
        column = draft.table[name].take(pa.array(source))
        deviation = float(numbers[present].std())
        change = np.abs(numbers[ranked] - numbers[ranked[other]]).mean()
        shift = float(np.abs(other - np.arange(len(other))).mean() / len(other))
        return draft.with_column(name, column), shift, float(change / deviation) if deviation else 0.0
