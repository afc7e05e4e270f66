"""`sudare plan`: what protection would cost, before anything is processed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sudare.cli.common import Format, FormatOption, emit, names, numbers, with_source
from sudare.errors import UsageError

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset
else:
    Dataset = object


def register(app: typer.Typer) -> None:
    app.command("plan")(with_source(plan))


def plan(
    ds: Dataset,
    value: Annotated[
        str | None,
        typer.Option(
            "--value", help="The column whose values make up a history (with --l: the sensitive one)."
        ),
    ] = None,
    k: Annotated[
        str | None, typer.Option("-k", "--k", help="k of k-anonymity by dummy records: 2..20 or 2,4,8.")
    ] = None,
    clusters: Annotated[
        str | None, typer.Option("--clusters", help="Numbers of clusters, instead of k: 50 or 20..100.")
    ] = None,
    pilot: Annotated[bool, typer.Option(help="Run the optimiser on a sample of users.")] = True,
    l: Annotated[
        str | None, typer.Option("--l", help="Sizes of published sets, for randomized addition: 2..20.")
    ] = None,
    by: Annotated[
        list[str] | None, typer.Option("--by", help="With --l: the slices that will be estimated.")
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Plan what k-anonymity by dummy records would cost.

    With --l: the error bars that randomized addition would leave.
    """
    if l is not None:
        if k is not None or clusters is not None:
            raise UsageError("plan: give either -k or --clusters, or --l")
        emit(_plan_l(ds, value, l, by), format)
        return
    if by:
        raise UsageError("plan: --by belongs to --l")
    emit(_plan_k(ds, value, k, clusters, pilot), format)


def _plan_k(ds: Dataset, value: str | None, k: str | None, clusters: str | None, pilot: bool) -> Any:
    from sudare.cost.plan import DEFAULT_K
    from sudare.cost.plan import plan as cost_plan

    if value is None:
        raise UsageError("plan: name the column whose values make up a history with --value")
    if k is not None and clusters is not None:
        raise UsageError("plan: give either -k or --clusters")
    return cost_plan(
        ds,
        value,
        k=numbers(k) if k is not None else DEFAULT_K,
        clusters=numbers(clusters) if clusters is not None else None,
        pilot=pilot,
    )


def _plan_l(ds: Dataset, value: str | None, l: str, by: list[str] | None) -> Any:
    from sudare.estimate.plan import plan_l

    return plan_l(ds, l=numbers(l), by=names(by), column=value)
