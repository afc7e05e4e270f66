"""Before anything is processed: what the table gives away, and what preventing it would cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sudare.loop.evidence import Evidence
from sudare.report.charts import drawn, figure
from sudare.report.document import Audience, Block, Figure, Section, Table, Tabs, Words, columns, present
from sudare.report.numbers import percent, written
from sudare.results import Result

MEASURES = ("k", "uniques", "prosecutor", "marketer", "l", "t", "special uniques", "dis-suda")
MOST = 40
MOST_BARS = 20
SMALL_CLASS = 5


def risk(evidence: Evidence, audience: Audience) -> Section:
    """Background knowledge and class sizes of the original."""
    return Section(
        "risk-before",
        "Risk before",
        "How often somebody who knows a little about a person finds that person in the original table.",
        risk_blocks(evidence, evidence.risk, evidence.disclosure, "before", ("risk", "disclosure")),
    )


def risk_blocks(
    evidence: Evidence, found: Result | None, classes: Result | None, name: str, steps: tuple[str, str]
) -> tuple[Block, ...]:
    """Tabs: what attributes give away, pairs as a map, how people hide behind each other."""
    knowledge = _knowledge(found, name) or (_missing(evidence, steps[0]),)
    hiding = _hiding(classes, name) or (_missing(evidence, steps[1]),)
    pairs = _pairs(found, name)
    tabs = [
        ("Background knowledge", knowledge),
        ("Pairs of attributes", pairs),
        ("Hiding in the crowd", hiding),
    ]
    return (Tabs(tuple((title, blocks) for title, blocks in tabs if blocks)),)


def cost(evidence: Evidence, audience: Audience) -> Section | None:
    """The plan's curve and what the release really cost."""
    if evidence.plan is None:
        return None
    realised = _realised(evidence)
    return Section(
        "cost",
        "Cost: planned and realised",
        "Dummy records that k-anonymity of histories would need, estimated before processing"
        + (", and what the release used." if realised else "."),
        (
            *cost_figure(evidence.plan, _dummies(evidence)),
            plan_table(evidence.plan.rows),
            *(Words(text) for text in realised),
            *(Words(note) for note in evidence.plan.notes),
        ),
    )


def cost_figure(plan: Any, realised: Mapping[int, int]) -> tuple[Figure, ...]:
    """The cost curve, with what a release really used."""
    from sudare.cost.charts import cost_against_k

    return figure(
        lambda: cost_against_k(plan, realised or None), "plan", "Cost against k", plan_alt(plan.rows)
    )


def _dummies(evidence: Evidence) -> dict[int, int]:
    """Dummies used by k, of steps that share sets: what the plan speaks of."""
    steps = evidence.release.steps if evidence.release is not None else ()
    return {
        step["parameters"]["k"]: int(step["details"]["dummies"])
        for step in steps
        if "dummies" in step["details"] and step["parameters"].get("keep", "set") == "set"
    }


def plan_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    wanted = columns(
        ("k", "k", "number"),
        ("clusters", "clusters", "number"),
        ("pilot", "pilot (our optimiser)", "number"),
        ("pilot_low", "low", "number"),
        ("pilot_high", "high", "number"),
        ("expected", "random clusters", "number"),
        ("paper_e", "E", "number"),
        ("paper_e2", "E2", "number"),
        ("paper_e3", "E3", "number"),
        ("reid", "found", "share", "chance to find a person who hides in a cluster"),
        ("score", "score", "number"),
    )
    certain = all(row.get("pilot_low") == row.get("pilot_high") for row in rows)
    shown = [c for c in wanted if not (certain and c.key in ("pilot_low", "pilot_high"))]
    return Table("Planned dummy records by k", present(rows, shown), tuple(rows))


def weakest(evidence: Evidence, audience: Audience) -> Section | None:
    """Internal: who is least hidden, told by row numbers."""
    if audience != "internal" or not evidence.weakest:
        return None
    where = "release" if evidence.release is not None else "original"
    table = Table(
        f"People least hidden in the {where}",
        columns(
            ("row", "first row", "number", "in the original, counted from 1"),
            ("records", "records", "count"),
            ("alone", "of them alone", "count", "records whose value nobody else has"),
            ("by", "given away by"),
            ("fix", "what would help"),
        ),
        evidence.weakest,
    )
    return Section(
        "weakest",
        "Weakest people (internal)",
        "Named by row number, so that only who holds the original can look them up. Never pass this section on.",
        (table,),
    )


