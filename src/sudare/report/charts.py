"""Figures of a report, from the charts of results."""

from __future__ import annotations

from typing import Any

from sudare.errors import SudareError
from sudare.report.document import Figure
from sudare.report.pictures import picture


def drawn(result: Any, name: str, title: str, alt: str) -> tuple[Figure, ...]:
    """The result's chart as a figure; nothing where the result has no picture."""
    try:
        chart = result.chart()
    except SudareError:
        return ()
    return (Figure(picture(chart, name), title, alt),)
