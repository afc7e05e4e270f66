"""What a metric is: parameters in a frozen dataclass, one verb that compares original and release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sudare.engine.pair import Pair

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Measured(NamedTuple):
    """A number (None where the metric says nothing about this pair) and what it was computed from."""

    value: float | None
    detail: str = ""


@dataclass(frozen=True, eq=False)
class Comparison(Pair):
    """Original and release, and the original row of every release row where it is known (-1 = a dummy)."""

    truth: Ints | None = field(default=None, repr=False)

    def aligned(self, columns: Sequence[str]) -> tuple[Floats, Floats] | None:
        """The numbers of every release row and of the original row it is about; None without the truth."""
        if self.truth is None:
            return None
        original, release = self.numbers(columns)
        real = self.truth >= 0
        return original[self.truth[real]], release[real]


@runtime_checkable
class Metric(Protocol):
    """A metric of utility or safety: `measure` is its one verb, `suited` proposes it for a table."""

    code: ClassVar[str]
    meaning: ClassVar[str]
    better: ClassVar[str]
    place: ClassVar[int]

    def measure(self, pair: Comparison) -> Measured:
        """The metric's value for this pair."""
        ...

    @classmethod
    def suited(cls, pair: Comparison) -> Sequence[Self]:
        """The instances worth computing when nobody names metrics; empty when the metric does not apply."""
        ...
