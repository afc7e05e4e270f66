"""`sudare demo`: the whole loop on built-in data, with a report at the end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.common import Format, FormatOption, emit

if TYPE_CHECKING:
    from sudare.report.demo import Stage
    from sudare.results import Result


def register(app: typer.Typer) -> None:
    app.command("demo")(demo)


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="The report to write.")] = Path("report.html"),
    users: Annotated[int, typer.Option("--users", min=20, help="How many people to invent.")] = 400,
    format: FormatOption = Format.table,
) -> None:
    """Walk the whole loop on built-in data and write report.html."""
    from sudare.report.demo import demo as stages

    walk = stages(out, users=users)
    told = (
        f"The report is {out}; open it in a browser. Your own table: sudare init FILE, or sudare studio FILE"
    )
    if format is not Format.table:
        emit(_walked(list(walk), told), format)
        return
    for number, stage in enumerate(walk, 1):
        typer.secho(f"{number}. {stage.command}", bold=True)
        typer.echo(f"   {stage.words}\n")
        if stage.result is not None:
            typer.echo(f"{stage.result}\n")
    typer.echo(told)


def _walked(stages: list[Stage], told: str) -> Result:
    """The steps as rows; as JSON also what each of them found."""
    from typing import Any, ClassVar

    from sudare.results import Result

    class Demonstration(Result):
        command: ClassVar[str] = "demo"

        def extra(self) -> dict[str, Any]:
            return {"results": [stage.result and stage.result.to_dict() for stage in stages]}

    rows = ({"step": n, "command": s.command, "told": s.words} for n, s in enumerate(stages, 1))
    return Demonstration(tuple(rows), (told,))
