"""One look for every chart: the palette, the theme, and static SVG without a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair

# Okabe and Ito's colours, told apart by people with every common form of colour blindness.
PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442"]
INK = "#1d2733"
GRID = "#dfe4ea"
# Letters are measured in Liberation Sans, which is as wide as Arial. Where the reader has neither, they may be wider:
# titles and edges keep their distance.
FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"
EDGE = {"left": 24, "right": 24, "top": 8, "bottom": 8}


def finish(chart: Any, *, title: str, width: int | None = 560, height: int | None = None) -> Any:
    """Give a chart its title, its size and the common theme; a chart of several panels has sizes of its own."""
    size = {name: value for name, value in (("width", width), ("height", height)) if value is not None}
    axis = {"labelFontSize": 12, "titleFontSize": 12, "labelLimit": 260, "labelSeparation": 10}
    legend = {"labelFontSize": 12, "titleFontSize": 12, "labelLimit": 260, "symbolOpacity": 1}
    return (
        chart.properties(title=title, **size)
        .configure(background="#ffffff", font=FONT, padding=EDGE)
        .configure_axis(gridColor=GRID, labelColor=INK, titleColor=INK, **axis)
        .configure_axisY(titlePadding=14)
        .configure_title(color=INK, fontSize=14, anchor="start", fontWeight=600)
        .configure_legend(labelColor=INK, titleColor=INK, **legend)
        .configure_view(stroke=None)
        .configure_range(category=PALETTE)
    )


def svg(chart: altair.TopLevelMixin) -> str:
    """The chart as SVG text (vl-convert; nothing is fetched, no browser runs)."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(chart.to_json(), vl_version=_vega_lite()))


def _vega_lite() -> str:
    import altair

    major, minor, *_ = altair.SCHEMA_VERSION.lstrip("v").split(".")
    return f"v{major}.{minor}"
