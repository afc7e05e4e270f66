"""The pictures of P1: risk per attribute, the spread of alpha, records against users, error against cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sudare import charts
from sudare.errors import UsageError
from sudare.results import show
from sudare.risk import formulas
from sudare.risk.sampling import cost

if TYPE_CHECKING:
    from sudare.risk.result import RiskResult


COLOURS = {
    "risk": charts.PALETTE[0],
    "risk after": charts.PALETTE[0],
    "risk before": charts.PALETTE[6],
    "low-cost bound": charts.PALETTE[4],
    "90% interval": charts.PALETTE[6],
    "threshold": charts.PALETTE[1],
}
SMALL = 0.2
ON_LIGHT = "#050505"  # near black: readable on every blue below the white figures, also in a dark page


def risk_bars(result: RiskResult, *, threshold: float | None = None) -> Any:
    """The risk of every set of attributes with its low-cost bound, the interval of a sample and the threshold."""
    import altair as alt

    rows = [{**row, "knowledge": show(row["attributes"])} for row in result.rows]
    after = any("risk_before" in row for row in rows)
    axis = alt.X("risk:Q", title="risk of identification", scale=_risk_scale(rows, threshold))
    marks = {
        "risk after" if after else "risk": ("bar", {"x": axis}, True),
        "risk before": ("tick", {"x": "risk_before:Q"}, after),
        "low-cost bound": (
            "tick",
            {"x": "low_cost:Q"},
            not after and any((row.get("low_cost") or row["risk"]) != row["risk"] for row in rows),
        ),
        "90% interval": (
            "rule",
            {"x": "risk_low:Q", "x2": "risk_high:Q"},
            any("risk_low" in row for row in rows),
        ),
    }
    shown = [name for name, (_, _, wanted) in marks.items() if wanted] + (["threshold"] if threshold else [])
    base = alt.Chart(alt.Data(values=rows)).encode(y=alt.Y("knowledge:N", sort=None, title=None))
    layers = []
    for name in shown[: len(shown) - bool(threshold)]:
        kind, places, _ = marks[name]
        layers.append(_layer(base, kind, name, shown).encode(**places))
    if threshold:
        line = alt.Chart(alt.Data(values=[{"limit": threshold}]))
        layers.append(_layer(line, "rule", "threshold", shown).encode(x="limit:Q"))
    return charts.finish(alt.layer(*layers), title="How far each attribute gives people away")


def _risk_scale(rows: Sequence[Mapping[str, Any]], threshold: float | None) -> Any:
    """From 0 to 1, so that pictures compare; where every risk is small, only as far as they reach."""
    import altair as alt

    names = ("risk", "risk_before", "risk_high")
    largest = max((float(row[name]) for row in rows for name in names if row.get(name)), default=1.0)
    return alt.Scale(domain=[0, 1]) if max(largest, threshold or 0) > SMALL else alt.Scale(zero=True)


def _layer(chart: Any, kind: str, name: str, shown: Sequence[str]) -> Any:
    """A layer that the legend names."""
    import altair as alt

    marks = {
        "bar": chart.mark_bar,
        "tick": lambda: chart.mark_tick(thickness=4, opacity=1),
        "rule": lambda: chart.mark_rule(size=2),
    }
    mark = marks[kind]()
    scale = alt.Scale(domain=list(shown), range=[COLOURS[each] for each in shown])
    legend = alt.Legend(title=None, orient="bottom", symbolType="square")
    colour = alt.Color("what:N", scale=scale, legend=legend)
    return mark.transform_calculate(what=f"'{name}'").encode(color=colour)


def known_curves(result: RiskResult, *, threshold: float | None = None) -> Any:
    """Risk against the number of known records, a line per set of attributes and resolution, 95% interval as a band."""
    import altair as alt

    rows = [{**row, "knowledge": _knowledge(row)} for row in result.rows]
    order = list(dict.fromkeys(row["knowledge"] for row in rows))
    steps = sorted({row["known"] for row in rows})
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("known:Q", title="records known of one person", axis=alt.Axis(values=steps, format="d")),
        color=alt.Color("knowledge:N", sort=order, title=None, scale=alt.Scale(range=charts.PALETTE)),
    )
    axis = alt.Y("risk:Q", title="re-identification probability", scale=alt.Scale(domain=[0, 1]))
    layers = [
        base.mark_area(opacity=0.25).encode(y="risk_low:Q", y2="risk_high:Q"),
        base.mark_line(point=True).encode(y=axis),
    ]
    if any("risk_before" in row for row in rows):
        layers.append(base.mark_line(strokeDash=[4, 3]).encode(y="risk_before:Q"))
    if threshold:
        line = alt.Chart(alt.Data(values=[{"limit": threshold}]))
        layers.append(line.mark_rule(color=COLOURS["threshold"]).encode(y="limit:Q"))
    title = "Known records of one person" + (" (dashed: before)" if len(layers) - bool(threshold) > 2 else "")
    return charts.finish(alt.layer(*layers), title=title, height=280)


def _knowledge(row: Mapping[str, Any]) -> str:
    channel = row.get("channel")
    return show(row["attributes"]) + (f" ({channel})" if channel else "")


def models_bars(results: Sequence[RiskResult]) -> Any:
    """Exact, low-cost and sampled risk side by side (P1, Table 6), on a logarithmic axis."""
    import altair as alt

    rows = [{**row, "knowledge": show(row["attributes"])} for result in results for row in result.rows]
    names = list(dict.fromkeys(row["knowledge"] for row in rows))
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("knowledge:N", title=None, sort=names),
        yOffset=alt.YOffset("model:N"),
        color=alt.Color("model:N", title="model", scale=alt.Scale(range=charts.PALETTE)),
    )
    tens = alt.Axis(values=[10.0**n for n in range(-9, 1)])
    axis = alt.X("risk:Q", title="risk of identification", scale=alt.Scale(type="log"), axis=tens)
    points = base.mark_point(filled=True, size=80).encode(x=axis)
    spans = (
        base.transform_filter("isValid(datum.risk_low)")
        .mark_rule(size=2)
        .encode(x="risk_low:Q", x2="risk_high:Q")
    )
    return charts.finish(spans + points, title="The models side by side", height=max(120, 44 * len(names)))


def alpha_histogram(result: RiskResult, attribute: str, *, bins: int = 40) -> Any:
    """How many values have how many records per user (P1, Figs. 2-6, 9, 10)."""
    import altair as alt

    pairs = result.profile(attribute).pairs
    rows = [{"alpha": records / users, "values": count} for records, users, count in pairs]
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(color=charts.PALETTE[0])
        .encode(
            x=alt.X("alpha:Q", bin=alt.Bin(maxbins=bins), title="records per user of a value"),
            y=alt.Y("sum(values):Q", title="number of values"),
        )
    )
    return charts.finish(chart, title=f"Records per user of the values of {attribute}", height=260)


def records_and_users(result: RiskResult, attribute: str) -> Any:
    """Every value by its users and records, with the lines of the mean and the low-cost model (P1, Figs. 7, 8)."""
    import altair as alt

    profile = result.profile(attribute)
    rows = [{"records": r, "users": u, "values": n} for r, u, n in profile.pairs]
    widest = max(u for _, u, _ in profile.pairs)
    slopes = {"mean model": formulas.alpha(profile), "low-cost model": 1.0}
    lines = [
        {"users": u, "records": slope * u, "model": name}
        for name, slope in slopes.items()
        for u in (0, widest)
    ]
    points = (
        alt.Chart(alt.Data(values=rows))
        .mark_circle(color=charts.PALETTE[0], opacity=0.6)
        .encode(
            x=alt.X("users:Q", title="users of a value"),
            y=alt.Y("records:Q", title="records of a value"),
            size=alt.Size(
                "values:Q",
                title="values",
                scale=alt.Scale(domain=[1, max(n for *_, n in profile.pairs)], range=[20, 300], nice=False),
                legend=alt.Legend(tickCount=3, format="d"),
            ),
        )
    )
    ruled = (
        alt.Chart(alt.Data(values=lines))
        .mark_line()
        .encode(
            x="users:Q",
            y="records:Q",
            color=alt.Color("model:N", scale=alt.Scale(range=charts.PALETTE[1:3]), title=None),
        )
    )
    return charts.finish(points + ruled, title=f"Records and users of the values of {attribute}", height=320)


def error_and_cost(result: RiskResult, attribute: str) -> Any:
    """How far each model is from the exact risk, against the records it reads (P1, Fig. 11, Table 7)."""
    import altair as alt

    profile = result.profile(attribute)
    exact, low = formulas.uniform_risk(profile), formulas.low_cost(profile.values, profile.records)
    single = [
        {
            "cost": r,
            "error": abs(r / u * profile.values / profile.records - exact),
            "kind": "one value",
            "values": n,
        }
        for r, u, n in profile.pairs
    ]
    one = cost("sample", records=profile.records, values=profile.values, sample_size=1)
    models = [
        {"cost": profile.records, "error": 0.0, "kind": "exact"},
        {"cost": one, "error": formulas.one_value_error(profile), "kind": "sample of one value, on average"},
        {"cost": 0, "error": exact - low, "kind": "low-cost"},
    ]
    tens = [0, *(10**n for n in range(1, 12) if 10**n <= profile.records)]
    scale = alt.Scale(type="symlog", constant=10)
    axis = alt.X("cost:Q", title="records read", scale=scale, axis=alt.Axis(values=tens))
    height = alt.Y("error:Q", title="distance from the exact risk")
    cloud = (
        alt.Chart(alt.Data(values=single)).mark_circle(color="#b8c0c8", opacity=0.5).encode(x=axis, y=height)
    )
    named = (
        alt.Chart(alt.Data(values=models))
        .mark_point(filled=True, size=110)
        .encode(
            x=axis, y=height, color=alt.Color("kind:N", title="model", scale=alt.Scale(range=charts.PALETTE))
        )
    )
    return charts.finish(cloud + named, title=f"What accuracy costs: the models on {attribute}", height=300)


def sampled_means(result: RiskResult, attribute: str, *, sample_size: int = 50, draws: int = 1000) -> Any:
    """How the mean of a sample of values spreads around alpha_X (P1, Fig. 12); a fixed demonstration draw."""
    import altair as alt
    import numpy as np

    profile = result.profile(attribute)
    alphas = np.repeat([r / u for r, u, _ in profile.pairs], [n for _, _, n in profile.pairs])
    size, rng = min(sample_size, len(alphas)), np.random.default_rng(0)
    means = [float(rng.choice(alphas, size, replace=False).mean()) for _ in range(draws)]
    heights, edges = np.histogram(means, bins=40)
    rows = [
        {"low": float(a), "high": float(b), "draws": int(n)}
        for a, b, n in zip(edges[:-1], edges[1:], heights)
    ]
    bars = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(color=charts.PALETTE[0])
        .encode(
            x=alt.X(
                "low:Q", title="mean records per user of the sampled values", scale=alt.Scale(zero=False)
            ),
            x2="high:Q",
            y=alt.Y("draws:Q", title="number of draws"),
            y2=alt.datum(0),
        )
    )
    centre = alt.Chart(alt.Data(values=[{"alpha": formulas.alpha(profile)}]))
    ruled = centre.mark_rule(color=charts.PALETTE[1], size=2).encode(x="alpha:Q")
    return charts.finish(bars + ruled, title=f"{draws:,} samples of {size} values of {attribute}", height=260)


def pair_heatmap(result: RiskResult) -> Any:
    """The risk of every pair of attributes, single ones on the diagonal."""
    import altair as alt

    risks = {tuple(row["attributes"]): row["risk"] for row in result.rows if len(row["attributes"]) <= 2}
    names = list(dict.fromkeys(name for subset in risks for name in subset))
    rows = [
        {"first": a, "second": b, "risk": risk, "told": f"{risk:.3f}" if risk >= 0.0005 else "<.001"}
        for a in names
        for b in names
        if (risk := risks.get((a,)) if a == b else risks.get((a, b), risks.get((b, a)))) is not None
    ]
    if not any(len(subset) == 2 for subset in risks):
        raise UsageError("no pair was measured; add combine=2")
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("first:N", sort=names, title=None, axis=alt.Axis(labelAngle=-30)),
        y=alt.Y("second:N", sort=names, title=None),
    )
    largest = max(float(row["risk"]) for row in rows)
    top = 1.0 if largest > SMALL else largest
    cells = base.mark_rect().encode(
        color=alt.Color("risk:Q", title="risk", scale=alt.Scale(domain=[0, top], scheme="blues"))
    )
    figures = base.mark_text(fontSize=12).encode(
        text="told:N",
        color=alt.condition(f"datum.risk > {0.7 * top}", alt.value("#ffffff"), alt.value(ON_LIGHT)),
    )
    return charts.finish(
        cells + figures, title="Risk of two attributes known together", width=420, height=420
    )
