"""What the numbers mean under which rule, what they do not say, how to repeat them, who signs."""

from __future__ import annotations

import platform
import shlex
from importlib import metadata

from sudare.data.proposal import text
from sudare.loop.evidence import Evidence
from sudare.report.document import Audience, Block, Code, Facts, Lines, Points, Section, Table, Words, columns
from sudare.report.numbers import Capped, beside, written
from sudare.version import __version__

OUTSIDERS = (
    "Numbers are rounded so that no count below 10 people can be found: counts to tens, shares to steps of ten people, "
    "means to steps of twenty. An empty cell stands for a number about too few people."
)
PARTS = ("duckdb", "pyarrow", "numpy", "numba", "scipy", "ibis-framework")


def crosswalk(evidence: Evidence, audience: Audience) -> Section:
    """Which number answers which question of which rule."""
    singled, linked, inferred = _singling_out(evidence), _linking(evidence), _inferring(evidence)
    rows = (
        ("GDPR, WP29 Opinion 05/2014", "Singling out: can one person's records be isolated?", singled),
        ("GDPR, WP29 Opinion 05/2014", "Linkability: can records of one person be connected?", linked),
        ("GDPR, WP29 Opinion 05/2014", "Inference: can a value be deduced?", inferred),
        (
            "APPI (Japan), anonymously processed information",
            "Are identifiers, unusual values and links to other tables removed?",
            f"Treatment of every column, 'What was done'; {singled}",
        ),
        (
            "EMA Policy 0070",
            "Is the maximum risk at most 0.09 (12 people per class)?",
            _largest(evidence) or singled,
        ),
        (
            "HIPAA, expert determination (45 CFR 164.514(b)(1))",
            "Is the risk very small, with methods and results documented?",
            "This report; an expert must judge and sign it",
        ),
        (
            "ISO/IEC 27559",
            "Are context, data, threats, risk and mitigation assessed?",
            "'Release context', 'Data card', 'Threat models', 'Risk before', 'Risk after', 'What was done'",
        ),
    )
    told = tuple(dict(zip(("rule", "question", "answer"), row)) for row in rows)
    note = (
        "sudare measures; whether a release is lawful is decided by people who know the law and the context."
    )
    return Section(
        "crosswalk",
        "Crosswalk to rules",
        "Where each rule's question is answered in this report.",
        (Table("Questions and answers", columns("rule", "question", "answer"), told), Words(note)),
    )


def limits(evidence: Evidence, audience: Audience) -> Section:
    """What must not be read into the numbers."""
    items = [
        "Attacks are those that sudare knows. A rate is a lower bound on what a better attacker gets.",
        "Roles were chosen by people. A column wrongly called harmless is not protected by any number here.",
        "Background-knowledge risk is a mean over records: single people can be far worse off than the mean.",
        "k, l and t say how people hide in this table, not what other tables add.",
        "Intervals cover chance in scoring, not the choice of attacks or of assumed knowledge.",
        "Two releases of the same people with different keys can be intersected; use one key per table.",
    ]
    if evidence.release is not None and evidence.release.insecure:
        items.insert(
            0, "This release was made with a demonstration key that anyone can guess. Never publish it."
        )
    if audience == "external":
        items.insert(0, OUTSIDERS)
    skipped = [f"Not measured: {step} ({why})." for step, why in evidence.skipped.items()]
    shown = skipped if audience == "internal" else [f"Not measured: {step}." for step in evidence.skipped]
    return Section(
        "limits", "Limits and assumptions", "What these numbers do not say.", (Points((*items, *shown)),)
    )


