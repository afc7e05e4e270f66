"""After processing: what was done, what is still given away, who gets through, what is left to use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sudare.loop.evidence import Evidence
from sudare.loop.uses import told
from sudare.report.charts import drawn
from sudare.report.document import Audience, Block, Code, Section, Table, Words, columns, present
from sudare.report.numbers import written
from sudare.report.sections.before import risk_blocks

COLUMN_PARAMETERS = ("columns", "column", "value")
RECODED = "A column that was generalised counts as moved as far as its labels are new, however much they still tell."


def done(evidence: Evidence, audience: Audience) -> Section | None:
    """Each column's treatment in the words of ISO/IEC 20889, then the steps with their parameters."""
    release = evidence.release
    if release is None:
        return None
    per_column = tuple(_treatment(evidence, row["column"], row["role"]) for row in evidence.original.columns)
    steps = tuple(
        {
            "step": number,
            "technique": step["technique"],
            "method": step["method"],
            "parameters": _told(step["parameters"]),
            "measured": _told(step["details"]),
        }
        for number, step in enumerate(release.steps, 1)
    )
    blocks: list[Block] = [
        Table(
            "Treatment of every column",
            columns("column", "role", ("done", "what was done (ISO/IEC 20889)")),
            per_column,
        )
    ]
    if steps:
        wanted = columns(
            ("step", "step", "number"), "technique", ("method", "method", "code"), "parameters", "measured"
        )
        blocks.append(Table("Steps of the recipe, in order", present(steps, wanted), steps))
    blocks.append(Words(_fate(evidence)))
    if release.recipe:
        blocks.append(Code(release.recipe, "The recipe as a file (TOML)"))
    return Section(
        "done", "What was done", "Techniques by their standard names, with every parameter.", tuple(blocks)
    )


def risk(evidence: Evidence, audience: Audience) -> Section | None:
    """The same measures on the release."""
    if evidence.release is None:
        return None
    return Section(
        "risk-after",
        "Risk after",
        "The same questions asked of the release: the attacker knows true values and looks for them.",
        risk_blocks(
            evidence,
            evidence.risk_after,
            evidence.disclosure_after,
            "after",
            ("risk after", "disclosure after"),
        ),
    )


def attacks(evidence: Evidence, audience: Audience) -> Section | None:
    """Every attack with its blind guess and interval."""
    if evidence.release is None:
        return None
    lead = "Each attack holds the original and links the release to it; a blind guess is what chance alone gives."
    if evidence.attacks is None:
        why = evidence.skipped.get("attacks", "it was not asked for")
        return Section("attacks", "Attacks", lead, (Words(f"Not measured: {why}.", "warn"),))
    rows = tuple(evidence.attacks.rows)
    wanted = columns(
        ("attack", "attack", "code"),
        ("rate", "re-identified", "share"),
        ("low", "95% from", "share"),
        ("high", "to", "share"),
        ("baseline", "blind guess", "share"),
        ("gave_up", "gave up", "count"),
        ("seconds", "seconds", "number"),
    )
    return Section(
        "attacks",
        "Attacks",
        lead,
        (
            *drawn(evidence.attacks, "attacks", "Re-identification by attack", attack_alt(rows)),
            Table("Re-identification by attack", present(rows, wanted), rows),
            *(Words(note, "warn") for note in evidence.attacks.notes),
        ),
    )


def attack_alt(rows: Sequence[Mapping[str, Any]]) -> str:
    """What the bars show, in words."""
    shown = [row for row in rows if row["rate"] is not None]
    if not shown:
        return f"Bars of {len(rows)} attacks; there are too few people to show rates."
    best = max(shown, key=lambda row: float(row["rate"]))
    return (
        f"Bars of {len(rows)} attacks. The strongest, {best['attack']}, re-identifies {written(best['rate'], 'share')} "
        f"of the release; a blind guess {written(best['baseline'], 'share')}."
    )


