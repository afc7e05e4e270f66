"""Write the book: a page per paper with its figures, and a front page with the scorecard and the corrections."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from sudare.charts import svg
from sudare.data.files.writers import write_text
from sudare.errors import UsageError, nearest
from sudare.parameters import checked
from sudare.progress import stage
from sudare.reproduction.item import Item, Page, Row, tally
from sudare.results import Result

PAPERS = {"P1": "p1", "P2": "p2", "P3": "p3", "P4": "p4"}
SOURCES = {
    "P1": "S. Ito, H. Kikuchi, H. Nakagawa: *Attacker models with a variety of background knowledge to "
    "de-identified data*",
    "P2": "Y. Sei, A. Ohsuga: *Randomized addition of sensitive attributes for l-diversity*",
    "P3": "S. Ito, H. Kikuchi: *Estimation of cost of k-anonymity in the number of dummy records*",
    "P4": "S. Ito, H. Kikuchi: *Risk of re-identification based on Euclidean distance in anonymized data, PWSCUP2015*",
}
FRONT = (
    "Every table and figure of the four founding papers: the printed numbers, ours, the difference (ours less the "
    "printed number), and what it means. `sudare reproduce -o docs/reproduction` writes these pages from the public "
    "data; continuous integration runs it and fails when a number that must be equal is not."
)
MEANINGS = (
    "*equal*: the printed digits and ours are the same. *paper rounds*: ours, rounded or cut to the printed digits, is "
    "the printed number. *paper errs*: the printed number does not follow from its own definition, or a claim does not "
    "hold; the page says why. *data not public*: the table behind the number cannot be had; what stands in is named. "
    "*simulated*: a random experiment, compared within its error. *beyond the paper*: what the paper leaves open."
)
VERDICTS = ("equal", "paper rounds", "paper errs", "data not public", "simulated", "beyond the paper")


@dataclass(frozen=True, repr=False)
class Reproduction(Result):
    """The scorecard; `failed` names the numbers that had to come out and did not."""

    command: ClassVar[str] = "reproduce"
    failed: tuple[str, ...] = ()

    def extra(self) -> dict[str, Any]:
        return {"failed": list(self.failed)}


@checked
def reproduce(
    papers: Sequence[str] = tuple(PAPERS), *, out: str | os.PathLike[str] = "reproduction", full: bool = False
) -> Reproduction:
    """Recompute the papers' tables and figures from the folder of public data and write the pages to `out`.

    Without the data, what needs none is done, and what was skipped is listed. `full` runs every simulation at the
    papers' size.
    """
    for paper in papers:
        if paper not in PAPERS:
            raise UsageError(f"unknown paper '{paper}'; {nearest(paper, PAPERS)}")
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    pages = []
    for paper in papers:
        stage(f"reproduce {paper}")
        module = importlib.import_module(f"sudare.reproduction.{PAPERS[paper]}")
        page = module.page(full=full)
        _write_page(page, folder)
        pages.append(page)
    if len(pages) == len(PAPERS):
        write_text(_front(pages), folder / "index.md")
    return _scorecard(pages)


def _write_page(page: Page, folder: Path) -> None:
    parts = [f"# {page.paper}: {page.title}\n", f"{SOURCES[page.paper]}.\n"]
    for item in page.items:
        parts.append(_item_text(page, item))
        for name, chart in item.charts:
            write_text(svg(chart), folder / f"{page.paper.lower()}-{name}.svg")
    write_text("\n".join(parts), folder / f"{page.paper.lower()}.md")


def _item_text(page: Page, item: Item) -> str:
    lines = [f"## {item.name}\n", f"{item.sentence}\n"]
    if item.skipped:
        lines.append(f"Skipped here: {item.skipped}.\n")
    if item.grid:
        lines.append(_grid(item.grid))
    if item.rows:
        lines.append(_table(item.rows))
    lines += [
        f"![{_alt(item, name, chart)}]({page.paper.lower()}-{name}.svg)\n" for name, chart in item.charts
    ]
    return "\n".join(lines)


def _alt(item: Item, name: str, chart: Any) -> str:
    """Which figure of the paper it is, and what it shows."""
    number = re.match(r"fig-(\d+\w?)", name)
    return f"{f'Figure {number.group(1)}' if number else item.name}: {chart.to_dict()['title']}"


def _table(rows: Sequence[Row]) -> str:
    head = "| what | printed | ours | difference | verdict |\n|---|---:|---:|---:|---|"
    body = [
        f"| {_cell(r.what)} | {_cell(r.printed)} | {_cell(r.ours)} | {r.difference} | {r.verdict} |"
        for r in rows
    ]
    return "\n".join([head, *body]) + "\n"


def _grid(grid: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(map(_cell, line)) + " |" for line in grid]
    return "\n".join([lines[0], "|---|" + "---:|" * (len(grid[0]) - 1), *lines[1:]]) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _front(pages: Sequence[Page]) -> str:
    head = "| paper | " + " | ".join(VERDICTS) + " |\n|---|" + "---:|" * len(VERDICTS)
    rows = []
    for page in pages:
        counts = tally(page.items)
        numbers = " | ".join(str(counts.get(v, 0)) for v in VERDICTS)
        rows.append(f"| [{page.paper}]({page.paper.lower()}.md) {page.title} | {numbers} |")
    corrections = [row for page in pages for row in page.corrections]
    return "\n".join(
        [
            "# The reproduction book\n",
            f"{FRONT}\n",
            "## Scorecard\n",
            head,
            *rows,
            "",
            f"{MEANINGS}\n",
            "## Corrections\n",
            "What the papers print, and what is right; every number is recomputed by the command.\n",
            _table(corrections),
        ]
    )


def _scorecard(pages: Sequence[Page]) -> Reproduction:
    rows = []
    for page in pages:
        counts = tally(page.items)
        skipped = sum(bool(item.skipped) for item in page.items)
        rows.append(
            {
                "paper": page.paper,
                "items": len(page.items),
                **{v: counts.get(v, 0) for v in VERDICTS},
                "skipped": skipped,
            }
        )
    failed = tuple(
        f"{page.paper} {item.name}, {row.what}: printed {row.printed}, ours {row.ours}"
        for page in pages
        for item in page.items
        for row in item.rows
        if not row.holds
    )
    notes = tuple(f"{p.paper} {i.name}: skipped ({i.skipped})" for p in pages for i in p.items if i.skipped)
    return Reproduction(tuple(rows), (*notes, *(f"DIFFERS: {text}" for text in failed)), failed)