def _knowledge(found: Result | None, name: str) -> tuple[Block, ...]:
    if found is None or not found.rows:
        return ()
    wanted = columns(
        ("attributes", "known"),
        ("risk", "risk", "number", "how often the attacker's guess is right"),
        ("risk_before", "before", "number"),
        ("risk_low", "low", "number"),
        ("risk_high", "high", "number"),
        ("low_cost", "low-cost bound", "number"),
        ("alpha", "records per person", "number"),
        ("values", "different values", "count"),
        ("model", "model"),
    )[: 8 if name == "after" else 9]
    rows = tuple(found.rows[:MOST])
    caption = f"Risk by what the attacker knows (risk {name} processing)"
    more = (
        (Words(f"The {MOST} riskiest of {len(found.rows)} sets are shown."),)
        if len(found.rows) > MOST
        else ()
    )
    return (
        *drawn(
            replace(found, rows=found.rows[:MOST_BARS]),
            f"risk-{name}",
            "Risk per set of attributes",
            risk_alt(found.rows),
        ),
        Table(caption, present(rows, wanted), rows),
        *more,
        *(Words(note) for note in found.notes),
    )


def _pairs(found: Result | None, name: str) -> tuple[Block, ...]:
    rows = [row for row in (found.rows if found is not None else ()) if len(row["attributes"]) == 2]
    if len(rows) < 2:
        return ()
    from sudare.risk.charts import pair_heatmap

    worst = " + ".join(rows[0]["attributes"])
    alt = f"A map of {len(rows)} pairs of attributes. The riskiest pair is {worst} with {written(rows[0]['risk'])}."
    return figure(lambda: pair_heatmap(found), f"pairs-{name}", "Risk of every pair of attributes", alt)  # type: ignore[arg-type]


def risk_alt(rows: Sequence[Mapping[str, Any]]) -> str:
    """What the bars show, in words."""
    first, last = rows[0], rows[-1]
    text = " + ".join(first["attributes"])
    bars = f"the {MOST_BARS} riskiest of {len(rows)}" if len(rows) > MOST_BARS else f"{len(rows)}"
    return (
        f"Bars of the risk of {bars} sets of attributes. Highest: {text} with {written(first['risk'])}; "
        f"lowest: {' + '.join(last['attributes'])} with {written(last['risk'])}."
    )


def _hiding(found: Result | None, name: str) -> tuple[Block, ...]:
    if found is None or not found.rows:
        return ()
    rows = tuple(row for row in found.rows if row["measure"] in MEASURES)
    wanted = columns("measure", "variant", ("attributes", "columns"), ("value", "value", "number"), "meaning")
    return (
        *drawn(found, f"classes-{name}", "Class sizes", class_alt(found)),
        Table(f"Disclosure measures {name} processing", wanted, rows),
        *(Words(note) for note in found.notes),
    )


def class_alt(found: Any) -> str:
    """What the bars of class sizes show, in words."""
    what = "Share of records by the number of people in their class of equal quasi-identifiers."
    sizes = found.distribution() if hasattr(found, "distribution") else ()
    total = sum(size["records"] for size in sizes)
    if not total:
        return what
    alone, few = (sum(s["records"] for s in sizes if s["size"] < limit) / total for limit in (2, SMALL_CLASS))
    return f"{what} {percent(alone)} are alone, {percent(few)} in classes of fewer than {SMALL_CLASS} people (orange)."


def _missing(evidence: Evidence, step: str) -> Words:
    return Words(f"Not measured: {evidence.skipped.get(step, 'it was not asked for')}.", "warn")


def plan_alt(rows: Sequence[Mapping[str, Any]]) -> str:
    known = [key for key in ("pilot", "expected") if rows and rows[0].get(key) is not None]
    if not known:
        return "Cost in dummy records against k."
    first, last, key = rows[0], rows[-1], known[0]
    return f"Cost rises from {first[key]:,.0f} dummy records at k={first['k']} to {last[key]:,.0f} at k={last['k']}."


def _realised(evidence: Evidence) -> list[str]:
    if evidence.release is None:
        return []
    found = [step for step in evidence.release.steps if "dummies" in step["details"]]
    return [_one_realised(evidence, step) for step in found]


def _one_realised(evidence: Evidence, step: Mapping[str, Any]) -> str:
    used, k = step["details"]["dummies"], step["parameters"].get("k")
    text = f"Realised: {written(used, 'count')} dummy records at k={k}"
    planned = next((row for row in (evidence.plan.rows if evidence.plan else ()) if row["k"] == k), None)
    if planned is not None and planned.get("pilot"):
        text += f"; the pilot had said {written(planned['pilot'], 'count')}"
    if planned is not None and planned.get("expected"):
        text += f", random clusters would need {written(planned['expected'], 'count')}"
    if step["parameters"].get("keep") == "multiset":
        text += " (both for sets; the release also hides how often a value occurs, which takes more)"
    bound = step["details"].get("lower_bound")
    return text + (f"; no clustering can need fewer than {written(bound, 'count')}." if bound else ".")
