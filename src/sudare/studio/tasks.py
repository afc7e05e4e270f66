"""What the worker does for each page. Results are blocks of a document and plain data: no table leaves the process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sudare.loop.evidence import Evidence
from sudare.loop.measure import Progress
from sudare.report.document import Block, Table, Verdict, Words, columns

MOST_VALUES = 100
FRONTIER = (
    "One point per recipe, numbered as in the table below: the farther down and to the left, the better."
)


@dataclass(frozen=True)
class Source:
    """A table and its roles, as the pages know them."""

    path: str
    roles: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def open(self) -> Any:
        """The dataset; tables stay open between tasks."""
        if self not in _open:
            from sudare.data.opening import open as open_any
            from sudare.data.roles import Roles

            named = {name: list(names) for name, names in self.roles}
            user = named.pop("user", [None])[0]
            _open.clear()
            _known.clear()
            _open[self] = open_any(self.path, roles=Roles.of(user=user, **named))
        return _open[self]


_open: dict[Source, Any] = {}
_known: dict[str, Any] = {}  # what was measured of the open table, for the report


@dataclass(frozen=True)
class Look:
    """What the roles page shows."""

    name: str
    rows: int
    guesses: tuple[Any, ...]


@dataclass(frozen=True)
class Shown:
    """Blocks for a page, and what later pages need of them."""

    blocks: tuple[Block, ...]
    rows: tuple[dict[str, Any], ...] = ()
    extra: dict[str, Any] | None = None
    verdict: Verdict | None = None


def look(*, source: Source, progress: Progress) -> Look:
    """Open a table and guess its roles."""
    from sudare.data.guessing import guess_roles

    progress("reading the table", 0, 2)
    ds = source.open()
    progress("guessing roles", 1, 2)
    return Look(ds.name, ds.rows, guess_roles(ds))


def risk(*, source: Source, progress: Progress) -> Shown:
    """Risk of attributes and pairs, and how people hide behind each other."""
    from sudare.errors import SudareError
    from sudare.loop import measure as loop
    from sudare.loop.evidence import data_card
    from sudare.report.sections.before import risk_blocks

    ds = source.open()
    progress("risk of attributes and pairs", 0, 2)
    found = _known["risk"] = loop.risk_of(ds)
    progress("class sizes, l, t, special uniques", 1, 2)
    skipped, classes = {}, None
    try:
        classes = _known["disclosure"] = loop.disclosure_of(ds)
    except SudareError as error:
        skipped["disclosure"] = str(error)
    evidence = Evidence(original=data_card(ds, checksum=False), skipped=skipped)
    singles = tuple(dict(row) for row in found.rows if len(row["attributes"]) == 1)
    return Shown(risk_blocks(evidence, found, classes, "before", ("risk", "disclosure")), singles)


def values(*, source: Source, attribute: str, progress: Progress) -> Shown:
    """The values of one attribute that give most away. Cells: for the holder's own screen, never in a report."""
    from sudare.risk.values import value_table

    progress(f"values of {attribute}", 0, 1)
    rows = value_table(source.open(), [attribute])
    shown = tuple(
        {**row, "value": "(missing)" if row["value"] is None else row["value"]} for row in rows[:MOST_VALUES]
    )
    wanted = columns(
        ("value", "value"),
        ("records", "records", "count"),
        ("users", "people", "count"),
        ("pr_x", "share of records", "share"),
        ("pr_idf", "found if known", "share"),
        ("joint", "part of the risk", "number"),
    )
    note = (
        f"The {len(shown)} of {len(rows):,} values that add most to the risk. "
        "These are cells of your table: keep this screen to yourself."
    )
    return Shown((Words(note, "warn"), Table(f"Values of {attribute}", wanted, shown)))


def plan(*, source: Source, value: str, ks: Sequence[int], progress: Progress) -> Shown:
    """The cost curve."""
    from sudare.loop import measure as loop
    from sudare.report.sections.before import cost_figure, plan_table

    ds = source.open()
    progress("cost of k-anonymity", 0, 1)
    found = _known["plan"] = loop.plan_of(ds, value or None, ks)
    blocks: tuple[Block, ...] = (
        *cost_figure(found, {}),
        plan_table(found.rows),
        *(Words(note) for note in found.notes),
    )
    best = getattr(found, "best", None)
    return Shown(
        blocks,
        tuple(dict(r) for r in found.rows),
        {"best": dict(best) if best else None, "value": found.value},
    )


