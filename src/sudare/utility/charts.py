"""The pictures of utility."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sudare.charts import PALETTE, finish
from sudare.errors import UsageError

if TYPE_CHECKING:
    from sudare.utility.measure import UtilityResult


def change_by_column(result: UtilityResult) -> Any:
    """How far the distribution of every column moved."""
    import altair as alt

    if not result.by_column:
        raise UsageError("the chart shows all columns; call sudare.utility without metrics=")
    data = alt.Data(values=[dict(row) for row in result.by_column])
    order = [row["column"] for row in result.by_column]
    bars = (
        alt.Chart(data)
        .mark_bar(color=PALETTE[0])
        .encode(
            y=alt.Y("column:N", sort=order, title=None),
            x=alt.X("total_variation:Q", title="total variation distance", scale=alt.Scale(domain=[0, 1])),
        )
    )
    return finish(bars, title="Change of every column's distribution (0 unchanged, 1 nothing in common)")
