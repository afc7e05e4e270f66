"""`sudare risk`: what an attacker who knows something about a person's record learns from a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.common import (
    Format,
    FormatOption,
    KeyOption,
    emit,
    names,
    numbers,
    open_release,
    with_source,
)

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset
    from sudare.results import Result
    from sudare.risk.result import RiskResult
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
    across: Annotated[
        list[str] | None,
        typer.Option("--across", help="Two values of different records: date+goods, or all."),
    ] = None,
    channel: Annotated[
        list[str] | None,
        typer.Option(
            "--channel",
            help="Blurred knowledge: time=hour, goods=first:3, price=round:10, time=within:1h, goods=wrong:0.1; with "
            "--known several: date=exact,date=month.",
        ),
    ] = None,
    known: Annotated[
        str | None,
        typer.Option(
            "--known", help="So many records known of one person, by these attributes: 1..10 or 1,2,4."
        ),
    ] = None,
    release: Annotated[
        str | None, typer.Option("--release", help="What is left in this release of the table.")
    ] = None,
    truth: Annotated[str | None, typer.Option("--truth", help="The truth of the release.")] = None,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Name the smallest sets whose risk reaches it.")
    ] = None,
    models: Annotated[
        bool, typer.Option("--models", help="The three models side by side: error and records read.")
    ] = False,
    values: Annotated[
        str | None, typer.Option("--values", help="The table of values of an attribute (internal).")
    ] = None,
    chart: Annotated[Path | None, typer.Option("--chart", help="Write the picture to this SVG file.")] = None,
    key: KeyOption = None,
    format: FormatOption = Format.table,
) -> None:
    """Measure how far attributes give people away."""
    from sudare.data.files.writers import check_output
    from sudare.errors import UsageError
    from sudare.risk.measure import risk as measure
    from sudare.risk.sampling import FEW_VALUES

    if chart is not None:
        check_output(chart, (*ds.files, *(Path(p) for p in (release, truth) if p is not None)))
    if truth is not None and release is None:
        raise UsageError("--truth belongs to a release; name it with --release")
    published = None if release is None else open_release(ds, release, truth)
    result = measure(
        ds,
        attributes=names(attributes) or None,
        combine=int(combine) if combine.isdigit() else names([combine]),
        model=model,  # type: ignore[arg-type]
        sample_size=None if models else sample_size,
        attacker=attacker,  # type: ignore[arg-type]
        missing=missing,  # type: ignore[arg-type]
        across=names(across) == ["all"] or names(across),
        channel=_channels(names(channel)),
        known=None if known is None else numbers(known),
        release=published,
        key=key,
    )
    if chart is not None:
        _draw(result, threshold, chart)
    emit(_view(result, values, threshold, (sample_size or FEW_VALUES) if models else None), format)


def _view(result: RiskResult, values: str | None, threshold: float | None, models: int | None) -> Result:
    if values is None and threshold is None and models is None:
        return result
    from sudare.risk.views import minimum_view, models_view, values_view

    if models is not None:
        return models_view(result, models)
    return values_view(result, values) if values is not None else minimum_view(result, threshold or 0.0)


def _channels(given: list[str]) -> dict[str, list[str]] | None:
    from sudare.errors import UsageError

    pairs = [text.partition("=") for text in given]
    for name, sign, _ in pairs:
        if not sign:
            raise UsageError(f"--channel {name}: write attribute=channel, e.g. time=hour")
    found: dict[str, list[str]] = {}
    for name, _, channel in pairs:
        found.setdefault(name, []).append(channel)
    return found or None


def _draw(result: RiskResult, threshold: float | None, path: Path) -> None:
    from sudare.charts import svg
    from sudare.data.files.writers import write_text

    write_text(svg(result.chart(threshold=threshold)), path)