def release(
    *,
    source: Source,
    steps: Sequence[dict[str, Any]],
    folder: str,
    context: dict[str, str],
    policy: dict[str, Any] | None,
    progress: Progress,
) -> Shown:
    """Run the recipe, gather the evidence, write everything that can be downloaded."""
    from sudare.loop import measure as loop
    from sudare.methods.recipe import Recipe
    from sudare.report.verdict import verdict_of

    ds = source.open()
    recipe = Recipe.from_steps(steps)
    made, evidence = loop.run(ds, recipe, progress=progress, context=context, policy=policy, known=_known)
    progress("writing files", 1, 1)
    write_files(Path(folder), made, evidence)
    return Shown(after_blocks(evidence), (), summary(evidence, recipe), verdict_of(evidence))


def write_files(folder: Path, made: Any, evidence: Evidence) -> None:
    """Release, truth, recipe and both reports, in a folder that only its owner can read."""
    from sudare.data.files.writers import write_text
    from sudare.report.build import write

    made.save(folder / "release.parquet", truth=folder / "truth.parquet")
    made.save(folder / "release.csv")
    write_text(made.recipe.to_toml(), folder / "recipe.toml")
    write(evidence, path=folder / "report.html")
    write(evidence, path=folder / "report-external.html", audience="external")


def after_blocks(evidence: Evidence) -> tuple[Block, ...]:
    """Before and after in tabs: attacks, risk, columns published as sets, utility, cost, what was done."""
    from sudare.report.document import Tabs
    from sudare.report.sections import after, before
    from sudare.report.sections.sets import sets

    sections = (after.attacks, after.risk, sets, after.utility, before.cost, after.done)
    made = [section for make in sections if (section := make(evidence, "internal")) is not None]
    return (Tabs(tuple((s.title, (Words(s.lead), *s.blocks)) for s in made)),)


def summary(evidence: Evidence, recipe: Any) -> dict[str, Any]:
    """One point of the frontier: what the strongest attack gets, what the release lost."""
    attacks = evidence.attacks.rows if evidence.attacks else ()
    worst = max((float(row["rate"]) for row in attacks), default=None)
    metrics = {row["metric"]: row["value"] for row in (evidence.utility.rows if evidence.utility else ())}
    risks = [row["risk"] for row in (evidence.risk_after.rows if evidence.risk_after else ())]
    return {
        "recipe": " > ".join(step["method"] for step in recipe.to_steps()),
        "worst": worst,
        "loss": metrics.get("pairwise-distance"),
        "risk": max(risks, default=None),
        "records": evidence.release.data.rows if evidence.release else None,
        "toml": recipe.to_toml(),
        "digest": recipe.digest,
    }


def frontier(*, runs: Sequence[dict[str, Any]], progress: Progress) -> Shown:
    """All recipes tried so far, by risk and loss."""
    from sudare.loop.compare import LOSS, CompareResult
    from sudare.report.charts import drawn

    rows = [
        {
            "recipe": f"recipe {n}",
            LOSS: run["loss"],
            "worst": run["worst"] or 0.0,
            "cheating": False,
            "frontier": not any(_beats(other, run) for other in runs if other is not run),
        }
        for n, run in enumerate(runs, 1)
    ]
    result = CompareResult(tuple(rows))
    return Shown(drawn(result, "frontier", "Risk and loss of every recipe tried", FRONTIER))


def _beats(other: dict[str, Any], run: dict[str, Any]) -> bool:
    if None in (other["loss"], run["loss"], other["worst"], run["worst"]):
        return False
    pairs = ((other["loss"], run["loss"]), (other["worst"], run["worst"]))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


TASKS = {"look": look, "risk": risk, "values": values, "plan": plan, "release": release, "frontier": frontier}
