"""How the report writes numbers: short, but never so short that a limit's side is lost."""

from __future__ import annotations

import math
from typing import Any

from sudare.results import show


class Capped(float):
    """A number of which outsiders learn only a bound: its value is the bound, its text says on which side it is.

    >>> written(Capped(0.025, "below"), "share")
    'below 2.5%'
    """

    side: str

    def __new__(cls, value: float, side: str = "below") -> Capped:
        made = super().__new__(cls, value)
        made.side = side
        return made


def written(value: Any, format: str = "text") -> str:
    """A cell as text, by the format of its column.

    >>> written(38087, "count"), written(0.18599, "share"), written(0.0000421, "number"), written(None)
    ('38,087', '18.6%', '0.0000421', '')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, Capped):
        return f"{value.side} {written(float(value), format)}"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return show(value)
    if format == "share":
        return percent(float(value))
    if format == "count":
        return f"{value:,.0f}"
    return show(value) if isinstance(value, int) else decimal(float(value))


def percent(value: float) -> str:
    """
    >>> percent(0.5), percent(0.993), percent(0.00254), percent(0.99996), percent(0.0), percent(1.0)
    ('50%', '99.3%', '0.25%', '99.996%', '0%', '100%')
    """
    scaled = 100 * value
    edge = min(abs(scaled), abs(100 - scaled))
    digits = 1 if edge >= 0.95 or edge == 0 else min(7, 1 - math.floor(math.log10(edge)))
    text = f"{scaled:.{digits}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + "%"


def decimal(value: float) -> str:
    """
    >>> decimal(0.18599), decimal(1234567.8), decimal(12.0), decimal(3.1e-9)
    ('0.186', '1,234,568', '12', '3.1e-09')
    """
    if not math.isfinite(value):
        return "∞" if value > 0 else "-∞"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) < 1e-6:
        return f"{value:.3g}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}".rstrip("0").rstrip(".")


def beside(value: float, limit: float, format: str = "number") -> str:
    """A number beside its limit, with as many digits as it takes to see on which side it lies.

    >>> beside(0.0499999, 0.05), beside(0.0500001, 0.05), beside(0.09, 0.09), beside(0.31, 0.2)
    ('0.0499999', '0.0500001', '0.09', '0.31')
    """
    scale = 100 if format == "share" else 1
    usual = written(value, format)
    if value == limit or _apart(usual, value, limit, scale):
        return usual
    for digits in range(2, 17):
        text = f"{scale * value:.{digits}f}"
        if (float(text) < scale * limit) == (value < limit) and float(text) != scale * limit:
            return text + ("%" if scale == 100 else "")
    return repr(value)


def _apart(text: str, value: float, limit: float, scale: int) -> bool:
    try:
        read = float(text.rstrip("%").replace(",", ""))
    except ValueError:
        return True
    return read != scale * limit and (read < scale * limit) == (value < limit)
