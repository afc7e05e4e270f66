"""What the risk after a release asks of an original and its release: which values go together, who is a candidate."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sudare.data.values.sets import from_text

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.data.dataset import Dataset
    from sudare.data.published import Published

Ints = NDArray[np.int64]


class AfterCounts(Protocol):
    """The questions; columns are named as in the original."""

    @property
    def seen(self) -> Collection[str]:
        """The columns asked about that are published."""

    @property
    def records(self) -> int:
        """The records of the original."""

    def right_guesses(self, shown: Sequence[str]) -> float:
        """The expected number of true records whose user is guessed among the published people consistent with it."""

    def changed(self, name: str) -> float:
        """The share of published records whose value does not stand for the true one: noise, swapping, redrawing."""


def after_counts(
    ds: Dataset, published: Published, columns: Sequence[str]
) -> AbstractContextManager[AfterCounts]:
    """The counts of both, by Spark if both are there, else here; what is kept for them goes when the block ends."""
    if ds.engine == published.data.engine == "pyspark":
        from sudare.engine.spark.after import SparkAfter

        return SparkAfter.of(ds, published, columns)
    from sudare.engine.duckdb.after import DuckDBAfter

    return DuckDBAfter.of(ds, published, columns)


class Observed(NamedTuple):
    """How often a true value was published as what, in codes, and the values that may belong together.

    >>> Observed(np.array([[0, 0], [0, 1]]), np.array([3, 1]), np.array([[0, 0], [1, 1]])).changed
    0.25
    """

    pairs: Ints
    counts: Ints
    near: Ints

    @property
    def changed(self) -> float:
        """The share of records whose pair of values is none that may belong together."""
        width = 1 + max(int(part[:, 1].max(initial=0)) for part in (self.pairs, self.near))
        known, near = (part[:, 0] * width + part[:, 1] for part in (self.pairs, self.near))
        return float(self.counts[~np.isin(known, near)].sum() / max(self.counts.sum(), 1))


def values_of(coded: pa.Array, sets: bool) -> list[Any]:
    """The values by code; sets, which are coded by their texts, as lists again."""
    values = coded.to_pylist()
    return [None if text is None else from_text(text) for text in values] if sets else values
