"""`sudare utility`: what is left of the data's use in a release."""

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
    app.command("utility")(with_source(utility))


def utility(
    ds: Dataset,
    release: Annotated[str, typer.Argument(metavar="RELEASE", help="The published table.")],
    truth: Annotated[
        Path | None, typer.Option("--truth", help="The truth file, for metrics that compare row by row.")
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="Metrics: U1,U2 or names (default: all that fit)."),
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Measure how far a release is from the original."""
    from sudare.utility.measure import utility as measure

    published = open_release(ds, release, truth)
    emit(measure(ds, published, names(metrics) or None), format)
