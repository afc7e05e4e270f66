"""How cost is read: CPU seconds and peak memory of this process, or of it and everything below it."""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
PROC = Path("/proc")


@dataclass(frozen=True)
class Meter:
    """A clock in seconds, with its name, and a peak in MB since the last reset."""

    name: str
    now: Callable[[], float]
    peak: Callable[[], int]

    def reset(self) -> None:
        """Forget the peak so far (Linux); elsewhere it is the peak of the process's life."""
        with contextlib.suppress(OSError):
            (PROC / "self" / "clear_refs").write_text("5")


def process_peak() -> int:
    return _high_water(os.getpid()) or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // _kilo()


def children_cpu() -> float:
    """CPU seconds of the processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def tree_cpu() -> float:
    """CPU seconds of this process, its living descendants, and the ended ones that were waited for."""
    return sum(sum(map(int, fields[11:15])) for fields in map(_stat, _tree()) if fields) / TICKS


def tree_peak() -> int:
    return sum(map(_high_water, _tree()))


PROCESS = Meter("CPU", time.process_time, process_peak)
TREE = Meter("CPU, all processes", tree_cpu, tree_peak)
# no peak: what the system tells of an ended process begins with the peak of the one that started it
CHILDREN = Meter("CPU of the started process", children_cpu, lambda: 0)


def _kilo() -> int:
    return 1024 if sys.platform.startswith("linux") else 1024 * 1024


def _high_water(process: int) -> int:
    with contextlib.suppress(OSError):
        for line in (PROC / str(process) / "status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) // 1024
    return 0


def _stat(process: int) -> list[str]:
    """The fields behind the name in /proc/PID/stat; the parent is the second."""
    with contextlib.suppress(OSError):
        return (PROC / str(process) / "stat").read_text().rsplit(")", 1)[1].split()
    return []


def _tree() -> Iterator[int]:
    children: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    queue = [os.getpid()]
    while queue:
        process = queue.pop()
        yield process
        queue += children.get(process, [])
