"""`sudare disclosure`: how well the people of a table hide behind each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.common import Format, FormatOption, emit, names, with_source

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset
else:
    Dataset = object


def register(app: typer.Typer) -> None:
    app.command("disclosure")(with_source(disclosure))


def disclosure(
    ds: Dataset,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measures", "-m", help="k, population, l, t, likeness, suda, attributes (default: all)."
        ),
    ] = None,
    population: Annotated[
        str | None,
        typer.Option("--population", help="People in the population: a number, or a table of them."),
    ] = None,
    weights: Annotated[str | None, typer.Option("--weights", help="Column of sampling weights.")] = None,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(
            "--hierarchy",
            help="For t: COLUMN=FILE of a sensitive column, a folder of such files, or a sudare.toml.",
        ),
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", help="Records at risk have a larger chance.")
    ] = 0.2,
    combine: Annotated[int, typer.Option("--combine", help="Distinction of sets of up to N attributes.")] = 1,
    max_size: Annotated[
        int | None, typer.Option("--max-size", help="Largest special uniques searched (default: all, or 3).")
    ] = None,
    records: Annotated[
        Path | None, typer.Option("--records", help="Also write the measures of every record (internal use).")
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Measure k, l, t, uniques and what attackers gain.

    Also special uniques, and which columns tell records apart.
    """
    from sudare.data.files.outputs import check_output
    from sudare.disclosure.measure import disclosure as measure

    if records is not None:
        check_output(records, ds.files)
    result = measure(
        ds,
        measures=names(measures) or None,  # type: ignore[arg-type]
        population=_population(population),
        weights=weights,
        hierarchies=_hierarchies(hierarchy or []),
        threshold=threshold,
        combine=combine,
        max_size=max_size,
    )
    if records is not None:
        _write_records(ds, records, weights, population, max_size)
    emit(result, format)


def _write_records(
    ds: Dataset, path: Path, weights: str | None, population: str | None, max_size: int | None
) -> None:
    from sudare.data.files.unit import PRIVATE
    from sudare.data.files.writers import write_table
    from sudare.disclosure.records import record_measures

    people = int(population) if population is not None and population.isdigit() else None
    table = record_measures(ds, weights=weights, population=people, max_size=max_size)
    write_table(table, path, mode=PRIVATE)


def _population(given: str | None) -> int | Dataset | None:
    if given is None or given.isdigit():
        return None if given is None else int(given)
    from sudare.data.opening import open as open_any

    return open_any(given)


def _hierarchies(given: list[str]) -> dict[str, str] | str | None:
    from sudare.errors import UsageError

    if len(given) == 1 and (given[0].endswith(".toml") or Path(given[0]).is_dir()):
        return given[0]
    found = {}
    for entry in given:
        column, equals, path = entry.partition("=")
        if not equals:
            raise UsageError(f"--hierarchy '{entry}': write COLUMN=FILE, or name a folder or a sudare.toml")
        found[column] = path
    return found or None
