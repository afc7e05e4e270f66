"""Charts of the recipient's room: estimates with error bars, plans, workloads, posteriors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.charts import INK, PALETTE, finish

if TYPE_CHECKING:
    import altair

    from sudare.estimate.measure import EstimateResult
    from sudare.estimate.plan import PlanLResult
    from sudare.estimate.posterior import PosteriorResult
    from sudare.estimate.workload import WorkloadResult


MOST_PLACES = 12  # of an axis that names every place
WHOLE = {"domain": [0, 1], "nice": False, "padding": 0}


def estimate_chart(result: EstimateResult, truth: Sequence[Mapping[str, Any]] | None = None) -> altair.Chart:
    """Estimated shares with their intervals; `truth` (rows with by columns, value, share) adds the true ones."""
    import altair

    data = [_bar(row, result.by) for row in result.rows]
    base = altair.Chart(altair.Data(values=data)).encode(
        x=altair.X("value:N", title=result.column, sort=None),
    )
    bars = base.mark_bar(color=PALETTE[0], opacity=0.75).encode(
        y=altair.Y("share:Q", title="share of the group", axis=altair.Axis(format="%"))
    )
    reach = base.mark_rule(color=PALETTE[6], strokeWidth=1.5).encode(y="low:Q", y2="high:Q")
    layers = [bars, reach]
    if truth is not None:
        marks = altair.Chart(altair.Data(values=[_bar(row, result.by) for row in truth]))
        layers.append(
            marks.mark_tick(color=PALETTE[1], thickness=3).encode(
                x=altair.X("value:N", sort=None), y="share:Q"
            )
        )
    title = f"Estimated distribution of {result.column} ({result.method}, {result.confidence:.0%} intervals)"
    if not result.by:
        return finish(altair.layer(*layers), title=title)
    # layers of different data cannot be faceted: one panel per group, side by side
    groups = list(dict.fromkeys(row["group"] for row in data))
    panels = [
        altair.layer(*(layer.transform_filter(altair.datum.group == g) for layer in layers)).properties(
            title=g, width=240
        )
        for g in groups[:12]
    ]
    return finish(altair.concat(*panels, columns=3), title=title, width=None)


def plan_chart(result: PlanLResult) -> altair.Chart:
    """The half-width of the error bar of a share against l, one line per slice."""
    import altair

    data = [{"l": r["l"], "margin": r["margin"], "group": _label(r, result.by)} for r in result.rows]
    chart = altair.Chart(altair.Data(values=data)).mark_line(point=True)
    encoded = chart.encode(
        x=altair.X("l:Q", title="l (values per set)"),
        y=altair.Y(
            "margin:Q", title="half-width of the 95% interval of a share", axis=altair.Axis(format="%")
        ),
        color=altair.Color("group:N", title="slice"),
    )
    return finish(encoded, title=f"What a recipient can tell about {result.column}, by l")


def workload_chart(result: WorkloadResult) -> altair.Chart:
    """The spread of the queries' errors, one box per release."""
    import altair

    data = [
        {"release": name, "mse": float(max(v, 1e-12))}
        for name, errors in result.errors
        for v in np.quantile(errors, np.linspace(0.01, 0.99, 99))
    ]
    chart = altair.Chart(altair.Data(values=data)).mark_boxplot(extent="min-max")
    encoded = chart.encode(
        x=altair.X("release:N", title=None),
        y=altair.Y("mse:Q", title="MSE of a query (log scale)", scale=altair.Scale(type="log")),
        color=altair.Color("release:N", legend=None),
    )
    return finish(encoded, title="Errors of random queries, by release")


