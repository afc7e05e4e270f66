"""Evidence for outsiders: no count below 10 people, and none that subtraction would give.

Counts are rounded to tens, and what is below 10 is said to be below 10: any difference of two shown counts is then
a multiple of ten, which pins down no smaller count. Shares of people are counts over a total and are treated as
such at both ends. A mean such as 2/n tells n, so means come in steps that leave n open by twenty. Shares within one
class (l, t) tell the counts of a class of few people, so they come in whole numbers and tenths. Everything whole
is taken for a count unless it is known to be a parameter, and free text that results carry (notes, details, reasons)
is left out, because it may hold counts. What rounding would carry across a limit is told by the limit instead.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from sudare.loop.evidence import DataCard, Evidence, ReleaseCard
from sudare.report.numbers import Capped
from sudare.report.verdict import required
from sudare.results import Result

FLOOR = 10
PARAMETERS = {"k", "l", "step", "sample_size", "level", "levels", "columns"}
SHARES = {"rate", "low", "high", "baseline", "total_variation", "columns_moved", "pairs_moved", "reid"}
CHANCES = {"risk", "risk_before", "risk_low", "risk_high", "low_cost"}
TEXTS = {"detail", "seconds", "weakest"}
EMA = 0.09
REASON = "the reason is in the internal report"


def for_outsiders(evidence: Evidence) -> Evidence:
    """The same evidence with every small count gone."""
    people, limits = int(evidence.original.users), _limits(evidence.policy)
    return replace(
        evidence,
        original=_card(evidence.original),
        release=None if evidence.release is None else _release(evidence.release, people),
        risk=_result(evidence.risk, people),
        disclosure=_disclosure(evidence.disclosure, people, limits),
        plan=_result(evidence.plan, people),
        risk_after=_result(evidence.risk_after, people),
        disclosure_after=_disclosure(evidence.disclosure_after, people, limits),
        attacks=_attacks(evidence, limits),
        utility=_utility(evidence.utility, people),
        uses=tuple(
            {name: _cell(name, value, people) for name, value in use.items()} for use in evidence.uses
        ),
        posteriors=(),
        policy=_policy(evidence.policy),
        weakest=(),
        skipped=dict.fromkeys(evidence.skipped, REASON),
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
    step = _step(people)
    if value == 0 or not math.isfinite(value):
        return value
    nearest = (1 + step) ** round(math.log(abs(value)) / math.log1p(step))
    return math.copysign(float(f"{nearest:.{2 if step > 0.01 else 3}g}"), value)


def chance(value: float, people: int) -> float:
    """A probability as a mean in steps; what is not certain is never shown as certain.

    >>> chance(1.0, 400), float(chance(0.992, 400)), chance(0.992, 400).side
    (1.0, 0.95, 'above')
    """
    shown = coarse(value, people)
    return Capped(coarse(1 / (1 + _step(people)), people), "above") if value < 1 <= shown else shown


def on_side(
    shown: float | None, value: float, limit: float | None, *, at_least: bool = False
) -> float | None:
    """What is shown of a number, or the limit itself where rounding went across it.

    >>> on_side(0.3, 0.3, 0.3), on_side(0.3, 0.302, 0.3).side, float(on_side(10, 12, 12, at_least=True))
    (0.3, 'above', 12.0)
    """
    if shown is None or limit is None or isinstance(shown, Capped):
        return shown
    keeps, broken = ("at least", "below") if at_least else ("at most", "above")
    kept, seen = (_kept(number, limit, at_least) for number in (value, float(shown)))
    return shown if kept == seen else Capped(limit, keeps if kept else broken)


def _kept(value: float, limit: float, at_least: bool) -> bool:
    return value >= limit if at_least else value <= limit + 1e-12


def _step(people: int) -> float:
    return max(2 * FLOOR / float(count(people)), 0.005)


def _limits(policy: Result | None) -> dict[str, float]:
    """The limits of the policy by name."""
    rows = policy.rows if policy is not None else ()
    return {row["limit"]: required(row) for row in rows}


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
    if isinstance(value, float) and name in SHARES:
        return share(value, total)
    if isinstance(value, float):
        return chance(value, total) if name in CHANCES else coarse(value, total)
    return value


def _attacks(evidence: Evidence, limits: Mapping[str, float]) -> Any:
    """Rates as shares of the smaller total, on their side of the limit."""
    shown = _result(evidence.attacks, _smallest_total(evidence))
    limit = limits.get("attack_success")
    if shown is None or evidence.attacks is None:
        return None
    rows = tuple(
        {**row, "rate": on_side(row["rate"], exact["rate"], limit)}
        for row, exact in zip(shown.rows, evidence.attacks.rows, strict=True)
    )
    return replace(shown, rows=rows)


def _disclosure(found: Any, total: int, limits: Mapping[str, float]) -> Any:
    """Measures one by one: counts of people, shares of records, and the rest in steps."""
    if found is None:
        return None
    rows = tuple(
        {**row, "value": _measure(row, total, limits), "meaning": _worded(row["meaning"])}
        for row in found.rows
    )
    return Result(rows)


def _measure(row: Mapping[str, Any], total: int, limits: Mapping[str, float]) -> Any:
    value, measure = row["value"], str(row["measure"])
    if value is None:
        return None
    if str(row["variant"]).startswith("largest") and measure in ("prosecutor", "journalist"):
        return _largest(float(value), total, limits)
    if measure == "k":
        return on_side(count(value), value, limits.get("k"), at_least=True)
    if measure == "l":
        return math.floor(value + 1e-9)
    if measure == "t":
        return on_side(_tenths(float(value)), float(value), limits.get("t"))
    if isinstance(value, int):
        return count(value)
    return share(float(value), total) if 0 <= value <= 1 else coarse(float(value), total)


def _largest(value: float, total: int, limits: Mapping[str, float]) -> float | None:
    """1/k tells k: it is bounded where k is below 10 people."""
    if value > 1 / FLOOR:
        return Capped(1 / FLOOR, "above")
    return on_side(on_side(coarse(value, total), value, EMA), value, limits.get("max_risk"))


def _tenths(value: float) -> float:
    """A distance of a class, of which the exact one would tell the counts behind it."""
    if value < 0.1 or value > 0.9:
        return Capped(0.1, "below") if value < 0.1 else Capped(0.9, "above")
    return round(value, 1)


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
