"""What a benchmark says: the work, its sizes, our way, the peer's way, the goal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.meters import PROCESS, Meter

Row = dict[str, Any]


@dataclass(frozen=True)
class Goal:
    """A limit in words and as a test of a finished row; `at` is the size it speaks of, if not the largest."""

    text: str
    met: Callable[[Row], bool]
    at: int | None = None


@dataclass(frozen=True)
class Published:
    """A peer that cannot be run here: its seconds measured apart, the size they hold for, and how."""

    seconds: float
    size: int
    source: str


@dataclass(frozen=True, kw_only=True)
class Work:
    """One line of the table.

    `prepare` makes the input of a size and is not timed; `ours` and `peer` get it and return their answers;
    `same` says whether the answers agree. A peer that takes too long above `peer_limit` is extrapolated by
    `peer_growth`, and marked so. `remains` is said where a goal is missed.
    """

    name: str
    sizes: Mapping[str, tuple[int, ...]]
    ours: Callable[[Any], Any]
    prepare: Callable[[int], Any] = lambda size: size
    unit: str = "rows"
    peer: Callable[[Any], Any] | None = None
    peer_name: str = ""
    peer_needs: str | None = None
    peer_limit: int | None = None
    peer_growth: float | None = None
    published: Published | None = None
    goal: Goal | None = None
    same: Callable[[Any, Any], bool] = field(default=lambda ours, peer: close(ours, peer))
    figures: Callable[[Any], Mapping[str, Any]] = lambda answer: {}
    meter: Meter = PROCESS
    remains: str = ""

    def asks_peer(self, size: int) -> bool:
        return self.peer is not None and (self.peer_limit is None or size <= self.peer_limit)


def at_most(ratio: float, *, at: int | None = None) -> Goal:
    """No more than so many times the peer's cost."""
    times = f"<= {ratio:g}x" if ratio >= 0.1 else f">= {1 / ratio:,.0f}x faster"
    return Goal(times, lambda row: row["ratio"] is not None and row["ratio"] <= ratio, at)


def within(seconds: float) -> Goal:
    """No longer than so many seconds at the largest size."""
    return Goal(f"<= {seconds:g} s", lambda row: row["seconds"] <= seconds)


def more_than_peer(seconds: float) -> Goal:
    return Goal(f"< {seconds:g} s more", lambda row: row["seconds"] - row["peer_seconds"] < seconds)


def figure(name: str, limit: float, *, text: str, seconds: float = np.inf) -> Goal:
    """A measured figure no greater than a limit, in no more than so many seconds."""
    return Goal(text, lambda row: row["figures"][name] <= limit and row["seconds"] <= seconds)


def close(ours: Any, peer: Any) -> bool:
    """Equal but for the last digits."""
    return bool(np.allclose(ours, peer, rtol=1e-9))
