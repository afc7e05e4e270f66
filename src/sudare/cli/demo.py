"""`sudare demo`: the whole loop on built-in data, with a report at the end."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("demo")(demo)


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="The report to write.")] = Path("report.html"),
    users: Annotated[int, typer.Option("--users", min=20, help="How many people to invent.")] = 400,
) -> None:
    """Walk the whole loop on built-in data and write report.html."""
    from sudare.report.demo import demo as stages

    for number, stage in enumerate(stages(out, users=users), 1):
        typer.secho(f"{number}. {stage.command}", bold=True)
        typer.echo(f"   {stage.words}\n")
        if stage.result is not None:
            typer.echo(f"{stage.result}\n")
    typer.echo(
        f"The report is {out}; open it in a browser. Your own table: sudare init FILE, or sudare studio FILE"
    )
