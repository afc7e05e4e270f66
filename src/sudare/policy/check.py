"""Whether a table keeps to a policy: one row per limit, for people and for CI systems."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar

from sudare.disclosure.result import DisclosureResult
from sudare.errors import UsageError
from sudare.parameters import checked
from sudare.policy.limits import Policy
from sudare.results import Exact, Result, show

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset
    from sudare.disclosure.measure import Measure


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


@checked
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

    >>> import sudare
    >>> patients = sudare.open("example:patients", quasi=["sex", "job"], sensitive="disease")
    >>> sudare.check(patients, {"k": 2, "max_risk": 0.1}).failures
    ['max_risk']
    """
    chosen = Policy.of(policy)
    if not chosen.limits:
        raise UsageError("the policy sets no limit; write one, e.g. k = 5, or name a preset")
    limited: dict[Measure, bool] = {
        "k": chosen.smallest_class > 0,
        "l": chosen.l is not None,
        "t": chosen.t is not None,
    }
    wanted = [measure for measure, limit in limited.items() if limit]
    if measured is None and wanted:
        from sudare.disclosure.measure import disclosure

        measured = disclosure(ds, measures=wanted)
    rows = [*_class_rows(chosen, measured), *_sensitive_rows(chosen, measured)]
    rows += [*_attack_rows(chosen, attack), *_cell_rows(chosen, ds)]
    return CheckResult(rows=tuple(rows), notes=_notes(chosen, measured))


def _class_rows(policy: Policy, found: DisclosureResult | None) -> Iterator[dict[str, Any]]:
    k = None if found is None else (found.k_wildcard if policy.missing == "any" else found.k)
    if policy.max_risk is not None:
        risk = None if k is None else 1 / max(k, 1)
        meaning = f"largest chance to find a person (so k of {ceil(1 / policy.max_risk - 1e-9)} or more)"
        yield _limit("max_risk", None, policy.max_risk, risk, meaning)
    if policy.k is not None:
        yield _limit("k", None, policy.k, k, "people in the smallest class", at_least=True)


def _sensitive_rows(policy: Policy, found: DisclosureResult | None) -> Iterator[dict[str, Any]]:
    if policy.l is not None:
        for column, l in (found.l if found is not None and found.l else {None: None}).items():
            yield _limit("l", column, policy.l, l, "fewest different values in a class", at_least=True)
    if policy.t is not None:
        for column, t in (found.t if found is not None and found.t else {None: None}).items():
            yield _limit("t", column, policy.t, t, "largest distance of a class from the table")


def _attack_rows(policy: Policy, attack: Any) -> Iterator[dict[str, Any]]:
    if policy.attack_success is not None:
        yield _limit(
            "attack_success", None, policy.attack_success, attack_rate(attack), "best rate of an attack"
        )


def _cell_rows(policy: Policy, ds: Dataset) -> Iterator[dict[str, Any]]:
    from sudare.engine.counts import counts_of

    if policy.cell_size is None:
        return
    if not ds.roles.quasi:
        raise UsageError(f"{ds.name}: no quasi-identifiers for cell_size; name them with quasi= or --quasi")
    for column in ds.roles.quasi:
        people = counts_of(ds).class_sizes([column]).k
        yield _limit(
            "cell_size", column, policy.cell_size, people, "fewest people behind a value", at_least=True
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


def _limit(
    name: str,
    column: str | None,
    limit: float,
    measured: float | None,
    meaning: str,
    *,
    at_least: bool = False,
) -> dict[str, Any]:
    """A row; what was not measured is broken, because nobody knows."""
    kept = measured is not None and (measured >= limit if at_least else measured <= limit + 1e-12)
    return {
        "limit": name,
        "column": column,
        "required": f"{'>=' if at_least else '<='} {limit:g}",
        "measured": measured if measured is None else Exact.beside(measured, limit),
        "passed": kept,
        "meaning": meaning if measured is not None else f"not measured: {meaning}",
    }


def _notes(policy: Policy, found: DisclosureResult | None) -> tuple[str, ...]:
    if found is None:
        return ()
    which = "may be any value" if policy.missing == "any" else "is a value of its own"
    return (f"quasi-identifiers: {', '.join(found.quasi)}; a missing one {which}",)