def reproduce(evidence: Evidence, audience: Audience) -> Section:
    """Versions, hashes and the commands that give the same numbers again."""
    pairs: list[tuple[str, object]] = [("sudare", __version__), ("Python", platform.python_version())]
    pairs += [(name, _version(name)) for name in PARTS]
    release = evidence.release
    if release is not None:
        pairs += [
            ("Recipe", release.digest or "not known"),
            ("Key fingerprint", release.fingerprint or "not known"),
        ]
    blocks: list[Block] = [Facts(tuple(pairs)), Code(_roles(evidence), "The roles as a file, sudare.toml")]
    if release is not None:
        label = "With the original, sudare.toml, the recipe as recipe.toml, and the key"
        blocks.append(Code("\n".join(_commands(evidence)), label))
    if evidence.seconds and audience == "internal":
        slow = ", ".join(f"{name} {took:.1f} s" for name, took in evidence.seconds.items() if took >= 0.05)
        total = sum(evidence.seconds.values())
        blocks.append(Words(f"Time: {total:.1f} s" + (f", of which {slow}." if slow else ".")))
    return Section(
        "reproduce", "How to reproduce", "The same data, recipe and key give the same release.", tuple(blocks)
    )


def sign_off(evidence: Evidence, audience: Audience) -> Section:
    """Empty lines for the people who answer for the release."""
    review = evidence.context.get("review") or "not set: risks grow with other people's data, set a date"
    labels = ("Prepared by, date", "Reviewed by, date", "Approved for release by, date", "Next review on")
    return Section(
        "sign-off",
        "Sign-off",
        "A release is a decision of people.",
        (Facts((("Review date", review),)), Lines(labels)),
    )


def _roles(evidence: Evidence) -> str:
    """The roles as `sudare init` would write them."""
    lines = ["[data]", f"file = {text(evidence.original.name)}", "", "[roles]"]
    for role, named in evidence.original.roles.items():
        listed = text(named) if isinstance(named, str) else f"[{', '.join(map(text, named))}]"
        lines.append(f"{role} = {listed}")
    return "\n".join(lines).replace("<", "\\u003c")  # the same to TOML, and no markup anywhere


def _commands(evidence: Evidence) -> list[str]:
    name = shlex.quote(evidence.original.name)
    return [
        f"sudare risk {name} --combine 2",
        f"sudare anonymize {name} --recipe recipe.toml --key sudare.key -o release.parquet --truth truth.parquet",
        f"sudare attack {name} release.parquet --truth truth.parquet",
        f"sudare utility {name} release.parquet",
        f"sudare report {name} release.parquet --truth truth.parquet -o report.html",
    ]


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _singling_out(evidence: Evidence) -> str:
    found = evidence.disclosure_after or evidence.disclosure
    rows = {(r["measure"], r["variant"]): r["value"] for r in found.rows} if found else {}
    if ("k", "missing is a value") not in rows:
        return "class sizes not measured"
    k, uniques = rows[("k", "missing is a value")], rows.get(("uniques", "in the table"))
    told = f"smallest class: {written(k, 'count')} {'person' if k == 1 else 'people'}"
    return told + (f"; classes of one person: {written(uniques, 'count')}" if uniques is not None else "")


def _linking(evidence: Evidence) -> str:
    rows = [row for row in (evidence.attacks.rows if evidence.attacks else ()) if row["rate"] is not None]
    if not rows:
        return "attacks not measured"
    best = max(rows, key=lambda row: float(row["rate"]))
    return (
        f"strongest attack ({best['attack']}) links {written(best['rate'], 'share')}, "
        f"a blind guess {written(best['baseline'], 'share')}"
    )


def _inferring(evidence: Evidence) -> str:
    found = evidence.disclosure_after or evidence.disclosure
    rows = [r for r in found.rows if r["measure"] in ("l", "t")] if found else []
    told = [
        f"{r['measure']} of {' + '.join(r['attributes'])}: {written(r['value'])}"
        for r in rows
        if r["variant"] in ("distinct", "ordered")
    ]
    return "; ".join(told) or "no sensitive column was named"


def _largest(evidence: Evidence) -> str | None:
    found = evidence.disclosure_after or evidence.disclosure
    for row in found.rows if found else ():
        if row["measure"] == "prosecutor" and row["variant"] == "largest" and row["value"] is not None:
            value = row["value"]
            told = written(value) if isinstance(value, Capped) else beside(float(value), 0.09)
            return f"largest risk of one person: {told}"
    return None
