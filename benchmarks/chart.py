"""One picture of the results: cost relative to the peer, per work, at the size of its goal."""

from __future__ import annotations

from benchmarks.work import Row
from sudare.charts import GRID, INK, PALETTE, finish, svg

ROW_HEIGHT = 22


def svg_of(rows: list[Row]) -> str | None:
    """The chart as SVG; None before anything was compared."""
    import altair as alt
    import pandas as pd

    shown = [row for row in rows if row.get("goal") and row["ratio"]]
    if not shown:
        return None
    frame = pd.DataFrame(
        {
            "work": [f"{row['work']}, {row['size']:,} {row['unit']}" for row in shown],
            "ratio": [row["ratio"] for row in shown],
            "goal": ["met" if row["met"] else "missed" for row in shown],
        }
    )
    axis = alt.X("ratio:Q", title="our cost / the peer's (logarithmic)").scale(type="log")
    place = alt.Y("work:N", title=None, sort=None).axis(labelLimit=420, gridColor=GRID)
    colour = alt.Color("goal:N").scale(domain=["met", "missed"], range=[PALETTE[0], PALETTE[1]])
    points = (
        alt.Chart(frame).mark_point(size=70, filled=True).encode(axis, place, colour, alt.Shape("goal:N"))
    )
    even = (
        alt.Chart(pd.DataFrame({"ratio": [1.0]})).mark_rule(color=INK, strokeDash=[4, 3]).encode(x="ratio:Q")
    )
    whole = points + even
    return svg(
        finish(
            whole,
            title="Cost relative to the peer: left of the line is cheaper",
            height=ROW_HEIGHT * len(shown),
        )
    )