def utility(evidence: Evidence, audience: Audience) -> Section | None:
    """What is left of the data's use, metric by metric and column by column."""
    if evidence.release is None:
        return None
    uses = told(evidence.context)
    lead = "What the release keeps of the original." + (f" Declared uses: {uses}." if uses else "")
    if evidence.utility is None:
        why = evidence.skipped.get("utility", "it was not asked for")
        return Section("utility", "Utility", lead, (Words(f"Not measured: {why}.", "warn"),))
    rows = tuple(evidence.utility.rows)
    by_column = tuple(getattr(evidence.utility, "by_column", ()))
    wanted = columns(
        ("metric", "metric", "code"), ("value", "value", "number"), "better", "meaning", "detail"
    )
    changed = columns(
        "column",
        "role",
        ("total_variation", "distribution moved by", "share"),
        ("mean_shift", "mean shift (sd)", "number"),
        ("quantile_shift", "decile shift (sd)", "number"),
    )
    tables = [Table("Metrics", present(rows, wanted), rows)]
    if by_column:
        tables.insert(0, Table("Change of every column", present(by_column, changed), by_column))
    if evidence.uses:
        tables.insert(0, _uses(evidence))
    alt = _change_alt(by_column)
    return Section(
        "utility",
        "Utility",
        lead,
        (
            *drawn(evidence.utility, "utility", "Change of every column's distribution", alt),
            *tables,
            *((Words(RECODED),) if _recoded(evidence) else ()),
            *(Words(note) for note in evidence.utility.notes),
        ),
    )


def _uses(evidence: Evidence) -> Table:
    """Every declared use with the columns it needs, what became of them, and how far they moved."""
    done = {
        c["column"]: _treatment(evidence, c["column"], c["role"])["done"] for c in evidence.original.columns
    }
    rows = tuple(
        {**use, "done": "; ".join(f"{name}: {done[name]}" for name in use["needs"])} for use in evidence.uses
    )
    wanted = columns(
        "use",
        ("done", "the columns it needs"),
        ("columns_moved", "columns moved by", "share"),
        ("pairs_moved", "pairs moved by", "share"),
        ("mean_shift", "mean shift (sd)", "number"),
    )
    return Table("By declared use", present(rows, wanted), rows)


def _change_alt(by_column: Sequence[Mapping[str, Any]]) -> str:
    shown = [row for row in by_column if row["total_variation"] is not None]
    what = "Bars of how far each column's distribution moved, 0 to 1."
    if not shown:
        return f"{what} There are too few people to show how far."
    most = max(shown, key=lambda row: float(row["total_variation"]))
    return f"{what} Most: {most['column']} with {written(most['total_variation'], 'share')}."


def _treatment(evidence: Evidence, column: str, role: str | None) -> dict[str, Any]:
    assert evidence.release is not None
    touched = [_technique(step) for step in evidence.release.steps if column in _columns_of(step, evidence)]
    there = {c["column"] for c in evidence.release.data.columns}
    if role == "user":
        touched.insert(0, "pseudonymization")
    if column not in there and not any("suppression" in technique for technique in touched):
        touched.append("attribute suppression (not published)")
    return {
        "column": column,
        "role": role or "none",
        "done": "; ".join(dict.fromkeys(touched)) or "published as it was",
    }


def _technique(step: Mapping[str, Any]) -> str:
    """The technique with its parameters but for the columns."""
    told = _told({k: v for k, v in step["parameters"].items() if k not in COLUMN_PARAMETERS})
    return f"{step['technique']} ({told})" if told else str(step["technique"])


def _recoded(evidence: Evidence) -> bool:
    return (
        any("generalization" in step["technique"] for step in evidence.release.steps)
        if evidence.release
        else False
    )


def _columns_of(step: Mapping[str, Any], evidence: Evidence) -> set[str]:
    """The columns that a step names; a step that names none works on those its roles give it."""
    names = {str(c["column"]) for c in evidence.original.columns}
    told = {**step["details"], **step["parameters"]}
    named: set[str] = set()
    for key in COLUMN_PARAMETERS:
        given = told.get(key)
        named |= (
            {given}
            if isinstance(given, str)
            else set(given or ())
            if isinstance(given, (list, tuple))
            else set()
        )
    named &= names
    if named or "record" in step["technique"]:
        return named
    return set(evidence.original.roles.get("quasi", ()))


def _told(values: Mapping[str, Any]) -> str:
    shown = {k: v for k, v in values.items() if isinstance(v, (int, float, str, list, tuple))}
    return ", ".join(f"{name} = {written(_short(value))}" for name, value in shown.items())


def _short(value: Any) -> Any:
    return [*value[:12], "..."] if isinstance(value, (list, tuple)) and len(value) > 12 else value


def _fate(evidence: Evidence) -> str:
    assert evidence.release is not None
    release = evidence.release
    parts = [
        f"{written(evidence.original.rows, 'count')} records went in, "
        f"{written(release.data.rows, 'count')} are published, in a new order."
    ]
    if any("dummies" in step["details"] for step in release.steps):
        parts.append(f"Dummies among them: {written(release.dummies, 'count')}.")
    if release.deleted:
        parts.append(f"Records left out: {written(release.deleted, 'count')}.")
    return " ".join(parts)
