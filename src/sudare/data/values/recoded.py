"""Published values that stand for several: how they are written and how they are read back.

    [20-29]     an interval, both ends included; the ends are numbers, ISO dates or times
    {a, "b,c"}  a set of values, sorted; a member with , { } " \\ or outer blanks, empty, or spelled
                null is quoted as in JSON; the bare word null is the missing value
    816**       a starred text: every star of the tail stands for exactly one character
    *           suppressed: any value

Everything else is a plain value and stands for itself. An interval or a set of one value is written
as that value. Labels of a hierarchy ("Higher education") need the hierarchy: see `consistent`.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real

SUPPRESSED = "*"

End = float | int | dt.date | dt.datetime

_NUMBER = r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_DATE = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?"
_INTERVAL = re.compile(rf"\[({_DATE})-({_DATE})\]|\[({_NUMBER})-({_NUMBER})\]")
_BARE = re.compile(rf"({_NUMBER})\s*-\s*({_NUMBER})")
_STARRED = re.compile(r"([^*]+)(\*+)")
_MEMBER = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^,{}"]*?)\s*(,|$)')


@dataclass(frozen=True)
class Interval:
    """All values from low to high, both included."""

    low: End
    high: End

    def holds(self, value: object) -> bool:
        end = comparable(value, self.low)
        return end is not None and self.low <= end <= self.high  # type: ignore[operator]


@dataclass(frozen=True)
class ValueSet:
    """One of these values; members are texts, None is the missing value."""

    members: frozenset[str | None]

    def holds(self, value: object) -> bool:
        return plain(value) in self.members


@dataclass(frozen=True)
class Starred:
    """A text of known length of which only the beginning is published."""

    prefix: str
    stars: int

    def holds(self, value: object) -> bool:
        text = plain(value)
        return (
            text is not None and len(text) == len(self.prefix) + self.stars and text.startswith(self.prefix)
        )


@dataclass(frozen=True)
class Anything:
    """A suppressed cell."""

    def holds(self, value: object) -> bool:
        return True


@dataclass(frozen=True)
class Exactly:
    """A plain value; None is the missing value."""

    text: str | None

    def holds(self, value: object) -> bool:
        return plain(value) == self.text


Recoded = Interval | ValueSet | Starred | Anything | Exactly


def interval(low: End, high: End) -> str:
    """Write the interval from low to high.

    >>> interval(20, 29), interval(-5, -1.5), interval(7, 7)
    ('[20-29]', '[-5--1.5]', '7')
    """
    first, last = plain(low), plain(high)
    return f"{first}" if first == last else f"[{first}-{last}]"


def value_set(values: Iterable[object]) -> str:
    """Write a set of values, sorted (numbers by size, then texts, the missing value last).

    >>> value_set(["b", "a"]), value_set([10, 9]), value_set(["a"]), value_set(["x, y", None])
    ('{a, b}', '{9, 10}', 'a', '{"x, y", null}')
    """
    members = sorted(set(values), key=_rank)
    if len(members) == 1 and members[0] is not None:
        return str(plain(members[0]))
    return "{" + ", ".join(_quoted(plain(member)) for member in members) + "}"


def parse(text: str | None) -> Recoded:
    """Read a published value back.

    >>> parse("[20-29]")
    Interval(low=20, high=29)
    >>> sorted(parse("{a, b}").members)
    ['a', 'b']
    >>> parse("816**"), parse("*"), parse("White")
    (Starred(prefix='816', stars=2), Anything(), Exactly(text='White'))
    """
    if text is None:
        return Exactly(None)
    if text == SUPPRESSED:
        return Anything()
    if found := _INTERVAL.fullmatch(text):
        try:
            low, high = (_end(part) for part in found.groups() if part is not None)
            return Interval(low, high) if low <= high else Exactly(text)  # type: ignore[operator]
        except (ValueError, TypeError):  # no date, or a day and a time
            return Exactly(text)
    if text.startswith("{") and text.endswith("}"):
        members = _members(text[1:-1])
        return Exactly(text) if members is None else ValueSet(members)
    if found := _STARRED.fullmatch(text):
        return Starred(found[1], len(found[2]))
    return Exactly(text)


def consistent(
    published: object, value: object, nodes: Mapping[str, Collection[object]] | None = None
) -> bool:
    """Whether an original value may be behind a published one.

    `nodes` maps the labels of a hierarchy to the leaves below them. A bare "20-29" is read as an
    interval when the original value is a number.

    >>> consistent("[20-29]", 25), consistent("{a, b}", "c"), consistent("816**", "81675")
    (True, False, True)
    >>> consistent("Asia", "Japan", nodes={"Asia": {"Japan", "India"}})
    True
    """
    text = plain(published)
    if text == plain(value):
        return True
    if nodes is not None and text is not None and text in nodes:
        return plain(value) in {plain(leaf) for leaf in nodes[text]}
    return meaning_of(text, is_number(value)).holds(value)


def plain(value: object) -> str | None:
    """The text of a plain value; None and NaN are the missing value, 3.0 is written 3.

    >>> plain(3.0), plain(0.5), plain(None), plain("07")
    ('3', '0.5', None, '07')
    """
    if value is None or (isinstance(value, float) and value != value):
        return None
    if hasattr(value, "item"):  # a scalar of numpy
        return plain(value.item())
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, dt.datetime | dt.date):
        return value.isoformat()
    return str(value)


def meaning_of(text: str | None, numeric: bool) -> Recoded:
    """`parse`; among numbers a bare "20-29" is an interval too."""
    if numeric and text is not None and (found := _BARE.fullmatch(text)):
        return parse(f"[{found[1]}-{found[2]}]")
    return parse(text)


def _members(inner: str) -> frozenset[str | None] | None:
    """The members of a set, or None when the text is not a set after all."""
    members: set[str | None] = set()
    position = 0
    while True:
        found = _MEMBER.match(inner, position)
        if found is None:
            return None
        try:
            members.add(_unquoted(found[1]))
        except ValueError:
            return None
        if found[2] == "":
            return frozenset(members)
        position = found.end()


def _quoted(text: str | None) -> str:
    if text is None:
        return "null"
    bare = text == text.strip() and text not in ("", "null") and not set(text) & set(',{}"\\')
    return text if bare else json.dumps(text, ensure_ascii=False)


def _unquoted(text: str) -> str | None:
    if text.startswith('"'):
        return str(json.loads(text))
    if text == "":
        raise ValueError
    return None if text == "null" else text


def _end(text: str) -> End:
    if re.fullmatch(_DATE, text):
        return dt.date.fromisoformat(text) if len(text) == 10 else dt.datetime.fromisoformat(text)
    return int(text) if re.fullmatch(r"-?\d+", text) else float(text)


def comparable(value: object, like: End) -> End | None:
    """The value as something that can be compared with an end of the interval, else None."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(like, dt.date):
        return _moment(value, like)
    if is_number(value):
        return value if isinstance(value, int | float) else float(value)  # type: ignore[arg-type]
    if isinstance(value, str) and re.fullmatch(_NUMBER, value.strip()):
        return _end(value.strip())
    return None


def _moment(value: object, like: dt.date) -> End | None:
    if isinstance(value, str):
        if not re.fullmatch(_DATE, value):
            return None
        try:
            value = _end(value)
        except ValueError:
            return None
    if not isinstance(value, dt.date):
        return None
    if isinstance(like, dt.datetime):
        moment = value if isinstance(value, dt.datetime) else dt.datetime(*value.timetuple()[:3])
        return moment if (moment.tzinfo is None) == (like.tzinfo is None) else None
    return value.date() if isinstance(value, dt.datetime) else value


def is_number(value: object) -> bool:
    """Whether a value is a number: truth values are none."""
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)


def _rank(value: object) -> tuple[int, float, str]:
    if plain(value) is None:
        return (2, 0.0, "")
    if is_number(value):
        return (0, float(value), "")  # type: ignore[arg-type]
    return (1, 0.0, str(plain(value)))
