"""Values on a line: numbers, times, dates, and the widths between them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from sudare.errors import DataError
from sudare.risk.scale import as_number, as_width

DAY = 86_400


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (dt.date(1970, 1, 3), 2 * DAY),
        (dt.datetime(1970, 1, 2, 1, 2, 3, 500_000), DAY + 3723.5),
        (dt.time(1, 2, 3, 500_000), 3723.5),
        ("1:02", 3720),
        ("1:02:03.5", 3723.5),
        ("1970-1-2T01:02", DAY + 3720),
        ("1970/1/2", DAY),
        (" 2.5 ", 2.5),
        (Decimal("2.5"), 2.5),
        (-7, -7),
    ],
)
def test_a_value_has_its_place(value, number):
    assert as_number(value) == number


@pytest.mark.parametrize("value", [True, float("inf"), "inf", "nan", "1970-13-1", "blue", None, ["1"]])
def test_what_has_no_place_is_refused(value):
    with pytest.raises(DataError):
        as_number(value)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5", 5),
        ("30s", 30),
        ("30sec", 30),
        ("2m", 120),
        ("2min", 120),
        ("3h", 10_800),
        ("2d", 2 * DAY),
        ("1w", 7 * DAY),
    ],
)
def test_a_width_has_its_unit(text, seconds):
    assert as_width(text, "within") == seconds
