"""`sudare key`: make a key, show its fingerprint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.common import Format, FormatOption, emit

if TYPE_CHECKING:
    from sudare.keys import Key
    from sudare.results import Result


def register(app: typer.Typer) -> None:
    key = typer.Typer(help="Make a key file or show a key's fingerprint.", no_args_is_help=True)
    key.command("new")(new)
    key.command("show")(show)
    app.add_typer(key, name="key")


def new(
    path: Annotated[Path, typer.Argument(help="Where the key goes.")] = Path("sudare.key"),
    format: FormatOption = Format.table,
) -> None:
    """Make a key of 256 random bits in a file that only you can read."""
    from sudare.errors import UsageError
    from sudare.keys import Key

    try:
        made = Key.new().save(path)
    except FileExistsError:
        raise UsageError(f"{path}: exists already; a key is never replaced, name another file") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}); name another place") from None
    advice = "Keep it away from your releases: whoever has it can undo pseudonyms and repeat every draw."
    if format is Format.table:
        typer.echo(f"key {made.fingerprint} written to {path} (mode 0600)")
        typer.echo(advice, err=True)
    else:
        emit(_listing(made, path, advice), format)


def show(
    path: Annotated[Path, typer.Argument(help="The key file.")] = Path("sudare.key"),
    format: FormatOption = Format.table,
) -> None:
    """Show the fingerprint of a key: it tells keys apart and is no secret."""
    from sudare.keys import Key

    key = Key.load(path)
    if format is Format.table:
        typer.echo(key.fingerprint)
    else:
        emit(_listing(key, path), format)


def _listing(key: Key, path: Path, *notes: str) -> Result:
    from typing import ClassVar

    from sudare.results import Result

    class KeyFile(Result):
        command: ClassVar[str] = "key"

    return KeyFile(({"fingerprint": key.fingerprint, "file": str(path)},), notes)
