"""The demonstration: the whole loop on purchase histories of people who do not exist."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sudare.results import Result

ROLES: dict[str, Any] = {
    "user": "user",
    "identifier": ["invoice"],
    "quasi": ["date", "time", "goods"],
    "sensitive": ["price", "number"],
}
K = 6
STEPS: list[dict[str, Any]] = [
    {"method": "generalize", "column": "date", "hierarchy": {"dates": ["quarter", "year"]}, "level": 1},
    {"method": "suppress", "columns": ["time"]},
    {"method": "round", "column": "number", "to": 10},
    {"method": "dummy-records", "value": "goods", "k": K, "keep": "multiset", "effort": "low"},
]
CONTEXT: dict[str, Any] = {
    "purpose": "show what sudare does",
    "recipient": "whoever runs `sudare demo`",
    "environment": "none: nobody in this table exists",
    "holder": "sudare",
    "uses": {
        "sales by quarter and goods": ["date", "goods", "number"],
        "prices of goods": ["goods", "price"],
    },
}
POLICY = {"attack_success": 0.3}


@dataclass(frozen=True)
class Stage:
    """One step as the terminal tells it: the command to type, what it shows, the table."""

    command: str
    words: str
    result: Result | None = None


def demo(path: str | os.PathLike[str] = "report.html", *, users: int = 400) -> Iterator[Stage]:
    """The stages of the loop, one after another; the last one has written the report."""
    from sudare.data.files.writers import check_output
    from sudare.data.opening import open as open_any
    from sudare.keys import Key
    from sudare.loop import measure as loop
    from sudare.methods.recipe import Recipe, anonymize
    from sudare.report.build import report

    check_output(path)
    source = "example:histories" if users == 400 else f"example:histories:{users}"
    ds = open_any(source, **ROLES)
    told = f"{ds.rows:,} purchases of {ds.users:,} people who do not exist; user, identifier and other roles named"
    yield Stage(f"sudare init {source}", told)

    risk = loop.risk_of(ds)
    yield Stage(
        f"sudare risk {source} --combine 2",
        "How often somebody who knows this much about one purchase finds the customer:",
        _first(risk, 8),
    )
    plan = loop.plan_of(ds, "goods", range(2, 11))
    yield Stage(
        f"sudare plan {source} --value goods", "What k-anonymity of histories would cost, before:", plan
    )

    release = anonymize(ds, Recipe.from_steps(STEPS), key=Key.demo(0))
    yield Stage(
        f"sudare anonymize {source} --recipe recipe.toml -o release.parquet --truth truth.parquet",
        f"{release.data.rows:,} records published, {int((release.rows < 0).sum()):,} of them dummies "
        "(the recipe is in the report):",
        _steps(release),
    )
    attacks = loop.attacks_of(ds, release)
    yield Stage(
        f"sudare attack {source} release.parquet --truth truth.parquet",
        "How many records every attack we know gives back:",
        attacks,
    )
    utility = loop.utility_of(ds, release)
    measured = f"sudare utility {source} release.parquet --truth truth.parquet"
    yield Stage(measured, "What is left of the data's use:", utility)
    known = {"risk": risk, "plan": plan, "attacks": attacks, "utility": utility}
    made = report(ds, release, path=path, value="goods", context=CONTEXT, policy=POLICY, known=known)
    written = f"sudare report {source} release.parquet --truth truth.parquet -o {path}"
    yield Stage(written, made.document.verdict.headline)


def _first(result: Any, rows: int) -> Any:
    return replace(result, rows=result.rows[:rows], notes=())


def _steps(release: Any) -> Result:
    return Result(
        tuple(
            {"step": n, "technique": s["technique"], "method": s["method"]}
            for n, s in enumerate(release.steps, 1)
        )
    )
