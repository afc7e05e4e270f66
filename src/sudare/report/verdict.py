"""The verdict: does the release keep to its policy, in one sentence and its reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sudare.report.document import Tone, Verdict
from sudare.report.evidence import Evidence
from sudare.report.numbers import Capped, beside, written


def verdict_of(evidence: Evidence) -> Verdict:
    """Pass or fail by the policy; without one, the facts that a decision needs."""
    if evidence.policy is not None:
        return _by_policy(evidence)
    headline = (
        "No policy was set: this report states facts and passes no judgement."
        if evidence.release is not None
        else "Nothing was released yet: this report says what the table would give away."
    )
    return Verdict("plain", headline, tuple(_facts(evidence)))


def _by_policy(evidence: Evidence) -> Verdict:
    assert evidence.policy is not None
    rows = evidence.policy.rows
    failed = [row for row in rows if not _passed(row)]
    tone: Tone = "fail" if failed else "pass"
    headline = (
        f"The release does not keep to its policy: {len(failed)} of {len(rows)} limits are passed over."
        if failed
        else f"The release keeps to its policy: all {len(rows)} limits hold."
    )
    reasons = [_limit(row) for row in (*failed, *(r for r in rows if r not in failed))]
    return Verdict(tone, headline, (*reasons, *_facts(evidence)))


def _passed(row: Mapping[str, Any]) -> bool:
    return bool(row.get("passed"))


def _limit(row: Mapping[str, Any]) -> str:
    state = "holds" if _passed(row) else "does not hold"
    where = f" of {row['column']}" if row.get("column") else ""
    return f"{row['limit']}{where} {row['required']} {state}{_measured(row)}: {row['meaning']}."


def _measured(row: Mapping[str, Any]) -> str:
    """What was measured, with the digits that show the side of the limit it is on."""
    value = row.get("measured")
    if not isinstance(value, (int, float)) or isinstance(value, Capped):
        return ""
    limit = float(str(row["required"]).split()[-1])
    return f" (measured {beside(float(value), limit)})"


def _facts(evidence: Evidence) -> list[str]:
    """The strongest attack, the smallest class, the riskiest knowledge: before and after."""
    facts = []
    if evidence.attacks is not None and evidence.attacks.rows:
        best = max(evidence.attacks.rows, key=lambda row: float(row["rate"]))
        facts.append(
            f"The strongest of {len(evidence.attacks.rows)} attacks ({best['attack']}) re-identifies "
            f"{written(best['rate'], 'share')} of the release; a blind guess {written(best['baseline'], 'share')}."
        )
    before, after = _smallest(evidence.disclosure), _smallest(evidence.disclosure_after)
    if before is not None and after is not None:
        facts.append(
            f"The smallest class of equal people has {after} people; in the original it had {before}."
        )
    elif before is not None:
        facts.append(f"The smallest class of equal people has {before} people.")
    facts += _riskiest(evidence)
    if evidence.release is not None and evidence.release.insecure:
        facts.append("The key is a demonstration key that anyone can guess: do not publish this release.")
    return facts


def _smallest(found: Any) -> str | None:
    for row in found.rows if found is not None else ():
        if row["measure"] == "k" and row["value"] is not None:
            return written(row["value"], "count")
    return None


def _riskiest(evidence: Evidence) -> list[str]:
    if evidence.risk is None or not evidence.risk.rows:
        return []
    singles = [row for row in evidence.risk.rows if len(row["attributes"]) == 1] or list(evidence.risk.rows)
    worst = singles[0]
    name = " + ".join(worst["attributes"])
    text = f"Who knows a person's '{name}' finds them with probability {written(float(worst['risk']))} in the original"
    after = _same(evidence.risk_after, worst["attributes"])
    return [text + (f", {written(float(after))} in the release." if after is not None else ".")]


def _same(found: Any, attributes: Any) -> float | None:
    for row in found.rows if found is not None else ():
        if list(row["attributes"]) == list(attributes):
            return float(row["risk"])
    return None
