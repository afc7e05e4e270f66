"""What a page of the book is made of: items (a table or a figure) with rows that compare printed and ours."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Verdict = Literal["equal", "paper rounds", "paper errs", "data not public", "simulated", "beyond the paper"]


@dataclass(frozen=True)
class Row:
    """One number: what it is, as printed, as computed here, and what the difference means."""

    what: str
    printed: str
    ours: str
    verdict: Verdict
    must_hold: bool = False

    @property
    def holds(self) -> bool:
        return not self.must_hold or self.verdict in ("equal", "paper rounds")

    @property
    def difference(self) -> str:
        """Ours less the printed number; nothing where one of them is told in words.

        >>> Row("alpha", "22.23", "22.23939", "paper rounds").difference, Row("k", "5", "5", "equal").difference
        ('+0.00939', '0')
        """
        try:
            apart = number(self.ours) - number(self.printed)
        except ValueError:
            return ""
        if abs(apart) < 1e-12:
            return "0"
        return f"{apart:+,.0f}" if abs(apart) >= 100 else f"{apart:+.3g}"


@dataclass(frozen=True)
class Item:
    """A table or a figure of a paper: its rows, its charts, and one sentence on how it compares."""

    name: str
    sentence: str
    rows: tuple[Row, ...] = ()
    charts: tuple[tuple[str, Any], ...] = ()  # file name without ending, chart
    skipped: str = ""
    grid: tuple[tuple[str, ...], ...] = ()  # a table of the paper's own shape, its head first


@dataclass(frozen=True)
class Page:
    """One paper."""

    paper: str
    title: str
    items: tuple[Item, ...]
    corrections: tuple[Row, ...] = field(default=())


def must_equal(what: str, printed: str, ours: float) -> Row:
    """A printed number that has to come out: rounded or truncated to the digits that are printed.

    >>> must_equal("alpha", "22.23", 22.2388).verdict
    'paper rounds'
    >>> must_equal("values", "551", 551).verdict
    'equal'
    """
    exact = number(printed)
    if ours == exact:
        return Row(what, printed, shown(ours), "equal", must_hold=True)
    verdict: Verdict = "paper rounds" if agrees(printed, ours) else "paper errs"
    return Row(what, printed, shown(ours), verdict, must_hold=True)


def agrees(printed: str, ours: float) -> bool:
    """Whether ours gives the printed digits by rounding (either way at a tie) or by cutting."""
    unit = unit_of(printed)
    return abs(ours - number(printed)) < unit * (1 + 1e-9) and (
        abs(ours - number(printed)) <= unit / 2 * (1 + 1e-9) or ours - number(printed) >= 0
    )


def unit_of(printed: str) -> float:
    """The value of the last printed digit.

    >>> unit_of("22.23"), unit_of("183,902"), unit_of("1.45e-4")
    (0.01, 1.0, 1e-06)
    """
    digits, _, power = _clean(printed).partition("e")
    places = len(digits.partition(".")[2])
    return float(f"1e{int(power or 0) - places}")


def number(printed: str) -> float:
    return float(_clean(printed))


def shown(value: float) -> str:
    """Ours with two digits more than anybody prints."""
    if isinstance(value, int) or (math.isfinite(value) and value == int(value) and abs(value) < 1e15):
        return f"{int(value):,}"
    return f"{value:,.7g}" if abs(value) < 1e4 else f"{value:,.1f}"


def _clean(printed: str) -> str:
    return re.sub(r"[,\s]", "", printed).lower()


def tally(items: Sequence[Item]) -> dict[str, int]:
    """How many rows have each verdict."""
    counts: dict[str, int] = {}
    for row in (row for item in items for row in item.rows):
        counts[row.verdict] = counts.get(row.verdict, 0) + 1
    return counts
