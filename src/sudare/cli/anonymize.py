"""`sudare anonymize`: run a recipe and write the release, the truth apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.common import Format, FormatOption, KeyOption, with_source

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset
else:
    Dataset = object


def register(app: typer.Typer) -> None:
    app.command("anonymize")(with_source(anonymize))


def anonymize(
    ds: Dataset,
    recipe: Annotated[Path, typer.Option("--recipe", "-r", help="The recipe, a TOML file.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The release: .parquet, .csv, .xlsx, .arrow.")],
    truth: Annotated[
        Path | None, typer.Option("--truth", help="Where the truth goes; keep it apart.")
    ] = None,
    key: KeyOption = None,
    demo_seed: Annotated[int | None, typer.Option("--seed", help="Insecure: only with --demo.")] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Allow a guessable --seed; the release says so.")
    ] = False,
    escape_formulas: Annotated[
        bool, typer.Option("--escape-formulas", help="Escape cells a spreadsheet would run.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Draw again with another key, against the ledger.")
    ] = False,
    effort: Annotated[
        str | None, typer.Option("--effort", help="How hard dummy-records searches: low, default or high.")
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Run a recipe on a table and write the release."""
    from sudare.cli.release_summary import emit_release
    from sudare.data.files.outputs import check_apart, check_output
    from sudare.data.files.targets import unit_paths
    from sudare.data.files.unit import reserving
    from sudare.errors import UsageError
    from sudare.keys import Key
    from sudare.methods.recipe import Recipe
    from sudare.methods.recipe import anonymize as run

    if demo_seed is not None and not demo:
        raise UsageError(
            "a seed can be guessed, and with it every draw; use --key, or --demo on invented data"
        )
    unit = unit_paths(out, truth)
    for path in unit:
        check_output(path, (*ds.files, recipe, *(() if key is None else (key,))))
    check_apart(*unit)
    secret = Key.demo(demo_seed or 0) if demo else Key.of(key)
    wanted = {"force": force or None, "effort": effort}
    chosen = Recipe.from_toml(recipe).changed(**{k: v for k, v in wanted.items() if v is not None})
    with reserving(*unit):
        release = run(ds, chosen, key=secret)
        release.save(out, truth=truth, escape_formulas=escape_formulas)
    emit_release(release, out, truth, format)
