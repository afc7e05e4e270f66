"""Best of three, peak memory, the ratio, and how cost grows."""

from __future__ import annotations

import gc
import importlib.util
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.meters import Meter
from benchmarks.work import Row, Work

RUNS, PATIENCE = 3, 8.0


@dataclass(frozen=True)
class Timed:
    """The cheapest of some runs, the peak over all of them, and what the last one gave."""

    seconds: float
    peak_mb: int
    runs: int
    answer: Any


def best(task: Callable[[], Any], meter: Meter, least: int = 1) -> Timed:
    """Best of three; no further run when those done took more than eight seconds in all, but never fewer than
    `least`: the first run of a process compiles.
    """
    gc.collect()
    meter.reset()
    begin, costs, answer = time.perf_counter(), [], None
    while len(costs) < least or (len(costs) < RUNS and time.perf_counter() - begin < PATIENCE):
        answer = None
        before = meter.now()
        answer = task()
        costs.append(meter.now() - before)
    return Timed(min(costs), meter.peak(), len(costs), answer)


def rows(work: Work, size: str) -> Iterator[Row]:
    """The rows of a work, smallest size first (which warms both sides); growth is that of the rows so far."""
    points: list[tuple[int, float]] = []
    known: tuple[int, float] | None = None
    for n in work.sizes[size]:
        row, known = measure(work, n, known)
        points.append((n, row["seconds"]))
        yield row | {"growth": growth(points)}


def measure(work: Work, n: int, known: tuple[int, float] | None) -> tuple[Row, tuple[int, float] | None]:
    """One row, and the largest size the peer was run at so far with its seconds."""
    data = work.prepare(n)
    least = 2 if n in (sizes[0] for sizes in work.sizes.values()) else 1
    ours = best(lambda: work.ours(data), work.meter, least)
    found = row(work, n, ours)
    if work.asks_peer(n) and installed(work.peer_needs):
        peer_side = work.peer
        assert peer_side is not None
        peer = best(lambda: peer_side(data), work.meter, least)
        known = (n, peer.seconds)
        found |= {
            "peer_seconds": peer.seconds,
            "peer_mb": peer.peak_mb,
            "peer_runs": peer.runs,
            "peer_kind": "measured",
        }
        found["same"] = bool(work.same(ours.answer, peer.answer))
    elif known and work.peer_growth:
        found |= {"peer_seconds": known[1] * (n / known[0]) ** work.peer_growth, "peer_kind": "extrapolated"}
    elif work.published and work.published.size == n:
        found |= {"peer_seconds": work.published.seconds, "peer_kind": "published"}
    if found["peer_seconds"]:
        found["ratio"] = found["seconds"] / found["peer_seconds"]
    return found, known


def row(work: Work, n: int, ours: Timed) -> Row:
    """A row with our side filled in."""
    return {
        "work": work.name,
        "size": n,
        "unit": work.unit,
        "clock": work.meter.name,
        "seconds": ours.seconds,
        "peak_mb": ours.peak_mb,
        "runs": ours.runs,
        "figures": dict(work.figures(ours.answer)),
        "peer": work.peer_name,
        "peer_seconds": None,
        "peer_kind": None if installed(work.peer_needs) else "absent",
        "ratio": None,
        "load": round(os.getloadavg()[0], 1),
    }


def growth(points: list[tuple[int, float]]) -> float | None:
    """The exponent of a power law through sizes and seconds: 1 is linear.

    >>> growth([(10, 2.0), (100, 20.0), (1000, 200.0)])
    1.0
    """
    if len({size for size, _ in points}) < 2:
        return None
    sizes, seconds = np.log(np.array([(n, max(s, 1e-4)) for n, s in points], float)).T
    return round(float(np.polyfit(sizes, seconds, 1)[0]), 2)


def installed(package: str | None) -> bool:
    return package is None or importlib.util.find_spec(package) is not None
