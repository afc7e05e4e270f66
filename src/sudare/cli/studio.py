"""`sudare studio`: the loop in a browser, on this machine only."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("studio")(studio)


def studio(
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="A table or a folder (default: this folder).")
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port (0: any free one).")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")] = True,
) -> None:
    """Open the loop in your browser; nothing is sent."""
    from sudare.progress import stage
    from sudare.studio.server import serve

    stage("")
    serve(file, port=port, browser=browser, say=typer.echo)
