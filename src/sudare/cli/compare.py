"""`sudare compare`: several recipes on the same table, risk and utility side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.common import Format, FormatOption, KeyOption, emit, with_source

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset
else:
    Dataset = object


def register(app: typer.Typer) -> None:
    app.command("compare")(with_source(compare))


def compare(
    ds: Dataset,
    recipes: Annotated[list[Path], typer.Argument(metavar="RECIPE...", help="Recipes, TOML files.")],
    key: KeyOption = None,
    ties: Annotated[
        str, typer.Option("--ties", help="How ties count: expected, first or fail.")
    ] = "expected",
    chart: Annotated[
        Path | None, typer.Option("--chart", help="Write the risk-utility frontier here (.svg).")
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Run several recipes; attack and measure each release.

    One row per recipe shows what it costs and what it leaves.
    """
    from sudare.data.files.writers import check_output, write_text
    from sudare.loop.compare import compare as run
    from sudare.methods.recipe import Recipe

    if chart is not None:
        check_output(chart, (*ds.files, *recipes))
    result = run(ds, {path.stem: Recipe.from_toml(path) for path in recipes}, key=key, ties=ties)  # type: ignore[arg-type]
    if chart is not None:
        from sudare.charts import svg

        write_text(svg(result.chart()), chart)
    emit(result, format)
