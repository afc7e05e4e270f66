"""The report as a document: sections of facts, tables, figures and words, before any markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Audience = Literal["internal", "external"]
Tone = Literal["pass", "fail", "warn", "plain"]


@dataclass(frozen=True)
class Words:
    """A paragraph."""

    text: str
    tone: Tone = "plain"
    kind: str = "words"


@dataclass(frozen=True)
class Points:
    """A list of short statements."""

    items: tuple[str, ...]
    kind: str = "points"


@dataclass(frozen=True)
class Facts:
    """Names and what they are."""

    pairs: tuple[tuple[str, Any], ...]
    kind: str = "facts"


@dataclass(frozen=True)
class Column:
    """A column of a table: its key in the rows, its heading, and how its cells are shown.

    Formats: text, count (of people or records), share (of people or records), number, code.
    """

    key: str
    title: str
    format: str = "text"
    help: str = ""


@dataclass(frozen=True)
class Table:
    """Rows under a caption."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Any], ...]
    kind: str = "table"


@dataclass(frozen=True)
class Figure:
    """A static picture with the words that replace it for who cannot see it."""

    svg: str
    title: str
    alt: str
    kind: str = "figure"


@dataclass(frozen=True)
class Code:
    """Lines to copy."""

    text: str
    label: str
    kind: str = "code"


@dataclass(frozen=True)
class Lines:
    """Empty lines to be filled in by hand."""

    labels: tuple[str, ...]
    kind: str = "lines"


@dataclass(frozen=True)
class Tabs:
    """Blocks of which one is shown at a time; without a script they stand below each other."""

    tabs: tuple[tuple[str, tuple[Block, ...]], ...]
    kind: str = "tabs"


Block = Words | Points | Facts | Table | Figure | Code | Lines | Tabs


@dataclass(frozen=True)
class Section:
    """A heading, a sentence that says what it shows, and blocks."""

    id: str
    title: str
    lead: str
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class KeyFigure:
    """A number that stands out: what it is, the number, what to hold it against."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Verdict:
    """The first thing a reader sees."""

    tone: Tone
    headline: str
    reasons: tuple[str, ...] = ()
    figures: tuple[KeyFigure, ...] = ()


@dataclass(frozen=True)
class Document:
    """The whole report."""

    title: str
    subtitle: str
    audience: Audience
    verdict: Verdict
    sections: tuple[Section, ...]
    meta: Mapping[str, Any] = field(default_factory=dict)


def columns(*given: str | tuple[str, ...] | Column) -> tuple[Column, ...]:
    """Columns in short: `"k"`, `("risk", "risk", "number")`."""
    return tuple(
        c if isinstance(c, Column) else Column(c, c) if isinstance(c, str) else Column(*c) for c in given
    )


def present(rows: Sequence[Mapping[str, Any]], wanted: Sequence[Column]) -> tuple[Column, ...]:
    """The columns of which some row has a value."""
    return tuple(c for c in wanted if any(row.get(c.key) is not None for row in rows))
