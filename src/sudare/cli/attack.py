"""`sudare attack`: try to find out whom the rows of a release are about, and score the attempt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.common import Format, FormatOption, emit, names, open_release, with_source
from sudare.errors import UsageError

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset
    from sudare.data.published import Published
else:
    Dataset = object


def register(app: typer.Typer) -> None:
    app.command("attack")(with_source(attack))


def attack(
    ds: Dataset,
    releases: Annotated[
        list[str],
        typer.Argument(metavar="RELEASE...", help="The published table; several: what they say together."),
    ],
    truth: Annotated[
        list[Path] | None,
        typer.Option(
            "--truth", help="The truth (linkage file) that `sudare anonymize` wrote; one per release."
        ),
    ] = None,
    attacks: Annotated[
        list[str] | None,
        typer.Option("--attack", "-a", help="Attacks by name, separated by commas (default: all that fit)."),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option("--without", help="Attacks to leave out, by name, separated by commas."),
    ] = None,
    budget: Annotated[
        str | None, typer.Option("--budget", help="About how long it may take: 60s (default), 10m.")
    ] = None,
    control: Annotated[
        str | None,
        typer.Option("--control", help="A table of people who are not in the release, for comparison."),
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

    Every rate stands beside a random-guess baseline, with its interval.
    """
    from sudare.attacks.measure import attack as run
    from sudare.data.opening import open as open_any

    published = _published(ds, releases, truth or [])
    if guess:
        from sudare.loop.guess import guess as guess_method

        emit(guess_method(ds, published[0]), format)
        return
    found = run(
        ds,
        published if len(published) > 1 else published[0],
        names(attacks) or None,
        ties=ties,  # type: ignore[arg-type]
        budget=budget,
        control=None if control is None else open_any(control, engine=ds.master, missing=ds.missing),
        without=names(without),
    )
    emit(found, format)
    if found.stopped:
        raise typer.Exit(130)


def _published(ds: Dataset, releases: list[str], truths: list[Path]) -> list[Published]:
    if truths and len(truths) != len(releases):
        raise UsageError(f"{len(releases)} releases and {len(truths)} times --truth; give one per release")
    known: list[Path | None] = [*truths] if truths else [None] * len(releases)
    return [open_release(ds, release, truth) for release, truth in zip(releases, known)]
