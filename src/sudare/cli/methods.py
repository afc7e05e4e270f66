"""`sudare methods`: every method, attack and metric that is installed, with what it does."""

from __future__ import annotations

from typing import ClassVar

import typer

from sudare.cli.common import Format, FormatOption, emit


def register(app: typer.Typer) -> None:
    app.command("methods")(methods)


def methods(format: FormatOption = Format.table) -> None:
    """List methods, attacks and metrics by their names."""
    from sudare import registry
    from sudare.results import Result

    class Listing(Result):
        command: ClassVar[str] = "methods"

    kinds: tuple[registry.Kind, ...] = ("method", "attack", "metric")
    rows = tuple(
        {"kind": kind, "name": name, "what": registry.summary(cls)}
        for kind in kinds
        for name, cls in registry.all_of(kind).items()
    )
    emit(Listing(rows), format)
