"""`sudare report`: one file of evidence about a table and its release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.common import open_release, with_source

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset
else:
    Dataset = object


def register(app: typer.Typer) -> None:
    app.command("report")(with_source(report))


def report(
    ds: Dataset,
    release: Annotated[
        str | None, typer.Argument(metavar="RELEASE", help="The published table (none: the original alone).")
    ] = None,
    truth: Annotated[Path | None, typer.Option("--truth", help="The truth of the release.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The report: .html, .md or .json.")] = Path(
        "report.html"
    ),
    audience: Annotated[str, typer.Option("--audience", help="internal or external.")] = "internal",
    format: Annotated[str | None, typer.Option("--format", "-f", help="html, md, json or pdf-ready.")] = None,
    value: Annotated[
        str | None, typer.Option("--value", help="The column whose values dummies would blur.")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", help="A sudare.toml with [policy] and [release] (default: this folder's)."),
    ] = None,
) -> None:
    """Measure a table and its release and write the report."""
    from sudare.report.build import report as build
    from sudare.report.settings import context_and_policy

    context, policy = context_and_policy(config)
    made = build(
        ds,
        open_release(ds, release, truth) if release is not None else None,
        path=out,
        audience=audience,  # type: ignore[arg-type]
        format=format,  # type: ignore[arg-type]
        value=value,
        policy=policy,
        context=context,
        progress=lambda step, done, total: typer.echo(f"[{done + 1}/{total}] {step}", err=True),
    )
    typer.echo(f"{made.document.verdict.headline}\nwritten to {out}")
