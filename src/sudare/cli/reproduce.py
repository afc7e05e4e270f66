"""`sudare reproduce`: recompute the tables and figures of the papers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.common import Format, FormatOption, emit


def register(app: typer.Typer) -> None:
    app.command("reproduce")(reproduce)


def reproduce(
    papers: Annotated[
        list[str] | None, typer.Argument(metavar="[P1|P2|P3|P4]", help="Which papers; all without.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the pages.")] = Path("reproduction"),
    full: Annotated[bool, typer.Option("--full", help="Simulations at the papers' size.")] = False,
    format: FormatOption = Format.table,
) -> int:
    """Recompute the tables and figures of the papers.

    The exit code is 1 when a number that must be equal is not.
    """
    from sudare.reproduction import PAPERS
    from sudare.reproduction import reproduce as run

    found = run(papers or list(PAPERS), out=out, full=full)
    emit(found, format)
    return 1 if found.failed else 0
