"""Charts that only the book needs; numbers are thinned before they are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.charts import PALETTE, finish


def ranked(counts: NDArray[np.int64], x_title: str, y_title: str, title: str, most: int = 200) -> Any:
    """Counts from the largest to the smallest, at about `most` ranks."""
    import altair as alt

    falling = -np.sort(-counts)
    ranks = np.unique(np.geomspace(1, len(falling), most).astype(int))
    points = [{"rank": int(r), "count": int(falling[r - 1])} for r in ranks]
    chart = (
        alt.Chart(alt.Data(values=points))
        .mark_line(color=PALETTE[0], interpolate="step-after")
        .encode(
            x=alt.X("rank:Q", title=x_title, scale=alt.Scale(type="log")),
            y=alt.Y("count:Q", title=y_title, scale=alt.Scale(type="log")),
        )
    )
    return finish(chart, title=title)


def rates(
    rows: Sequence[Mapping[str, Any]],
    x: str,
    x_title: str,
    series: str,
    title: str,
    y_title: str = "re-identified rows",
) -> Any:
    """Shares against a number, one line per series."""
    import altair as alt

    order = list(dict.fromkeys(row[series] for row in rows))
    chart = (
        alt.Chart(alt.Data(values=[dict(row) for row in rows]))
        .mark_line(point=True)
        .encode(
            x=alt.X(f"{x}:Q", title=x_title, axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("rate:Q", title=y_title, axis=alt.Axis(format="%")),
            color=alt.Color(f"{series}:N", sort=order, title=None),
        )
    )
    return finish(chart, title=title)


def compared(
    rows: Sequence[Mapping[str, Any]], x: str, x_title: str, y: str, y_title: str, title: str
) -> Any:
    """A cost on a log scale against a number, one line per `series` if there are any."""
    import altair as alt

    chart = alt.Chart(alt.Data(values=[dict(row) for row in rows])).mark_line(point=True)
    encoding = {
        "x": alt.X(f"{x}:Q", title=x_title, axis=alt.Axis(tickMinStep=1)),
        "y": alt.Y(f"{y}:Q", title=f"{y_title} (log scale)", scale=alt.Scale(type="log")),
    }
    if any("series" in row for row in rows):
        encoding["color"] = alt.Color("series:N", sort=None, title=None)
    return finish(chart.encode(**encoding), title=title)
