"""Figures of a report, from the charts of results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sudare.errors import SudareError
from sudare.report.document import Figure
from sudare.report.pictures import picture


def drawn(result: Any, name: str, title: str, alt: str) -> tuple[Figure, ...]:
    """The result's chart as a figure; nothing where the result has no picture."""
    return figure(result.chart, name, title, alt)


def figure(make: Callable[[], Any], name: str, title: str, alt: str) -> tuple[Figure, ...]:
    """A chart that a function makes; nothing where it says that there is nothing to draw."""
    try:
        chart = make()
    except SudareError:
        return ()
    return (Figure(picture(chart, name), title, alt),)
