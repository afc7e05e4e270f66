"""The same step on the command line and in Python: nothing that the page does is out of reach elsewhere."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from sudare.studio.session import Session


@dataclass(frozen=True)
class Lines:
    """What to type instead of clicking."""

    cli: str
    python: str


def lines_for(session: Session, step: str) -> Lines | None:
    """The command and the call of a step, for the table and roles at hand."""
    if not session.path:
        return None
    file = shlex.quote(session.shown_path)
    opened = f'ds = sudare.open({session.shown_path!r}, roles="sudare.toml")'
    roles = _named(session)
    made = {
        "file": Lines(f"sudare init {file}", f"ds = sudare.open({session.shown_path!r})"),
        "roles": Lines(
            f"sudare init {file} -o sudare.toml", f"ds = sudare.open({session.shown_path!r}{roles})"
        ),
        "risk": Lines(
            f"sudare risk {file} --combine 2", f"{opened}\nsudare.risk(ds, combine=2)\nsudare.disclosure(ds)"
        ),
        "cost": Lines(
            f"sudare plan {file} --value {shlex.quote(session.value or 'COLUMN')} -k 2..20",
            f"sudare.plan(ds, value={session.value!r}, k=range(2, 21))",
        ),
        "recipe": Lines("sudare methods", 'recipe = sudare.Recipe.from_toml("recipe.toml")'),
        "run": Lines(
            f"sudare anonymize {file} --recipe recipe.toml -o release.parquet --truth truth.parquet",
            'release = sudare.anonymize(ds, recipe)\nrelease.save("release.parquet", truth="truth.parquet")',
        ),
        "result": Lines(
            f"sudare attack {file} release.parquet --truth truth.parquet\nsudare utility {file} release.parquet",
            "sudare.attack(ds, release)\nsudare.utility(ds, release)\nsudare.risk(ds, combine=2, release=release)",
        ),
        "download": Lines(
            f"sudare report {file} release.parquet --truth truth.parquet -o report.html",
            'sudare.report(ds, release, path="report.html")',
        ),
    }
    return made.get(step)


def _named(session: Session) -> str:
    parts = [f", user={session.user!r}"] if session.user else []
    for role in ("identifier", "quasi", "sensitive", "other"):
        names = session.columns_of(role)
        if names:
            parts.append(f", {role}={names!r}")
    return "".join(parts)
