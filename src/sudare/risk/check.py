"""Whether a table keeps to a policy: one row per limit, for people and for CI systems."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar

from sudare.errors import UsageError
from sudare.results import Result, show
from sudare.risk.policy import Policy

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset
    from sudare.risk.disclosure import DisclosureResult


@dataclass(frozen=True, repr=False)
class CheckResult(Result):
    """One row per limit: limit, column, required, measured, passed, meaning."""

    command: ClassVar[str] = "check"

    @property
    def passed(self) -> bool:
        """Whether the table keeps to every limit."""
        return all(row["passed"] for row in self.rows)

    @property
    def failures(self) -> list[str]:
        """The limits that are broken."""
        return list(dict.fromkeys(row["limit"] for row in self.rows if not row["passed"]))

    def extra(self) -> dict[str, Any]:
        return {"passed": self.passed, "failures": self.failures}

    def junit(self) -> str:
        """The result as JUnit XML, which CI systems show as tests."""
        from xml.sax.saxutils import escape, quoteattr

        broken = sum(not row["passed"] for row in self.rows)
        lines = ['<?xml version="1.0" encoding="UTF-8"?>']
        lines.append(
            f'<testsuite name="sudare check" tests="{len(self.rows)}" failures="{broken}" errors="0">'
        )
        for row in self.rows:
            name = quoteattr(f"{row['limit']} {row['column'] or ''}".strip())
            said = f"required {row['required']}, measured {show(row['measured']) or 'nothing'}"
            body = (
                ""
                if row["passed"]
                else f"<failure message={quoteattr(said)}>{escape(row['meaning'])}</failure>"
            )
            lines.append(f'  <testcase classname="sudare.policy" name={name}>{body}</testcase>')
        return "\n".join([*lines, "</testsuite>", ""])


def check(
    ds: Dataset,
    policy: Policy | Mapping[str, Any] | str | os.PathLike[str],
    *,
    attack: Any = None,
    measured: DisclosureResult | None = None,
) -> CheckResult:
    """Whether a table keeps to a policy.

    `attack`: what `sudare.attack` found, its dictionary, or a rate; a limit on attacks without it is broken, as
    nobody knows. `measured`: a DisclosureResult of the table, if there is one already.
    """
    chosen = Policy.of(policy)
    if not chosen.limits:
        raise UsageError("the policy sets no limit; write one, e.g. k = 5, or name a preset")
    wanted = ["k"] * (chosen.smallest_class > 0) + [
        name for name in ("l", "t") if getattr(chosen, name) is not None
    ]
    if measured is None and wanted:
        from sudare.risk.disclosure import disclosure

        measured = disclosure(ds, measures=wanted)
    rows = [*_class_rows(chosen, measured), *_sensitive_rows(chosen, measured)]
    rows += [*_attack_rows(chosen, attack), *_cell_rows(chosen, ds)]
    return CheckResult(rows=tuple(rows), notes=_notes(chosen, measured))


def _class_rows(policy: Policy, found: DisclosureResult | None) -> Iterator[dict[str, Any]]:
    if found is None or found.k is None:
        return
    k = found.k_wildcard if policy.missing == "any" and found.k_wildcard is not None else found.k
    if policy.max_risk is not None:
        meaning = f"largest chance to find a person (so k of {ceil(1 / policy.max_risk - 1e-9)} or more)"
        yield _row(
            "max_risk",
            None,
            f"<= {policy.max_risk:g}",
            1 / max(k, 1),
            1 / max(k, 1) <= policy.max_risk,
            meaning,
        )
    if policy.k is not None:
        yield _row("k", None, f">= {policy.k}", k, k >= policy.k, "people in the smallest class")


def _sensitive_rows(policy: Policy, found: DisclosureResult | None) -> Iterator[dict[str, Any]]:
    if found is None:
        return
    if policy.l is not None:
        for column, l in found.l.items():
            yield _row("l", column, f">= {policy.l}", l, l >= policy.l, "fewest different values in a class")
    if policy.t is not None:
        for column, t in found.t.items():
            kept = t <= policy.t + 1e-12
            yield _row("t", column, f"<= {policy.t:g}", t, kept, "largest distance of a class from the table")


def _attack_rows(policy: Policy, attack: Any) -> Iterator[dict[str, Any]]:
    if policy.attack_success is None:
        return
    rate = attack_rate(attack)
    kept = rate is not None and rate <= policy.attack_success
    meaning = (
        "best rate of an attack" if rate is not None else "not measured; give the result of sudare attack"
    )
    yield _row("attack_success", None, f"<= {policy.attack_success:g}", rate, kept, meaning)


def _cell_rows(policy: Policy, ds: Dataset) -> Iterator[dict[str, Any]]:
    from sudare.risk.disclosure.counts import class_sizes

    if policy.cell_size is None:
        return
    if not ds.roles.quasi:
        raise UsageError(f"{ds.name}: no quasi-identifiers for cell_size; name them with quasi= or --quasi")
    for column in ds.roles.quasi:
        people = class_sizes(ds, [column]).k
        kept = people >= policy.cell_size
        yield _row(
            "cell_size", column, f">= {policy.cell_size}", people, kept, "fewest people behind a value"
        )


def attack_rate(attack: Any) -> float | None:
    """The best rate in an attack's result, its dictionary, or a plain number.

    >>> attack_rate({"rows": [{"rate": 0.1}, {"rate": 0.3}]}), attack_rate(0.2), attack_rate(None)
    (0.3, 0.2, None)
    """
    if attack is None or (isinstance(attack, (int, float)) and not isinstance(attack, bool)):
        return attack
    rows = attack.get("rows") if isinstance(attack, Mapping) else getattr(attack, "rows", None)
    try:
        rates = [float(row["rate"]) for row in rows or () if row["rate"] is not None]
    except (KeyError, TypeError, ValueError):
        rates = []
    if not rates:
        raise UsageError(
            "attack: no rates in it; give what `sudare attack --format json` prints, or a number"
        )
    return max(rates)


def _row(
    limit: str, column: str | None, required: str, measured: float | None, passed: bool, meaning: str
) -> dict[str, Any]:
    return {
        "limit": limit,
        "column": column,
        "required": required,
        "measured": measured,
        "passed": bool(passed),
        "meaning": meaning,
    }


def _notes(policy: Policy, found: DisclosureResult | None) -> tuple[str, ...]:
    if found is None:
        return ()
    which = "may be any value" if policy.missing == "any" else "is a value of its own"
    return (f"quasi-identifiers: {', '.join(found.quasi)}; a missing one {which}",)
