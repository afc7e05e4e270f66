"""How hierarchies are made: from intervals, prefixes, dates or categories, or from a TOML table.

    [hierarchy.age]                     [hierarchy.education]
    intervals = [5, 10, 20]             file = "education.csv"

    [hierarchy.zip]                     [hierarchy.workclass.categories]
    prefixes = [3, 1]                   Government = ["State-gov", "Federal-gov"]

    [hierarchy.visit]                   [hierarchy.sex]
    dates = ["month", "year"]           flat = true
    format = "%d/%m/%Y"                 (beside dates, for text that is not 2026-01-31)

Intervals, prefixes and dates are published in a form that reads back without the hierarchy.
"""

from __future__ import annotations

import calendar
import datetime as dt
import itertools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from sudare.data.roles import load_toml
from sudare.data.values.hierarchies import ROOT, Hierarchy, Label
from sudare.data.values.recoded import interval, plain
from sudare.errors import DataError, UsageError, nearest

Spec = Mapping[str, Any]
KINDS = ("intervals", "prefixes", "dates", "categories", "file", "flat")
OPTIONS = ("origin", "format")


def intervals(values: Iterable[Any], widths: Sequence[float], *, origin: float = 0) -> Hierarchy:
    """Ever wider intervals that begin at `origin`; every width divides the next.

    >>> intervals([17, 18, 42], [5, 10]).paths()[0]
    ('17', '[15-19]', '[10-19]', '*')
    """
    ordered = _check_widths(widths)
    if not _is_number(origin):
        raise UsageError("intervals: origin is a number, e.g. 0")
    numbers = [value for value in _distinct(values) if value is not None]
    if not all(isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in numbers):
        raise UsageError("intervals: the column is not numeric; use prefixes, dates, categories or flat")
    if not all(math.isfinite(value) for value in numbers):
        raise DataError("intervals: the column holds infinite values; make them missing first")
    whole = all(float(value).is_integer() for value in [*numbers, *ordered, origin])
    rows = [
        (plain(value), *(_span(value, width, origin, whole) for width in ordered), ROOT) for value in numbers
    ]
    return _with_missing(rows, values)


def prefixes(values: Iterable[Any], keep: Sequence[int]) -> Hierarchy:
    """Texts of which ever fewer first characters stay; each star stands for one hidden character.

    >>> prefixes(["81667", "81925"], [3, 2]).paths()[0]
    ('81667', '816**', '81***', '*')
    """
    counts = keep if isinstance(keep, list | tuple) else ()
    numbers = all(isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in counts)
    if not counts or not numbers or list(counts) != sorted(set(counts), reverse=True):
        raise UsageError("prefixes: give how many characters stay, falling, e.g. [3, 2, 1]")
    texts = [str(plain(value)) for value in _distinct(values) if value is not None]
    longest = max((len(text) for text in texts), default=0)
    rows = [(text, *(text[:n] + "*" * (len(text) - n) for n in keep if n < longest), ROOT) for text in texts]
    return _with_missing(rows, values)


def dates(values: Iterable[Any], levels: Sequence[str], *, format: str | None = None) -> Hierarchy:
    """Days in ever longer calendar periods: month, quarter, half, year, decade.

    Text is read as 2026-01-31 (a time may follow), or by `format` in the letters of strptime: 01/02/2020 is never
    guessed at, and times of several zones have no common day.

    >>> dates(["2011-02-07"], ["month", "year"]).paths()[0]
    ('2011-02-07', '[2011-02-01-2011-02-28]', '[2011-01-01-2011-12-31]', '*')
    """
    if not isinstance(levels, list | tuple):
        raise UsageError('dates: give a list of levels, e.g. ["month", "year"]')
    for level in levels:
        if not isinstance(level, str) or level not in PERIODS:
            raise UsageError(f"dates: unknown level '{level}'; {nearest(str(level), PERIODS)}")
    known = [value for value in _distinct(values) if value is not None]
    _check_zones(known)
    days = [_day(value, format) for value in known]
    rows = [(plain(v), *(_period(day, level) for level in levels), ROOT) for v, day in zip(known, days)]
    return _with_missing(rows, values)


def categories(tree: Mapping[str, Any]) -> Hierarchy:
    """Named groups, nested as deep as needed; a group that ends early keeps its name on the levels above.

    >>> categories({"gov": ["state", "federal"], "private": ["inc"]}).paths()[0]
    ('state', 'gov', '*')
    """
    paths = list(_walk(tree, ()))
    depth = max((len(path) for path in paths), default=0)
    return Hierarchy.from_paths([(*path, *[path[-1]] * (depth - len(path)), ROOT) for path in paths])


def from_spec(spec: Spec, values: Iterable[Any], *, folder: str | Path = ".") -> Hierarchy:
    """The hierarchy that a TOML table describes, over the values of a column.

    >>> from_spec({"flat": True}, ["m", "f"]).levels
    2
    """
    if not isinstance(spec, Mapping):
        raise UsageError("a hierarchy is a table, e.g. { intervals = [5, 10] }, or the name of a file")
    kinds = [kind for kind in KINDS if kind in spec]
    unknown = [key for key in spec if key not in (*KINDS, *OPTIONS)]
    if unknown:
        raise UsageError(f"a hierarchy has no '{unknown[0]}'; {nearest(str(unknown[0]), [*KINDS, *OPTIONS])}")
    if len(kinds) != 1:
        raise UsageError(f"a hierarchy needs exactly one of: {', '.join(KINDS)}")
    kind, given = kinds[0], spec[kinds[0]]
    known = _distinct(values)
    if kind == "intervals":
        return intervals(known, given, origin=spec.get("origin", 0))
    if kind == "file" and not isinstance(given, str):
        raise UsageError("file: give the path of a CSV")
    if kind == "file":
        return _covering(Hierarchy.from_csv(Path(folder) / given), known)
    if kind == "categories":
        return _covering(categories(given), known)
    if kind == "flat":
        return Hierarchy.flat([plain(value) for value in known])
    return prefixes(known, given) if kind == "prefixes" else dates(known, given, format=spec.get("format"))


