"""Budgets: a time that people give, as an amount of work, so that the same call gives the same answer everywhere."""

from __future__ import annotations

import re

from sudare.errors import UsageError

DEFAULT = 60.0  # seconds
PER_SECOND = 5e8  # units of work: one look-up for one column of one pair of rows, on one slow core
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|)")
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


def seconds_of(budget: float | str | None) -> float:
    """A budget in seconds: `90`, `"90s"`, `"10m"`, `"1h"`; None is a minute.

    >>> seconds_of("10m"), seconds_of(None)
    (600.0, 60.0)
    """
    if budget is None:
        return DEFAULT
    found = _TIME.fullmatch(budget.strip().lower()) if isinstance(budget, str) else None
    seconds = (
        float(found[1]) * _UNITS[found[2]] if found else float(budget) if not isinstance(budget, str) else 0.0
    )
    if not 0 < seconds < float("inf"):
        raise UsageError("budget: give a time above 0, such as 60s or 10m, or a number of seconds")
    return seconds


def work_of(budget: float | str | None) -> float:
    """The amount of work that a budget pays for.

    >>> work_of("2s") == 2 * PER_SECOND
    True
    """
    return seconds_of(budget) * PER_SECOND
