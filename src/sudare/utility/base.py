"""What a metric is: parameters in a frozen dataclass, one verb that compares original and release."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sudare.engine.pair import Pair

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Scope = Literal["sums", "table"]


class Measured(NamedTuple):
    """A number (None where the metric says nothing about this pair) and what it was computed from."""

    value: float | None
    detail: str = ""


class Metric(ABC):
    """A metric of utility or safety: `measure` is its one verb, `suited` proposes it for a table.

    `scope` says what it asks of the pair, and so where it can run: "sums" = means, cells, correlations, changes, which
    are added up where the rows are; "table" = the rows themselves, in this process.
    """

    code: ClassVar[str] = ""
    meaning: ClassVar[str] = ""
    better: ClassVar[str] = "lower"
    family: ClassVar[str] = "distributions"
    scope: ClassVar[Scope] = "table"
    priority: ClassVar[int] = 1000

    @abstractmethod
    def measure(self, pair: Pair) -> Measured:
        """The metric's value for this pair."""

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        """The instances worth computing when nobody names metrics; empty when the metric does not apply."""
        return []
