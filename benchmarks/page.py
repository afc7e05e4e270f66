"""docs/benchmarks.md and the table of docs/reference/sizing.md, written from the results."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks import chart
from benchmarks.work import Row

DOCS = Path(__file__).parents[1] / "docs"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
SIZING = "commands"
KINDS = {
    "extrapolated": " (extrapolated)",
    "published": " (measured apart)",
    "measured": "",
    None: "",
    "absent": "",
}


def write(found: dict[str, Any], docs: Path = DOCS) -> None:
    """Both pages and the chart."""
    compared = [row for row in found["rows"] if row["module"] != SIZING]
    parts = [
        conditions(found),
        "![Cost relative to the peer](benchmarks.svg)",
        "## Goals",
        goals(compared),
        remaining(compared),
        unmeasured(compared),
        "## Every size",
        table(compared),
        sources(compared),
    ]
    _between(docs / "benchmarks.md", "\n\n".join(part for part in parts if part))
    _between(
        docs / "reference" / "sizing.md", sizing(row for row in found["rows"] if row["module"] == SIZING)
    )
    if drawn := chart.svg_of(compared):
        (docs / "benchmarks.svg").write_text(drawn, "utf-8")


def line(row: Row) -> str:
    """A row for the terminal."""
    told = f"{row['work']}, {row['size']:,} {row['unit']}: {_seconds(row['seconds'])} s"
    if row["peer_seconds"]:
        told += f", {row['peer']} {_seconds(row['peer_seconds'])} s{KINDS[row['peer_kind']]}, {_times(row['ratio'])}"
    if row["peer_kind"] == "absent":
        told += f" ({row['peer']} is not installed)"
    if row.get("same") is False:
        told += "; THE ANSWERS DIFFER"
    return told + (f"; goal {row['goal']}: {_met(row)}" if row.get("goal") else "")


def conditions(found: dict[str, Any]) -> str:
    here, versions = found.get("machine", {}), found.get("versions", {})
    named = ", ".join(f"{name} {version}" for name, version in versions.items() if version != "not installed")
    busiest = max((row["load"] for row in found["rows"]), default=0)
    busy = (
        f" The machine did other work meanwhile (load up to {busiest:g}; per row below): seconds are higher than on a "
        "quiet one, ratios less so."
        if busiest > 1.5 * here.get("cores", busiest)
        else ""
    )
    return (
        f"Measured on {here.get('date')}: {here.get('processor')}, {here.get('cores')} cores, "
        f"{here.get('memory_gb')} GB, {here.get('system')}, Python {here.get('python')}; {named}.{busy}"
    )


def goals(rows: list[Row]) -> str:
    """One line per goal, at the size it speaks of."""
    lines = [
        [
            row["work"],
            f"{row['size']:,} {row['unit']}",
            _seconds(row["seconds"]),
            _peer(row),
            _times(row["ratio"]),
            row["goal"],
            _met(row),
            _memory(row["peak_mb"]),
            row["growth"],
            _figures(row),
        ]
        for row in rows
        if row.get("goal")
    ]
    head = "work | size | ours, s | peer, s | ratio | goal | met | peak memory | growth | figures"
    return _markdown(head.split(" | "), lines)


def remaining(rows: list[Row]) -> str:
    """What is said about goals that were missed."""
    missed = [row for row in rows if row.get("goal") and not row["met"]]
    lines = [f"- {row['work']}: {row['remains'] or 'not explained yet.'}" for row in missed]
    return "\n".join(["What remains:", "", *lines]) if lines else ""


def unmeasured(rows: list[Row]) -> str:
    """Works of which there are rows, but none at the size their goal speaks of."""
    largest = {row["work"]: row for row in sorted(rows, key=lambda row: row["size"])}
    judged = {row["work"] for row in rows if row.get("goal")}
    lines = [
        f"- {work}: the largest run so far is {row['size']:,} {row['unit']}, {_times(row['ratio'])} of the peer's cost."
        for work, row in largest.items()
        if work not in judged
    ]
    return "\n".join(["Not measured yet at the size of the goal:", "", *lines]) if lines else ""


def table(rows: list[Row]) -> str:
    lines = [
        [
            row["work"],
            f"{row['size']:,} {row['unit']}",
            f"{_seconds(row['seconds'])} ({row['clock']}, best of {row['runs']})",
            _peer(row),
            _times(row["ratio"]),
            _memory(row["peak_mb"]),
            _memory(row.get("peer_mb")),
            row["load"],
        ]
        for row in rows
    ]
    head = "work | size | ours, s | peer, s | ratio | our peak | peer's peak | load of the machine"
    return _markdown(head.split(" | "), lines)


def sources(rows: list[Row]) -> str:
    told = dict.fromkeys(f"- {row['peer']}: {row['source']}" for row in rows if row.get("source"))
    return "\n".join(["Figures measured apart:", "", *told]) if told else ""


def sizing(rows: Iterable[Row]) -> str:
    """Per command at its largest size: what it cost, and how that grows."""
    largest: dict[str, Row] = {row["work"]: row for row in sorted(rows, key=lambda row: row["size"])}
    lines = [
        [
            work,
            f"{row['size']:,}",
            _seconds(row["seconds"]),
            _memory(row["peak_mb"]),
            row["growth"],
        ]
        for work, row in largest.items()
    ]
    head = "command | rows | CPU s | peak memory | growth"
    return _markdown(head.split(" | "), lines)


def _between(page: Path, text: str) -> None:
    """Replace what stands between the marks of a page."""
    before, _, rest = page.read_text("utf-8").partition(BEGIN)
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}", "utf-8")


def _markdown(head: list[str], lines: list[list[Any]]) -> str:
    cells = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join("" if c is None else str(c) for c in line) + " |" for line in cells)


def _peer(row: Row) -> str:
    if row["peer_seconds"] is None:
        return row["peer"] + (" (not installed)" if row["peer_kind"] == "absent" else "")
    return f"{_seconds(row['peer_seconds'])}: {row['peer']}{KINDS[row['peer_kind']]}"


def _figures(row: Row) -> str:
    return ", ".join(f"{name} {_figure(value)}" for name, value in row["figures"].items())


def _figure(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def _met(row: Row) -> str:
    return "yes" if row["met"] else "**no**"


def _seconds(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.3g}"


def _times(ratio: float | None) -> str:
    if ratio is None:
        return ""
    return f"{ratio:.2f}x" if ratio >= 0.05 else f"1/{1 / ratio:,.0f}"


def _memory(megabytes: int | None) -> str:
    return "" if not megabytes else f"{megabytes / 1024:.1f} GB" if megabytes >= 1024 else f"{megabytes} MB"
