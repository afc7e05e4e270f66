"""A document as Markdown and as plain dictionaries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sudare.report.document import Block, Code, Document, Facts, Figure, Lines, Points, Table, Tabs, Words
from sudare.report.numbers import Capped, written
from sudare.results import in_markdown, plain
from sudare.version import __version__


def to_markdown(document: Document) -> str:
    """The report as Markdown: the same words and tables, without pictures."""
    parts = [f"# {text(document.title)}", text(document.subtitle), f"## {text(document.verdict.headline)}"]
    figures = (f"{f.label}: {f.value}" + (f" ({f.note})" if f.note else "") for f in document.verdict.figures)
    parts += [_points(figures), _points(document.verdict.reasons)]
    for section in document.sections:
        parts += [f"## {text(section.title)}", text(section.lead), *(_block(b) for b in section.blocks)]
    return "\n\n".join(part for part in parts if part) + "\n"


def to_dict(document: Document) -> dict[str, Any]:
    """The report as data: sections with their tables' rows; numbers stay numbers, bounds become text."""
    return {
        "command": "report",
        "version": __version__,
        "title": document.title,
        "audience": document.audience,
        "verdict": {
            "tone": document.verdict.tone,
            "headline": document.verdict.headline,
            "reasons": list(document.verdict.reasons),
            "figures": [vars(figure) for figure in document.verdict.figures],
        },
        "sections": [
            {"id": s.id, "title": s.title, "lead": s.lead, "blocks": [d for b in s.blocks for d in _data(b)]}
            for s in document.sections
        ],
        **plain(dict(document.meta)),
    }


def text(value: str) -> str:
    """Text in which Markdown and HTML mean nothing.

    >>> text("<b>a|b</b> *c*")
    '&lt;b&gt;a\\\\|b&lt;/b&gt; \\\\*c\\\\*'
    """
    return in_markdown(" ".join(str(value).split()))


def _block(block: Block) -> str:
    match block:
        case Words():
            return text(block.text)
        case Points():
            return _points(block.items)
        case Facts():
            return _points(f"{name}: {written(value)}" for name, value in block.pairs)
        case Table():
            return _table(block)
        case Figure():
            return f"*{text(block.title)}.* {text(block.alt)}"
        case Code():
            return f"{text(block.label)}\n\n{_indented(block.text)}"
        case Lines():
            return _points(f"{label}: ____________" for label in block.labels)
        case Tabs():
            return "\n\n".join(
                f"### {text(title)}\n\n" + "\n\n".join(map(_block, inner)) for title, inner in block.tabs
            )


def _points(items: Iterable[str]) -> str:
    return "\n".join(f"- {text(item)}" for item in items)


def _indented(code: str) -> str:
    return "\n".join("    " + line for line in code.splitlines())


def _table(block: Table) -> str:
    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    rule = ["---:" if c.format in ("count", "share", "number") else "---" for c in block.columns]
    rows = [line(text(written(row.get(c.key), c.format)) for c in block.columns) for row in block.rows]
    return "\n".join(
        [f"{text(block.caption)}\n", line(text(c.title) for c in block.columns), line(rule), *rows]
    )


def _data(block: Block) -> list[dict[str, Any]]:
    match block:
        case Tabs():
            return [found for _, inner in block.tabs for each in inner for found in _data(each)]
        case Table():
            rows = [{c.key: _cell(row.get(c.key), c.format) for c in block.columns} for row in block.rows]
            return [{"kind": "table", "caption": block.caption, "rows": rows}]
        case Facts():
            return [{"kind": "facts", "facts": {name: _cell(value, "text") for name, value in block.pairs}}]
        case _:
            return [{name: plain(value) for name, value in vars(block).items() if name != "svg"}]


def _cell(value: Any, format: str) -> Any:
    return written(value, format) if isinstance(value, Capped) else plain(value)
