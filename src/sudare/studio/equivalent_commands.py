"""The same step on the command line and in Python: nothing that the page does is out of reach elsewhere.

Every text works when it is pasted: commands where the studio was started, calls in a fresh interpreter.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from sudare.data.roles import NAMES
from sudare.loop.measure import combined
from sudare.studio.session import KS, Session


@dataclass(frozen=True)
class Lines:
    """What to type instead of clicking."""

    cli: str
    python: str


def lines_for(session: Session, step: str) -> Lines | None:
    """The command and the call of a step, for the table and roles at hand."""
    made = {
        "file": _file,
        "roles": _roles,
        "risk": _risk,
        "values": _values,
        "cost": _cost,
        "recipe": _recipe,
        "run": _run,
        "result": _result,
        "download": _download,
    }
    return made[step](session) if session.path and step in made else None


def _file(session: Session) -> Lines:
    call = f"import sudare\n\nds = sudare.open({session.shown_path!r})"
    return Lines(f"sudare init {shlex.quote(session.shown_path)}", call)


def _roles(session: Session) -> Lines:
    return Lines(f"sudare init {shlex.quote(session.shown_path)}", _opened(session))


def _risk(session: Session) -> Lines:
    together = combined(len(session.columns_of("quasi", "sensitive", "other")))
    commands = [_command(session, "risk", f"--combine {together}"), _command(session, "disclosure")]
    calls = [f"sudare.risk(ds, combine={together})", "sudare.disclosure(ds)"]
    return _both(commands, [_opened(session), *calls])


def _values(session: Session) -> Lines:
    name = session.attribute
    command = _command(session, "risk", f"-a {shlex.quote(name)} --values {shlex.quote(name)}")
    return _both([command], [_opened(session), f"sudare.risk(ds, attributes=[{name!r}]).values({name!r})"])


def _cost(session: Session) -> Lines | None:
    if not session.user or not session.value:
        return None
    planned = session.results.get("plan")
    last = planned.rows[-1]["k"] if planned is not None and planned.rows else KS[-1]
    command = _command(session, "plan", f"--value {shlex.quote(session.value)} -k {KS[0]}..{last}")
    call = f"sudare.plan(ds, value={session.value!r}, k=range({KS[0]}, {last + 1}))"
    return _both([command], [_opened(session), call])


def _recipe(session: Session) -> Lines | None:
    if not session.steps:
        return None
    written = f"cat > recipe.toml <<'END'\n{session.toml.strip()}\nEND"
    return _both([written], ["import sudare\n", _built(session)])


def _run(session: Session) -> Lines:
    files = "--recipe recipe.toml -o release.parquet --truth truth.parquet"
    return _both(
        [_command(session, "anonymize", files)],
        [*_released(session), 'release.save("release.parquet", truth="truth.parquet")'],
    )


def _result(session: Session) -> Lines:
    truth = "--truth truth.parquet"
    together = combined(len(session.columns_of("quasi", "sensitive", "other")))
    commands = [
        _command(session, "attack", "release.parquet", truth),
        _command(session, "utility", "release.parquet", truth),
        _command(session, "risk", f"--combine {together} --release release.parquet", truth),
    ]
    calls = [
        "sudare.attack(ds, release)",
        "sudare.utility(ds, release)",
        f"sudare.risk(ds, combine={together}, release=release)",
    ]
    return _both(commands, [*_released(session), *calls])


def _download(session: Session) -> Lines:
    files = "release.parquet --truth truth.parquet"
    more = "".join(
        f", {name}={dict(given)!r}"
        for name, given in (("policy", session.policy), ("context", session.context))
        if given
    )
    return _both(
        [
            _command(session, "report", files, "-o report.html"),
            _command(session, "report", files, "--audience external -o report-external.html"),
        ],
        [
            *_released(session),
            f'sudare.report(ds, release, path="report.html"{more})',
            f'sudare.report(ds, release, path="report-external.html", audience="external"{more})',
        ],
    )


def _both(commands: list[str], calls: list[str]) -> Lines:
    return Lines("\n".join(commands), "\n".join(calls))


def _command(session: Session, verb: str, *rest: str) -> str:
    """A command on the table, with the roles as options; names with commas need a file of them."""
    named = [(role, session.columns_of(role)) for role in NAMES]
    if any("," in name or name != name.strip() for _, names in named for name in names):
        options = ["--roles sudare.toml"]
    else:
        options = [f"--{role} {shlex.quote(','.join(names))}" for role, names in named if names]
    return " ".join(["sudare", verb, shlex.quote(session.shown_path), *rest, *options])


def _opened(session: Session) -> str:
    parts = [repr(session.shown_path)]
    if session.user:
        parts.append(f"user={session.user!r}")
    for role in NAMES[1:]:
        names = session.columns_of(role)
        if names:
            parts.append(f"{role}={names!r}")
    return f"import sudare\n\nds = sudare.open({', '.join(parts)})"


def _built(session: Session) -> str:
    steps = "".join(f"    {step!r},\n" for step in session.steps)
    return f"recipe = sudare.Recipe.from_steps([\n{steps}])"


def _released(session: Session) -> list[str]:
    return [_opened(session), _built(session), "release = sudare.anonymize(ds, recipe)"]
