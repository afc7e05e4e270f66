"""Blurred knowledge: what the attacker sees of a true value (P1's quality of knowledge).

A channel turns a true value x into something seen, z, with probability K(z|x). The candidates for z are the users
who own a value that could have given z. Written as text: `minute`, `hour`, `day`, `week`, `month`, `quarter`, `year`,
`round:10`, `first:3` (characters), `within:1h`, `within:5`, `wrong:0.1`.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.errors import UsageError, nearest
from sudare.risk.scale import as_number, as_width

Ints = NDArray[np.int64]
MISSING = (None, "")


@dataclass(frozen=True)
class Recode:
    """The attacker sees a coarser value: a number rounded, a time or date cut to its unit."""

    name: str
    coarse: Callable[[Any], Any]

    def codes(self, values: Sequence[Any]) -> Ints:
        """Per true value the number of what is seen of it."""
        return self.spread(values)[0]

    def spread(self, values: Sequence[Any]) -> tuple[Ints, Ints, int]:
        """Per true value the range of things that may be seen of it, and how many things there are."""
        seen: dict[Any, int] = {}
        coarse = (value if value in MISSING else self.coarse(value) for value in values)
        place = np.array([seen.setdefault(value, len(seen)) for value in coarse], np.int64)
        return place, place + 1, len(seen)


@dataclass(frozen=True)
class Within:
    """The attacker sees any value of the table at most so far from the true one, each as likely."""

    name: str
    width: float

    def spread(self, values: Sequence[Any]) -> tuple[Ints, Ints, int]:
        numbers = np.array([as_number(value) for value in values if value not in MISSING])
        points = np.unique(numbers)
        reach = self.width + 4 * np.spacing(np.maximum(np.abs(numbers), self.width))  # 0.8 - 0.5 is 0.3
        low = np.searchsorted(points, numbers - reach, side="left")
        high = np.searchsorted(points, numbers + reach, side="right")
        ends = zip(low.tolist(), high.tolist())
        alone = itertools.count(len(points))  # a missing value is seen as missing
        pairs = [(at := next(alone), at + 1) if value in MISSING else next(ends) for value in values]
        places = np.array(pairs, np.int64).reshape(-1, 2)
        return places[:, 0], places[:, 1], next(alone)


@dataclass(frozen=True)
class Wrong:
    """The attacker sees the true value, but with probability q another one of the table, each as likely.

    The attacker believes what he sees, so his candidates are the owners of the value seen.
    """

    name: str
    q: float


Channel = Recode | Within | Wrong


def parse(text: str) -> Channel:
    """The channel of a text.

    >>> parse("within:1h").width
    3600.0
    >>> parse("round:10").coarse(27)
    30.0
    """
    kind, _, given = text.partition(":")
    if kind in UNITS and not given:
        return Recode(text, UNITS[kind])
    if kind == "round":
        width = as_width(given, text)
        return Recode(text, lambda value: math.floor(as_number(value) / width + 0.5 + 1e-9) * width)
    if kind == "first":
        return _beginning(given, text)
    if kind == "within":
        return Within(text, as_width(given, text))
    if kind == "wrong":
        return Wrong(text, _probability(given, text))
    raise UsageError(
        f"channel '{text}' is unknown; {nearest(kind, [*UNITS, 'round:10', 'first:3', 'within:1h', 'wrong:0.1'])}"
    )


def _beginning(given: str, text: str) -> Recode:
    if not given.isdigit() or int(given) < 1:
        raise UsageError(f"channel '{text}': write how many characters are known, e.g. first:3")
    return Recode(text, lambda value: str(value)[: int(given)])


def _probability(given: str, text: str) -> float:
    try:
        q = float(given)
    except ValueError:
        q = -1.0
    if not 0 <= q <= 1:
        raise UsageError(f"channel '{text}': write a probability from 0 to 1, e.g. wrong:0.1")
    return q


def _cut(seconds: int) -> Callable[[Any], Any]:
    return lambda value: math.floor(as_number(value) / seconds)


def _calendar(part: str) -> Callable[[Any], Any]:
    def coarse(value: Any) -> Any:
        day = dt.datetime(1970, 1, 1) + dt.timedelta(seconds=as_number(value))
        return {"month": (day.year, day.month), "quarter": (day.year, (day.month + 2) // 3)}.get(
            part, day.year
        )

    return coarse


UNITS: dict[str, Callable[[Any], Any]] = {
    "minute": _cut(60),
    "hour": _cut(3600),
    "day": _cut(86400),
    "week": lambda value: math.floor(
        (as_number(value) / 86400 + 3) / 7
    ),  # from Monday; 1970-01-01 was a Thursday
    "month": _calendar("month"),
    "quarter": _calendar("quarter"),
    "year": _calendar("year"),
}
