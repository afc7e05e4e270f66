"""`sudare risk`: what an attacker who knows something about a person's record learns from a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.common import Format, FormatOption, KeyOption, emit, names, with_source

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset
else:
    Dataset = object


def register(app: typer.Typer) -> None:
    app.command("risk")(with_source(risk))


def risk(
    ds: Dataset,
    attributes: Annotated[
        list[str] | None,
        typer.Option(
            "--attributes", "-a", help="What the attacker may know: date,time or date+goods (default: all)."
        ),
    ] = None,
    combine: Annotated[
        str, typer.Option("--combine", help="All sets of up to N attributes, or named sets: date+goods.")
    ] = "1",
    model: Annotated[str, typer.Option("--model", help="exact, low-cost or sample.")] = "exact",
    sample_size: Annotated[
        int | None, typer.Option("--sample-size", help="Values drawn by the sampling model.")
    ] = None,
    attacker: Annotated[str, typer.Option("--attacker", help="uniform, proportional or bayes.")] = "uniform",
    missing: Annotated[str, typer.Option("--missing", help="Missing values: value or drop.")] = "value",
    key: KeyOption = None,
    format: FormatOption = Format.table,
) -> None:
    """Measure how far each attribute, alone or with others, gives people away."""
    from sudare.risk.measure import risk as measure

    result = measure(
        ds,
        attributes=names(attributes) or None,
        combine=int(combine) if combine.isdigit() else names([combine]),
        model=model,
        sample_size=sample_size,
        attacker=attacker,
        missing=missing,
        key=key,
    )
    emit(result, format)
