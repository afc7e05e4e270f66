"""The sections of a report, in the order in which a reader needs them."""

from __future__ import annotations

from sudare.loop.evidence import Evidence
from sudare.report.document import Audience, Section
from sudare.report.sections import after, before, closing, setting
from sudare.report.sections.sets import sets

SECTIONS = (
    setting.context,
    setting.data,
    setting.threats,
    before.risk,
    before.cost,
    after.done,
    after.risk,
    after.attacks,
    sets,
    after.utility,
    before.weakest,
    closing.crosswalk,
    closing.limits,
    closing.reproduce,
    closing.sign_off,
)


def sections_of(evidence: Evidence, audience: Audience) -> tuple[Section, ...]:
    """Every section that this evidence and this audience call for."""
    made = (section(evidence, audience) for section in SECTIONS)
    return tuple(section for section in made if section is not None)
