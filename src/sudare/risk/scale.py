"""Values on a scale: numbers as they are, times and dates in seconds."""

from __future__ import annotations

import datetime as dt
import math
import re
from decimal import Decimal
from typing import Any

from sudare.errors import DataError, UsageError

_TIME = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?")
_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ](.+))?")
_WIDTH = re.compile(r"(\d+(?:\.\d+)?)\s*(s|sec|min|m|h|d|w)?")
_SECONDS = {None: 1, "s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def as_number(value: Any) -> float:
    """A number, a time in seconds of the day, or a date in seconds since 1970; texts are read as one of them.

    >>> as_number("8:45"), as_number("1970/1/2"), as_number("2.5"), as_number(7)
    (31500.0, 86400.0, 2.5, 7.0)
    """
    if isinstance(value, dt.datetime):
        return (value.replace(tzinfo=None) - dt.datetime(1970, 1, 1)).total_seconds()
    if isinstance(value, dt.date):
        return (value - dt.date(1970, 1, 1)).days * 86400.0
    if isinstance(value, dt.time):
        return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
    if isinstance(value, str):
        return _from_text(value.strip())
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    raise _no_scale()


def as_width(text: str, where: str) -> float:
    """A width: a plain number, or seconds from 30s, 15min, 1h, 2d, 1w.

    >>> as_width("1h", "within:1h"), as_width("2.5", "within:2.5")
    (3600.0, 2.5)
    """
    found = _WIDTH.fullmatch(text.strip())
    if not found or float(found[1]) == 0:
        raise UsageError(f"channel '{where}': write a width above 0, e.g. 5, 30min, 1h, 2d")
    return float(found[1]) * _SECONDS[found[2]]


def _from_text(text: str) -> float:
    if found := _TIME.fullmatch(text):
        return int(found[1]) * 3600 + int(found[2]) * 60 + float(found[3] or 0)
    if found := _DATE.fullmatch(text):
        try:
            day = dt.date(int(found[1]), int(found[2]), int(found[3]))
        except ValueError:
            raise _no_scale() from None
        return as_number(day) + (_from_text(found[4]) if found[4] else 0)
    try:
        number = float(text)
    except ValueError:
        raise _no_scale() from None
    if not math.isfinite(number):
        raise _no_scale()
    return number


def _no_scale() -> DataError:
    return DataError(
        "a value is neither a number nor a time nor a date; use this channel on another attribute"
    )
