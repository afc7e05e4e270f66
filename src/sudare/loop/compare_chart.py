"""The risk-utility frontier of several recipes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sudare.charts import PALETTE, finish

if TYPE_CHECKING:
    from sudare.loop.compare import CompareResult


def frontier(result: CompareResult) -> Any:
    """Every recipe by its loss and its worst attack; the line joins those that nothing beats."""
    import altair as alt

    from sudare.loop.compare import LOSS

    points = [
        {
            "recipe": row["recipe"],
            "loss": row.get(LOSS),
            "worst": row["worst"],
            "kind": "cheating" if row["cheating"] else "frontier" if row["frontier"] else "beaten",
        }
        for row in result.rows
        if row.get(LOSS) is not None
    ]
    kinds = ["frontier", "beaten", "cheating"]
    middle = max((point["loss"] for point in points), default=0) / 2
    x = alt.X("loss:Q", title="loss: mean total variation of pairs of columns", scale=alt.Scale(zero=True))
    y = alt.Y("worst:Q", title="rows re-identified by the best attack", axis=alt.Axis(format="%"))
    base = alt.Chart(alt.Data(values=points)).encode(x=x, y=y)
    line = (
        base.transform_filter("datum.kind == 'frontier'")
        .mark_line(color=PALETTE[2], interpolate="step-after")
        .encode(order=alt.Order("loss:Q"))
    )
    dots = base.mark_point(filled=True, size=80).encode(
        color=alt.Color(
            "kind:N",
            title=None,
            scale=alt.Scale(domain=kinds, range=[PALETTE[2], PALETTE[0], PALETTE[1]]),
            legend=alt.Legend(orient="bottom"),
        ),
        shape=alt.Shape("kind:N", title=None, scale=alt.Scale(domain=kinds)),
    )
    # names stand on the side where there is room
    left = base.transform_filter(f"datum.loss <= {middle}").mark_text(align="left", dx=8, dy=-9, fontSize=12)
    right = base.transform_filter(f"datum.loss > {middle}").mark_text(
        align="right", dx=-8, dy=-9, fontSize=12
    )
    words = alt.layer(left.encode(text="recipe:N"), right.encode(text="recipe:N"))
    return finish(line + dots + words, title="Risk and loss of every recipe", height=360)
