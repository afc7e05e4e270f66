"""`sudare estimate`: what the recipient of a release learns about any slice of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.common import Format, FormatOption, emit, names, with_source

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset
else:
    Dataset = object


def register(app: typer.Typer) -> None:
    app.command("estimate")(with_source(estimate))


def estimate(
    ds: Dataset,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by", help="Columns that make the groups; numbers in bins as age:10 (comma-separated)."
        ),
    ] = None,
    method: Annotated[str, typer.Option("--method", help="projection, inverse or em.")] = "projection",
    column: Annotated[
        str | None, typer.Option("--column", help="The column to estimate, if there are several.")
    ] = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the intervals low..high.")] = 0.95,
    format: FormatOption = Format.table,
) -> None:
    """Estimate a randomised column by group, with error bars."""
    from sudare.estimate.measure import estimate as run

    emit(run(ds, by=names(by), method=method, column=column, confidence=confidence), format)  # type: ignore[arg-type]