def posterior_chart(result: PosteriorResult) -> altair.Chart:
    """How sure each attacker is of the best guess, over the records, beside the claimed 1/l."""
    import altair

    edges, claimed = np.linspace(0, 1, 21), result.rows[0]["claimed"]
    data = [
        {
            "attacker": f"attacker knows: {name}",
            "from": float(a),
            "to": float(b),
            "share": n / max(len(sure), 1),
        }
        for name, sure in result.confidence
        for a, b, n in zip(edges, edges[1:], np.histogram(sure, edges)[0].tolist())
    ]
    base = altair.Chart().properties(width=560, height=70)
    bars = base.mark_bar(color=PALETTE[0]).encode(
        x=altair.X(
            "from:Q",
            title="posterior of the best guess",
            scale=altair.Scale(**WHOLE),
            axis=altair.Axis(grid=True),
        ),
        x2="to:Q",
        y=altair.Y(
            "share:Q", title="records", scale=altair.Scale(**WHOLE), axis=altair.Axis(format="%", tickCount=2)
        ),
        y2=altair.datum(0),
    )
    rule = base.mark_rule(strokeDash=[4, 3], color=PALETTE[1], size=2).encode(x=altair.datum(claimed))
    head = altair.Header(title=None, labelAnchor="start", labelColor=INK, labelFontSize=12)
    order = list(dict.fromkeys(row["attacker"] for row in data))
    facets = altair.Facet("attacker:N", sort=order, header=head)
    panels = altair.layer(bars, rule, data=altair.Data(values=data)).facet(facets, columns=1)
    return finish(panels, title="How sure attackers are (dashed: the claimed 1/l)", width=None)


def lines_chart(
    rows: Sequence[Mapping[str, Any]], x: str, title: str, x_title: str, panel: str | None = None
) -> altair.Chart:
    """MSE against a parameter, one line per method: the form of P2's Figs. 1-5."""
    import altair

    chart = altair.Chart(altair.Data(values=[dict(row) for row in rows])).mark_line(point=True)
    order = list(dict.fromkeys(row["method"] for row in rows))
    places = sorted({row[x] for row in rows})
    axis = altair.Axis(values=places) if len(places) <= MOST_PLACES else altair.Axis()
    encoded = chart.encode(
        x=altair.X(f"{x}:Q", title=x_title, axis=axis),
        y=altair.Y("mse:Q", title="MSE (log scale)", scale=altair.Scale(type="log")),
        color=altair.Color("method:N", title=None, sort=order),
    )
    if panel is not None:
        panels_in_order = list(dict.fromkeys(row[panel] for row in rows))
        facets = altair.Facet(f"{panel}:N", title=None, sort=panels_in_order)
        panels = encoded.properties(width=240, height=180).facet(facets, columns=2)
        return finish(panels.resolve_scale(x="independent", y="independent"), title=title, width=None)
    return finish(encoded, title=title)


def shares_chart(rows: Sequence[Mapping[str, Any]], title: str) -> altair.Chart:
    """The true shares and those of each method, side by side for every value: the form of P2's Fig. 6."""
    import altair

    first = rows[0]["method"]
    true = [{**r, "method": "true", "share": r["true"]} for r in rows if r["method"] == first]
    chart = altair.Chart(altair.Data(values=[*true, *map(dict, rows)])).mark_bar()
    encoded = chart.encode(
        x=altair.X("value:N", title=None),
        xOffset=altair.XOffset("method:N", sort=None),
        y=altair.Y("share:Q", title="share", axis=altair.Axis(format="%")),
        color=altair.Color("method:N", title=None, sort=None),
    )
    return finish(
        encoded.properties(width=300).facet(altair.Facet("sex:N", title=None)), title=title, width=None
    )


def _bar(row: Mapping[str, Any], by: Sequence[str]) -> dict[str, Any]:
    size = max(row.get("records", 1), 1)
    reach = {end: row[end] / size for end in ("low", "high") if end in row}
    value = "(missing)" if row["value"] is None else str(row["value"])
    return {"group": _label(row, by), "value": value, "share": row["share"], **reach}


def _label(row: Mapping[str, Any], by: Sequence[str]) -> str:
    return ", ".join(f"{name} {row[name]}" for name in by) or "all records"
