"""What a parameter may be beyond its type, written where the type is: `k: Annotated[int, AtLeast(2)]`.

A text among the constraints says what the parameter is, for the error: `Annotated[float, "a share of the rows",
Within(0, 1)]` is refused as "suppress is a share of the rows, from 0 to 1". `sudare.parameters` checks them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Constraint(Protocol):
    """A condition on a value that has the right type; its text completes "k is a whole number, ..."."""

    def allows(self, value: float) -> bool: ...


@dataclass(frozen=True)
class AtLeast:
    """
    >>> AtLeast(2).allows(1), str(AtLeast(2))
    (False, 'at least 2')
    """

    bound: float

    def allows(self, value: float) -> bool:
        return value >= self.bound

    def __str__(self) -> str:
        return f"at least {self.bound:,}"


@dataclass(frozen=True)
class AtMost:
    bound: float

    def allows(self, value: float) -> bool:
        return value <= self.bound

    def __str__(self) -> str:
        return f"at most {self.bound:,}"


@dataclass(frozen=True)
class Above:
    bound: float

    def allows(self, value: float) -> bool:
        return value > self.bound

    def __str__(self) -> str:
        return f"above {self.bound:,}"


@dataclass(frozen=True)
class Below:
    bound: float

    def allows(self, value: float) -> bool:
        return value < self.bound

    def __str__(self) -> str:
        return f"below {self.bound:,}"


@dataclass(frozen=True)
class Between:
    """Neither bound is allowed."""

    low: float
    high: float

    def allows(self, value: float) -> bool:
        return self.low < value < self.high

    def __str__(self) -> str:
        return f"between {self.low:,} and {self.high:,}"


@dataclass(frozen=True)
class Within:
    """Both bounds are allowed."""

    low: float
    high: float

    def allows(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"from {self.low:,} to {self.high:,}"
