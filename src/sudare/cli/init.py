"""`sudare init`: guess the roles of a table's columns, say why, write sudare.toml."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.common import Format, FormatOption, emit

if TYPE_CHECKING:
    from sudare.data.guessing import Guess
    from sudare.results import Result


def register(app: typer.Typer) -> None:
    app.command("init")(init)


def init(
    source: Annotated[
        str, typer.Argument(metavar="FILE", help="A file, a glob, example:NAME, or a database URL.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The configuration to write.")] = Path(
        "sudare.toml"
    ),
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Accept every guess without asking.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the configuration if it exists.")] = False,
    encoding: Annotated[str | None, typer.Option("--encoding", help="Encoding of a text file.")] = None,
    sheet: Annotated[str | None, typer.Option("--sheet", help="Sheet of a workbook.")] = None,
    table: Annotated[str | None, typer.Option("--table", help="Table of a database.")] = None,
    format: FormatOption = Format.table,
) -> None:
    """Guess what each column is, and why; write sudare.toml."""
    from sudare.data.files.writers import check_output, write_text
    from sudare.data.guessing import guess_roles
    from sudare.data.opening import open as open_any
    from sudare.data.proposal import config_text, own_name
    from sudare.errors import UsageError

    if check_output(out).exists() and not force:
        raise UsageError(f"{out}: exists already; add --force to replace it, or name another file with -o")
    ds = open_any(source, encoding=encoding, sheet=sheet, table=table)
    guesses = list(guess_roles(ds))
    if not yes and sys.stdin.isatty() and sys.stderr.isatty():
        guesses = [_ask(guess) for guess in guesses]
    write_text(config_text(ds, own_name(source), guesses), out)
    emit(_listing(guesses, out), format)


def _listing(guesses: list[Guess], out: Path) -> Result:
    from typing import ClassVar

    from sudare.results import Result

    class Guessed(Result):
        command: ClassVar[str] = "init"

    rows = tuple({"column": g.column, "role": g.role, "values": g.values, "why": g.why} for g in guesses)
    return Guessed(
        rows, (f"written to {out}; guesses are no decisions: look at every line before you publish",)
    )


def _ask(guess: Guess) -> Guess:
    """Enter keeps the guess; the first letters of a role change it."""
    from dataclasses import replace

    from sudare.data.roles import NAMES

    while True:
        typer.echo(f"{guess.column}: {guess.role} ({guess.why})", err=True)
        answer = typer.prompt("  role", default=guess.role, err=True).strip().lower()
        matches = [name for name in NAMES if name.startswith(answer)]
        if len(matches) == 1:
            why = guess.why if matches[0] == guess.role else "decided by hand"
            return replace(guess, role=matches[0], why=why)
        typer.echo(f"  there are: {', '.join(NAMES)}", err=True)
