"""The measures of statistical disclosure control: how well the people of a table hide behind each other."""

from __future__ import annotations

from sudare.risk.disclosure.measure import disclosure
from sudare.risk.disclosure.result import DisclosureResult

__all__ = ["DisclosureResult", "disclosure"]
