"""Charts of the disclosure measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sudare.charts import INK, PALETTE, finish
from sudare.errors import UsageError

if TYPE_CHECKING:
    import altair

    from sudare.disclosure.result import DisclosureResult

BINS = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, None))


def class_sizes(result: DisclosureResult) -> altair.Chart:
    """Bars: the share of records in classes of 1, 2, 3-4, ... people; the small ones stand out."""
    import altair as alt

    labels = [_label(low, high) for low, high in BINS]
    rows = [
        {"size": _label(low, high), "share": _share(result, low, high), "small": low < 5}
        for low, high in BINS
    ]
    colour = alt.condition("datum.small", alt.value(PALETTE[1]), alt.value(PALETTE[0]))
    size = alt.X("size:N", sort=labels, title="people in the class", axis=alt.Axis(labelAngle=0))
    share = alt.Y("share:Q", title="share of the records", axis=alt.Axis(format="%"))
    base: Any = alt.Chart(alt.Data(values=rows)).encode(x=size, y=share)
    bars = base.mark_bar().encode(color=colour)
    figures = base.transform_filter("datum.share > 0").mark_text(dy=-7, color=INK, fontSize=12)
    told = figures.encode(text=alt.Text("share:Q", format=".1%"))
    finished: altair.Chart = finish(bars + told, title="How many people a record hides among")
    return finished


def _share(result: DisclosureResult, low: int, high: int | None) -> float:
    if result.sizes is None:
        raise UsageError("class sizes were not measured; ask for measures=['k']")
    inside = result.sizes.persons >= low
    if high is not None:
        inside &= result.sizes.persons <= high
    return float(result.sizes.records[inside].sum() / max(int(result.sizes.records.sum()), 1))


def _label(low: int, high: int | None) -> str:
    if high is None:
        return f"{low}+"
    return str(low) if low == high else f"{low}-{high}"
