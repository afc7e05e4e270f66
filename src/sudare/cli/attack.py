"""`sudare attack`: try to find out whom the rows of a release are about, and score the attempt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.common import Format, FormatOption, emit, names, open_release, with_source

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset
else:
    Dataset = object


def register(app: typer.Typer) -> None:
    app.command("attack")(with_source(attack))


def attack(
    ds: Dataset,
    release: Annotated[str, typer.Argument(metavar="RELEASE", help="The published table.")],
    truth: Annotated[Path, typer.Option("--truth", help="The truth file that `sudare anonymize` wrote.")],
    attacks: Annotated[
        list[str] | None,
        typer.Option("--attack", "-a", help="Attacks by name, separated by commas (default: all that fit)."),
    ] = None,
    ties: Annotated[
        str, typer.Option("--ties", help="How ties count: expected, first or fail.")
    ] = "expected",
    guess: Annotated[
        bool, typer.Option("--guess", help="Say which method was probably used instead.")
    ] = False,
    format: FormatOption = Format.table,
) -> None:
    """Attack a release with every attack that fits.

    Every rate stands beside a blind guess, with its interval.
    """
    from sudare.attacks.measure import attack as run

    published = open_release(ds, release, truth)
    if guess:
        from sudare.loop.guess import guess as guess_method

        emit(guess_method(ds, published), format)
    else:
        emit(run(ds, published, names(attacks) or None, ties=ties), format)  # type: ignore[arg-type]
