"""What the commands share: how a table is named on the command line, and how a result is printed."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from sudare.errors import UsageError

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset
    from sudare.data.published import Published
    from sudare.results import Result


class Format(StrEnum):
    """How a result is printed."""

    table = "table"
    json = "json"
    csv = "csv"
    md = "md"


Columns = Annotated[list[str] | None, typer.Option(help="Columns, separated by commas.")]
FormatOption = Annotated[Format, typer.Option("--format", "-f", help="How the result is printed.")]
KeyOption = Annotated[str | None, typer.Option("--key", help="Key file (default: your own key).")]


def _list(*names: str, help: str) -> Any:
    return Annotated[
        list[str] | None, typer.Option(*names, help=help + " (separated by commas, or repeated)")
    ]


# one place for every option that says which table and what its columns are
SOURCE: dict[str, Any] = {
    "source": Annotated[
        str, typer.Argument(metavar="FILE", help="A file, a glob, example:NAME, or a database URL.")
    ],
    "user": Annotated[str | None, typer.Option("--user", help="The column that names the person.")],
    "record": _list("--record", help="Columns that tell a person's records apart, e.g. a visit number"),
    "identifier": _list("--identifier", help="Columns that identify: dropped from a release"),
    "quasi": _list("--quasi", help="Columns an attacker may know"),
    "sensitive": _list("--sensitive", help="Columns to protect"),
    "other": _list("--other", help="Columns that tell nobody apart: published as they are"),
    "roles": Annotated[str | None, typer.Option("--roles", help="A sudare.toml with the roles.")],
    "encoding": Annotated[str | None, typer.Option("--encoding", help="Encoding of a text file.")],
    "sheet": Annotated[str | None, typer.Option("--sheet", help="Sheet of a workbook.")],
    "table": Annotated[str | None, typer.Option("--table", help="Table of a database.")],
    "engine": Annotated[str | None, typer.Option("--engine", help="duckdb, local[*] or spark://host:7077.")],
    "partitions": Annotated[
        bool | None,
        typer.Option("--partitions", help="Folders such as zip=10115 above Parquet files are columns."),
    ],
}


def with_source(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command whose first parameter is a Dataset gets every option that opens one."""
    hints = get_type_hints(command, include_extras=True)
    own = list(inspect.signature(command).parameters.values())[1:]

    @functools.wraps(command)
    def opened(**given: Any) -> Any:
        source = {name: given.pop(name) for name in SOURCE}
        return command(open_source(**source), **given)

    parameters = [_parameter(name, kind) for name, kind in SOURCE.items()]
    parameters += [p.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[p.name]) for p in own]
    opened.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    opened.__annotations__ = {p.name: p.annotation for p in parameters}
    del opened.__wrapped__  # type: ignore[attr-defined]
    return opened


def open_source(
    source: str,
    user: str | None = None,
    record: Iterable[str] | None = None,
    identifier: Iterable[str] | None = None,
    quasi: Iterable[str] | None = None,
    sensitive: Iterable[str] | None = None,
    other: Iterable[str] | None = None,
    roles: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    table: str | None = None,
    engine: str | None = None,
    partitions: bool | None = None,
) -> Dataset:
    """Open what the command line names; a `sudare.toml` in this folder that was made for the file is used."""
    from sudare.data.opening import open as open_any

    return open_any(
        source,
        user=user,
        record=names(record),
        identifier=names(identifier),
        quasi=names(quasi),
        sensitive=names(sensitive),
        other=names(other),
        roles=roles or _own_roles(source),
        encoding=encoding,
        sheet=sheet,
        table=table,
        engine=engine,
        partitions=bool(partitions),
    )


def open_release(ds: Dataset, path: str, truth: str | Path | None) -> Published:
    """A release and its truth, opened where the original is; one that sudare did not write has the original's codes."""
    from sudare.data.opening import open as open_any
    from sudare.data.published import Published

    release = open_any(path, engine=ds.master)
    if ds.missing and not release.published:
        release = open_any(path, engine=ds.master, missing=ds.missing)
    return Published.of(release, truth)


def names(given: Iterable[str] | None) -> list[str]:
    """
    >>> names(["date,time", "goods"])
    ['date', 'time', 'goods']
    """
    return [name.strip() for part in given or () for name in part.split(",") if name.strip()]


def numbers(text: str) -> range | list[int]:
    """Whole numbers as people write them.

    >>> numbers("2..5"), numbers("2,4,8")
    (range(2, 6), [2, 4, 8])
    """
    try:
        low, dots, high = text.partition("..")
        return range(int(low), int(high) + 1) if dots else [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"'{text}': write whole numbers as 2..20 or 2,4,8") from None


def emit(result: Result, format: Format) -> None:
    """Print a result on standard output, its notes on standard error where the format has no place for them."""
    if format is Format.json:
        import json

        typer.echo(json.dumps(result.to_dict(), ensure_ascii=False))
    elif format is Format.csv:
        _emit_csv(result)
    elif format is Format.md:
        typer.echo(markdown(result))
    else:
        typer.echo(str(result))


def markdown(result: Result) -> str:
    """The rows as a Markdown table, then the notes."""
    from sudare.results import in_markdown, show

    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    columns = result.columns
    rows = [line(in_markdown(show(row.get(c))) for c in columns) for row in result.rows]
    return "\n".join(
        [
            line(map(in_markdown, columns)),
            line("---" for _ in columns),
            *rows,
            *(f"\n{in_markdown(note)}" for note in result.notes),
        ]
    )


def _emit_csv(result: Result) -> None:
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(result.columns)
    for row in result.rows:
        cells = (row.get(c) for c in result.columns)
        writer.writerow(["+".join(map(str, c)) if isinstance(c, (list, tuple)) else c for c in cells])
    for note in result.notes:
        print(note, file=sys.stderr)


def _parameter(name: str, kind: Any) -> inspect.Parameter:
    default = inspect.Parameter.empty if name == "source" else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _own_roles(source: str) -> str | None:
    path = Path("sudare.toml")
    if not path.is_file():
        return None
    from sudare.data.roles import load_toml

    data = load_toml(path).get("data")
    made_for = data.get("file") if isinstance(data, dict) else None
    return str(path) if isinstance(made_for, str) and Path(made_for).stem == Path(source).stem else None
