"""`sudare fetch`: the one command that uses the network, to download a public data set from its publisher."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.common import Format, FormatOption, emit

if TYPE_CHECKING:
    from sudare.results import Result


def register(app: typer.Typer) -> None:
    app.command("fetch")(fetch)


def fetch(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A public data set (none: list them).")
    ] = None,
    url: Annotated[
        str | None, typer.Option("--url", help="Another address of the same file, e.g. a mirror.")
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Download a public data set into the data folder.

    It comes from its publisher and is checked; the folder is that of SUDARE_DATA or --data-dir.
    """
    from sudare.data.readers.publishers import PUBLISHERS
    from sudare.data.readers.publishers import fetch as download
    from sudare.errors import UsageError

    if name is None:
        if url is not None:
            raise UsageError("fetch: --url belongs to a name; sudare fetch lists them")
        emit(_listing(), format)
        return
    typer.echo(f"{name}: {url or getattr(PUBLISHERS.get(name), 'address', 'no address')}", err=True)
    emit(_fetched(name, download(name, address=url)), format)


def _listing() -> Result:
    from sudare.data.readers.publishers import PUBLISHERS
    from sudare.examples import catalog

    where = catalog.folder()
    rows = tuple(
        {
            "name": name,
            "what": known.what,
            "here": where is not None and catalog.place(name).is_file(),
            "from": PUBLISHERS[name].address if name in PUBLISHERS else f"by hand: {known.origin}",
        }
        for name, known in catalog.NAMES.items()
    )
    told = "no folder of public data: set SUDARE_DATA" if where is None else f"the folder is {where}"
    return _result(rows, told)


def _fetched(name: str, path: Path) -> Result:
    from sudare.examples import catalog

    return _result(
        ({"name": name, "file": str(path), "origin": catalog.NAMES[name].origin},),
        "the checksum of its content is that of the table which the published numbers come from",
    )


def _result(rows: tuple[dict[str, object], ...], note: str) -> Result:
    from typing import ClassVar

    from sudare.results import Result

    class PublicFiles(Result):
        command: ClassVar[str] = "fetch"

    return PublicFiles(rows, (note,))
