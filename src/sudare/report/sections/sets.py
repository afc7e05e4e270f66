"""Columns published as sets: what an attacker believes after seeing one, beside what l promises."""

from __future__ import annotations

from sudare.loop.evidence import Evidence
from sudare.report.charts import drawn
from sudare.report.document import Audience, Block, Section, Table, Words, columns, present
from sudare.report.numbers import written

WANTED = columns(
    ("attacker", "attacker knows", "text"),
    ("claimed", "promised by l", "share"),
    ("expected", "mean certainty", "share"),
    ("success", "right guesses", "share"),
    ("above_0.8", "records above 80%", "share"),
    ("above_0.95", "above 95%", "share"),
)


def sets(evidence: Evidence, audience: Audience) -> Section | None:
    """The posterior audit of every randomised column."""
    if not evidence.posteriors:
        return None
    blocks: list[Block] = []
    for name, result in evidence.posteriors:
        rows = tuple(result.rows)
        best = max(float(row["expected"]) for row in rows)
        alt = f"Histograms of certainty; the best informed attacker is {written(best, 'share')} certain on average."
        blocks += drawn(result, f"posterior-{name}", f"Certainty about {name}", alt)
        blocks.append(Table(f"What attackers learn about {name}", present(rows, WANTED), rows))
        blocks += [Words(note) for note in result.notes]
    lead = (
        "A set of l values promises 1/l. Whoever knows how values are distributed guesses better than that."
    )
    return Section("sets", "Columns published as sets", lead, tuple(blocks))
