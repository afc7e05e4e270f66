"""What is released to whom, from what, and against whom it must hold."""

from __future__ import annotations

from sudare.loop.evidence import DataCard, Evidence
from sudare.loop.uses import told
from sudare.report.document import Audience, Block, Facts, Points, Section, Table, Words, columns

CONTEXT = (
    ("purpose", "Purpose of the release"),
    ("recipient", "Recipient"),
    ("environment", "Environment (public, contract, secure room)"),
    ("legal_basis", "Legal basis"),
    ("holder", "Holder of the data"),
    ("retention", "Retention"),
    ("uses", "Declared uses"),
)


def context(evidence: Evidence, audience: Audience) -> Section:
    """Who gets it and what for: the same numbers mean different things in different places."""
    stated = {**evidence.context, "uses": told(evidence.context)}
    pairs = tuple((title, stated.get(key) or "not stated") for key, title in CONTEXT)
    blocks: tuple[Block, ...] = (Facts(pairs),)
    if not any(evidence.context.get(key) for key, _ in CONTEXT):
        blocks += (
            Words(
                "The context was not stated. Write it into sudare.toml under [release] before anyone signs.",
                "warn",
            ),
        )
    return Section(
        "context",
        "Release context",
        "A number is safe or unsafe only with regard to a place and a purpose.",
        blocks,
    )


def data(evidence: Evidence, audience: Audience) -> Section:
    """The data card: shape and roles, no cell."""
    blocks: list[Block] = [Facts(_facts(evidence.original, "original", audience))]
    if evidence.release is not None:
        blocks.append(Facts(_facts(evidence.release.data, "release", "internal")))
    rows = tuple(_column(evidence, dict(row)) for row in evidence.original.columns)
    blocks.append(
        Table(
            "Columns of the original",
            columns(
                ("column", "column"),
                ("role", "role"),
                ("type", "type", "code"),
                ("values", "different values", "count"),
                ("missing", "missing", "count"),
                ("published", "in the release"),
            )[: 6 if evidence.release is not None else 5],
            rows,
        )
    )
    return Section("data", "Data card", "What the table looks like. No cell of it is shown.", tuple(blocks))


def threats(evidence: Evidence, audience: Audience) -> Section:
    """Who attacks, knowing what."""
    person = evidence.original
    quasi = ", ".join(person.roles.get("quasi", ())) or "every column but the identifiers"
    items = [
        f"Assumed knowledge: an attacker may know any of these about a person: {quasi}.",
        "Background knowledge (uniform attacker): knows the true value of one attribute, or of a pair, of one record, "
        "and guesses evenly among its owners. The risk is how often the guess is right.",
        "Prosecutor: knows that the person is in the table, and goes for that one person.",
        "Journalist: does not know who is in the table, and wants to show that anyone can be found.",
        "Marketer: wants to link as many records as possible and does not mind errors.",
        "Maximum-knowledge attacker: holds the whole original and links every published row to it. "
        "The attacks of this report are of this kind: nobody outside knows more.",
    ]
    if person.by_user:
        items.insert(
            1, "One person has several records; an attacker who links records learns the whole history."
        )
    return Section(
        "threats",
        "Threat models",
        "Against whom the numbers below are meant to hold.",
        (Points(tuple(items)),),
    )


def _facts(card: DataCard, what: str, audience: Audience) -> tuple[tuple[str, object], ...]:
    pairs: list[tuple[str, object]] = [(f"Table ({what})", card.name), ("Records", card.rows)]
    if card.by_user:
        pairs.append(("People", card.users))
    if card.sha256 and audience == "internal":
        pairs.append(("SHA-256 of the cells", card.sha256))
    pairs.append(("Engine", card.engine))
    return tuple(pairs)


def _column(evidence: Evidence, row: dict[str, object]) -> dict[str, object]:
    if evidence.release is not None:
        there = {c["column"] for c in evidence.release.data.columns}
        row["published"] = "yes" if row["column"] in there else "no"
    return {**row, "role": row["role"] or "none"}
