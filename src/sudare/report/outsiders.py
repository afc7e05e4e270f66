"""Evidence for outsiders: no count below 10 people, and none that subtraction would give.

Counts are rounded to tens, and what is below 10 is said to be below 10: any difference of two shown counts is then
a multiple of ten, which pins down no smaller count. Shares of people are counts over a total and are treated as
such at both ends. A mean such as 2/n tells n, so means come in steps that leave n open by twenty. Everything whole
is taken for a count unless it is known to be a parameter, and free text that results carry (notes, details) is left
out, because it may hold counts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from sudare.report.evidence import DataCard, Evidence, ReleaseCard
from sudare.report.numbers import Capped
from sudare.results import Result

FLOOR = 10
PARAMETERS = {"k", "l", "step", "sample_size"}
SHARES = {"rate", "low", "high", "baseline", "total_variation"}
TEXTS = {"detail", "seconds", "weakest"}


def for_outsiders(evidence: Evidence) -> Evidence:
    """The same evidence with every small count gone."""
    people = int(evidence.original.users)
    return replace(
        evidence,
        original=_card(evidence.original),
        release=None if evidence.release is None else _release(evidence.release, people),
        risk=_result(evidence.risk, people),
        disclosure=_disclosure(evidence.disclosure, people),
        plan=_result(evidence.plan, people),
        risk_after=_result(evidence.risk_after, people),
        disclosure_after=_disclosure(evidence.disclosure_after, people),
        attacks=_result(evidence.attacks, _smallest_total(evidence)),
        utility=_utility(evidence.utility, people),
        posteriors=(),
        policy=_policy(evidence.policy),
        weakest=(),
        seconds={},
    )


def count(value: float) -> float:
    """A count in tens.

    >>> count(403), float(count(7)), count(7).side
    (400, 10.0, 'below')
    """
    return Capped(FLOOR, "below") if value < FLOOR else round(value / FLOOR) * FLOOR


def share(value: float, total: int) -> float | None:
    """A share of `total` people in steps of ten people; None where the total itself is too small.

    >>> share(0.5, 400), float(share(0.0025, 400)), share(0.9975, 400).side, share(0.5, 12)
    (0.5, 0.025, 'above', None)
    """
    if total < 2 * FLOOR:
        return None
    of = round(total / FLOOR) * FLOOR
    counted = value * total
    if counted < FLOOR:
        return Capped(FLOOR / of, "below")
    if total - counted < FLOOR:
        return Capped(1 - FLOOR / of, "above")
    return min(round(counted / FLOOR) * FLOOR / of, 1.0)


def coarse(value: float, people: int) -> float:
    """A mean in steps so wide that it leaves the number of people open by about twenty.

    The steps are relative, 20 people of the rounded total each, and never finer than three digits show.

    >>> coarse(0.185991, 50_000), coarse(2 / 403, 400), coarse(2 / 413, 400)
    (0.186, 0.0049, 0.0049)
    """
    step = max(2 * FLOOR / float(count(people)), 0.005)
    if value == 0 or not math.isfinite(value):
        return value
    nearest = (1 + step) ** round(math.log(abs(value)) / math.log1p(step))
    return math.copysign(float(f"{nearest:.3g}"), value)


def _card(card: DataCard) -> DataCard:
    columns = tuple({**c, "values": count(c["values"]), "missing": count(c["missing"])} for c in card.columns)
    return replace(card, rows=count(card.rows), users=count(card.users), columns=columns, sha256=None)


def _release(card: ReleaseCard, people: int) -> ReleaseCard:
    steps = tuple({**step, "details": _details(step["details"], people)} for step in card.steps)
    return replace(
        card,
        data=replace(_card(card.data), sha256=card.data.sha256),
        steps=steps,
        dummies=None if card.dummies is None else count(card.dummies),
        deleted=None if card.deleted is None else count(card.deleted),
    )


def _details(details: Mapping[str, Any], people: int) -> dict[str, Any]:
    shown = {}
    for name, value in details.items():
        if isinstance(value, bool) or name in PARAMETERS:
            shown[name] = value
        elif isinstance(value, int):
            shown[name] = count(value)
        elif isinstance(value, float):
            shown[name] = coarse(value, people)
    return shown


def _result(found: Result | None, total: int) -> Any:
    """A result whose rows hold nothing small and which has forgotten the table it came from."""
    if found is None:
        return None
    rows = tuple({name: _cell(name, value, total) for name, value in row.items()} for row in found.rows)
    return replace(found, rows=rows, notes=(), **_forget(found))


def _forget(found: Result) -> dict[str, Any]:
    known: dict[str, Any] = {
        "dataset": None,
        "profiles": {},
        "tied": (),
        "from_ties": (),
        "originals": 0,
        "releases": 0,
    }
    return {f.name: known[f.name] for f in fields(found) if f.name in known}


def _cell(name: str, value: Any, total: int) -> Any:
    if name in TEXTS or isinstance(value, Capped):
        return None if name in TEXTS else value
    if isinstance(value, bool) or name in PARAMETERS:
        return value
    if isinstance(value, int):
        return count(value)
    if isinstance(value, float):
        return share(value, total) if name in SHARES else coarse(value, total)
    return value


def _disclosure(found: Any, total: int) -> Any:
    """Measures one by one: counts of people, shares of records, and the rest in three digits."""
    if found is None:
        return None
    rows = tuple(
        {**row, "value": _measure(row, total), "meaning": _worded(row["meaning"])} for row in found.rows
    )
    return Result(rows)


def _measure(row: Mapping[str, Any], total: int) -> Any:
    value, measure = row["value"], str(row["measure"])
    if value is None:
        return None
    if row["variant"] == "largest" and measure in ("prosecutor", "journalist"):
        return _largest(float(value), total)
    if measure == "l":
        return int(value) if float(value).is_integer() else coarse(float(value), total)
    if isinstance(value, int):
        return count(value)
    return share(float(value), total) if 0 <= value <= 1 else coarse(float(value), total)


def _largest(value: float, total: int) -> float:
    """1/k tells k: it is bounded where k is below 10 people."""
    return Capped(1 / FLOOR, "above") if value > 1 / FLOOR else coarse(value, total)


def _worded(meaning: str) -> str:
    """A meaning without the counts that some carry."""
    return re.sub(r"\s*\([^)]*\d[^)]*\)|;[^;]*\d[^;]*$", "", meaning)


def _utility(found: Any, total: int) -> Any:
    if found is None:
        return None
    rows = tuple({**row, "value": _moved(row["value"], total), "detail": None} for row in found.rows)
    by_column = tuple(
        {name: _cell(name, value, total) for name, value in row.items()}
        for row in getattr(found, "by_column", ())
    )
    return replace(found, rows=rows, notes=(), by_column=by_column)


def _moved(value: float | None, total: int) -> float | None:
    """A metric: small numbers may be shares of records, whole ones counts of them."""
    if value is None:
        return None
    if 0 <= value < 1:
        return share(value, total)
    return count(value) if float(value).is_integer() else coarse(value, total)


def _policy(found: Any) -> Any:
    """Limits and whether they hold; what was measured stays inside."""
    if found is None:
        return None
    return Result(tuple({**row, "measured": None} for row in found.rows))


def _smallest_total(evidence: Evidence) -> int:
    """Attack rates are shares of published rows or of published people: the smaller total is the safer one."""
    release = evidence.release
    return int(evidence.original.users if release is None else min(release.data.users, release.data.rows))