def read_specs(path: str | Path) -> dict[str, Spec]:
    """The `[hierarchy.<column>]` tables of a `sudare.toml`."""
    table = load_toml(path).get("hierarchy", {})
    if not isinstance(table, dict):
        raise UsageError(f"{path}: [hierarchy] holds a table per column, e.g. [hierarchy.age]")
    wrong = [name for name, spec in table.items() if not isinstance(spec, dict)]
    if wrong:
        raise UsageError(f"{path}: [hierarchy] {', '.join(wrong)}: give a table, e.g. intervals = [5, 10]")
    return dict(table)


def _covering(hierarchy: Hierarchy, values: Sequence[Any]) -> Hierarchy:
    """Missing values of the column get a leaf; unknown values are an error."""
    covered = hierarchy.with_missing() if None in values else hierarchy
    covered.codes(pa.array([plain(value) for value in values], pa.string()))
    return covered


def _walk(tree: Mapping[str, Any] | Sequence[Any], above: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    if isinstance(tree, Mapping):
        for name, below in tree.items():
            yield from _walk(below, (name, *above))
    elif isinstance(tree, Sequence) and not isinstance(tree, str):
        yield from ((str(plain(leaf)), *above) for leaf in tree if not isinstance(leaf, list | dict))
    else:
        raise UsageError("categories: give groups as lists of values or as groups of groups")


def _check_widths(widths: Sequence[float]) -> list[float]:
    ordered = list(widths) if isinstance(widths, Sequence) and not isinstance(widths, str) else []
    if not ordered or not all(_is_number(width) for width in ordered) or min(ordered) <= 0:
        raise UsageError("intervals: give rising widths, e.g. [5, 10, 20]")
    for narrow, wide in itertools.pairwise(ordered):
        times = wide / narrow
        if wide <= narrow or not math.isclose(times, round(times), rel_tol=1e-9):
            raise UsageError(
                f"intervals: width {narrow} does not divide {wide}; give multiples, e.g. [5, 10, 20]"
            )
    return ordered


def _span(value: Any, width: float, origin: float, whole: bool) -> str:
    """The interval that holds the value; the upper end of a fraction belongs to the next one."""
    if whole:
        begin = int(origin) + (int(value) - int(origin)) // int(width) * int(width)
        return interval(begin, begin + int(width) - 1)
    low = origin + math.floor((float(value) - origin) / width) * width
    return interval(float(f"{low:.12g}"), float(f"{low + width:.12g}"))


def _month_end(year: int, month: int) -> dt.date:
    return dt.date(year, month, calendar.monthrange(year, month)[1])


def _months(step: int) -> Callable[[dt.date], tuple[dt.date, dt.date]]:
    def period(day: dt.date) -> tuple[dt.date, dt.date]:
        first = (day.month - 1) // step * step + 1
        return dt.date(day.year, first, 1), _month_end(day.year, first + step - 1)

    return period


def _decade(day: dt.date) -> tuple[dt.date, dt.date]:
    first = max(day.year // 10 * 10, 1)
    return dt.date(first, 1, 1), dt.date(day.year // 10 * 10 + 9, 12, 31)


PERIODS: dict[str, Callable[[dt.date], tuple[dt.date, dt.date]]] = {
    "month": _months(1),
    "quarter": _months(3),
    "half": _months(6),
    "year": _months(12),
    "decade": _decade,
}


def _period(day: dt.date, level: str) -> str:
    return interval(*PERIODS[level](day))


def _day(value: Any, format: str | None = None) -> dt.date:
    if isinstance(value, dt.datetime):
        return value.date()
    if isinstance(value, dt.date):
        return value
    try:
        if format is not None:
            return dt.datetime.strptime(str(value), format).date()
        return dt.date.fromisoformat(str(value)[:10])
    except (ValueError, TypeError):
        raise UsageError(
            "dates: the values are not all of "
            + ("the form 2026-01-31" if format is None else f"the format {format!r}")
            + '; say their format beside dates, e.g. format = "%d/%m/%Y"'
        ) from None


def _check_zones(values: Iterable[Any]) -> None:
    """The same moment is two days in two zones: text of several zones is refused."""
    ends = (re.search(r"\d:\d\d(?::\d\d(?:\.\d+)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?$", str(v)) for v in values)
    zones = {(found[1] or "none").replace(":", "") for found in ends if found}
    if len({"+0000" if zone in ("Z", "+00") else zone for zone in zones}) > 1:
        raise DataError("dates: the values have more than one time zone; bring them to one first")


def _distinct(values: Iterable[Any]) -> list[Any]:
    """Distinct values in order, the missing value (None, NaN) last."""
    listed = values.to_pylist() if isinstance(values, pa.Array | pa.ChunkedArray) else list(values)
    if any(isinstance(value, list | dict) for value in listed):
        raise UsageError("a column of sets has no hierarchy; generalise before values are put into sets")
    known = {value for value in listed if value is not None and value == value}
    missing = [None] if any(value is None or value != value for value in listed) else []
    return [*sorted(known), *missing]


def _with_missing(rows: Sequence[tuple[Label, ...]], values: Iterable[Any]) -> Hierarchy:
    missing = None in _distinct(values)
    if not rows and missing:
        return Hierarchy.flat([None])
    hierarchy = Hierarchy.from_paths(rows)
    return hierarchy.with_missing() if missing else hierarchy


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
