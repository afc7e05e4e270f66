"""The verdict: does the release keep to its policy, in one sentence and its reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sudare.loop.evidence import Evidence
from sudare.report.document import KeyFigure, Tone, Verdict
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
    return Verdict("plain", headline, tuple(_facts(evidence)), figures_of(evidence))


def _by_policy(evidence: Evidence) -> Verdict:
    assert evidence.policy is not None
    rows = evidence.policy.rows
    failed = [row for row in rows if not _passed(row)]
    what = "release" if evidence.release is not None else "table"
    tone: Tone = "fail" if failed else "pass"
    if failed:
        headline = f"The {what} breaks its policy: {len(failed)} of {len(rows)} limits not kept."
    else:
        kept = "its one limit holds" if len(rows) == 1 else f"all {len(rows)} limits hold"
        headline = f"The {what} keeps to its policy: {kept}."
    reasons = [_limit(row) for row in (*failed, *(r for r in rows if r not in failed))]
    return Verdict(tone, headline, (*reasons, *_facts(evidence)), figures_of(evidence))


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
    return f" (measured {beside(float(value), required(row))})"


def _facts(evidence: Evidence) -> list[str]:
    """What the key figures mean, in sentences."""
    facts = []
    best = _best(evidence)
    if best is not None:
        facts.append(
            f"The strongest of {len(evidence.attacks.rows if evidence.attacks else ())} attacks ({best['attack']}) "
            f"re-identifies {_rate(evidence, best)} of the release; "
            f"a blind guess {written(best['baseline'], 'share')}."
        )
    worst = _riskiest(evidence)
    if worst is not None:
        known, before, after = worst
        now = f", {written(after)} in the release" if after is not None else ""
        facts.append(f"Who knows a person's '{known}' finds them with probability {written(before)}{now}.")
    if evidence.release is not None and evidence.release.insecure:
        facts.append("The key is a demonstration key that anyone can guess: do not publish this release.")
    return facts


def figures_of(evidence: Evidence) -> tuple[KeyFigure, ...]:
    """The numbers that a reader looks for first, each beside what it was or what chance gives."""
    made = []
    best = _best(evidence)
    if best is not None:
        blind = f"blind guess {written(best['baseline'], 'share')}"
        made.append(KeyFigure("Strongest attack finds", _rate(evidence, best), blind))
    worst = _riskiest(evidence)
    if worst is not None:
        known, before, after = worst
        now, was = (written(after), f"was {written(before)}") if after is not None else (written(before), "")
        made.append(KeyFigure(f"Found by '{known}' alone", now, was))
    before_k, after_k = _smallest(evidence.disclosure), _smallest(evidence.disclosure_after)
    if after_k is not None or before_k is not None:
        was = f"was {before_k}" if after_k is not None and before_k is not None else ""
        made.append(KeyFigure("Smallest class, people", after_k or before_k or "", was))
    loss = _loss(evidence)
    if loss is not None:
        made.append(KeyFigure("Pairs of columns moved by", written(loss, "share"), "0% is unchanged"))
    return tuple(made)


def _rate(evidence: Evidence, best: Mapping[str, Any]) -> str:
    """The rate of the strongest attack, on its side of the limit if there is one."""
    rows = evidence.policy.rows if evidence.policy is not None else ()
    limits = [required(row) for row in rows if row["limit"] == "attack_success"]
    if not limits or isinstance(best["rate"], Capped):
        return written(best["rate"], "share")
    return beside(float(best["rate"]), limits[0], "share")


def required(row: Mapping[str, Any]) -> float:
    """The number that a limit of the policy asks for."""
    return float(str(row["required"]).split()[-1])


def _best(evidence: Evidence) -> Mapping[str, Any] | None:
    rows = [row for row in (evidence.attacks.rows if evidence.attacks else ()) if row["rate"] is not None]
    return max(rows, key=lambda row: float(row["rate"])) if rows else None


def _smallest(found: Any) -> str | None:
    for row in found.rows if found is not None else ():
        if row["measure"] == "k" and row["value"] is not None:
            return written(row["value"], "count")
    return None


def _loss(evidence: Evidence) -> float | None:
    for row in evidence.utility.rows if evidence.utility is not None else ():
        if row["metric"] == "pairwise-distance":
            found: float | None = row["value"]
            return found
    return None


def _riskiest(evidence: Evidence) -> tuple[str, float, float | None] | None:
    """The attribute that gave most away in the original, its risk then and now."""
    if evidence.risk is None or not evidence.risk.rows:
        return None
    worst = next((row for row in evidence.risk.rows if len(row["attributes"]) == 1), evidence.risk.rows[0])
    after = _same(evidence.risk_after, worst["attributes"])
    return " + ".join(worst["attributes"]), worst["risk"], after


def _same(found: Any, attributes: Any) -> float | None:
    for row in found.rows if found is not None else ():
        if list(row["attributes"]) == list(attributes):
            found_risk: float = row["risk"]
            return found_risk
    return None
