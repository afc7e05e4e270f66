"""The pictures of P3: the occupancy model (Figs. 3-5), the cost (6-10, 13) and cost against k as planned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.charts import INK, PALETTE, finish
from sudare.cost import estimates
from sudare.cost.distinct import expected_distinct, pr_distinct

if TYPE_CHECKING:
    from sudare.cost.plan import PlanResult

ESTIMATES = {
    "expected": "random clusters (exact)",
    "paper_e": "E (Cor. 1)",
    "paper_e2": "E2 (Cor. 2)",
    "paper_e3": "E3 (Cor. 3)",
}
PILOT, RELEASE = "pilot (our optimiser)", "the release"
Points = list[dict[str, Any]]


def cost_against_k(plan: PlanResult, realised: Mapping[int, int] | None = None) -> Any:
    """Dummy records against k: the estimates, the pilot with its interval, releases as diamonds (Fig. 13)."""
    import altair as alt

    known = [(name, words) for name, words in ESTIMATES.items() if name in plan.columns]
    points = [
        {"k": r["k"], "dummies": r[name], "estimate": words} for name, words in known for r in plan.rows
    ]
    lines = _lines(points, "k", "dummies", "estimate", x_title="k", y_title="dummy records")
    pilot = [{**r, "dummies": r["pilot"], "made": PILOT} for r in plan.rows if r.get("pilot") is not None]
    done = [{"k": k, "dummies": dm, "made": RELEASE} for k, dm in (realised or {}).items()]
    layers = [lines]
    if pilot:
        base = alt.Chart(alt.Data(values=pilot)).encode(x="k:Q")
        layers.append(base.mark_rule(color=INK).encode(y="pilot_low:Q", y2="pilot_high:Q"))
    if pilot or done:
        layers.append(_marks([*pilot, *done], [PILOT] * bool(pilot) + [RELEASE] * bool(done)))
    chart = alt.layer(*layers).resolve_scale(color="independent", shape="independent")
    return finish(chart, title=f"Dummy records for k-anonymity of {plan.value}")


def _marks(points: Points, kinds: list[str]) -> Any:
    """What was really clustered, as points that the legend names."""
    import altair as alt

    known = {PILOT: (INK, "circle"), RELEASE: (PALETTE[1], "diamond")}
    colours, shapes = zip(*(known[kind] for kind in kinds))
    return (
        alt.Chart(alt.Data(values=points))
        .mark_point(filled=True, size=70, opacity=1)
        .encode(
            x="k:Q",
            y="dummies:Q",
            color=alt.Color("made:N", title=None, scale=alt.Scale(domain=kinds, range=list(colours))),
            shape=alt.Shape("made:N", title=None, scale=alt.Scale(domain=kinds, range=list(shapes))),
        )
    )


def distinct_values(l: int = 100, records: Iterable[int] = (10, 25, 50, 75, 100)) -> Any:
    """Pr(y|x) against y, one line per number of records x (P3, Fig. 3)."""
    y = np.arange(1, l + 1)
    points = [p for x in records for p in _series(y, pr_distinct(y, x, l), "y", "probability", f"x = {x}")]
    chart = _lines(points, "y", "probability", "series", x_title="distinct values y", y_title="Pr(y|x)")
    return finish(chart, title=f"Distinct values among x records, l = {l}")


def records_needed(l: int = 100, values: Iterable[int] = (1, 10, 25, 50, 75), most: int = 200) -> Any:
    """Pr(y|x) against x, one line per number of values y (P3, Fig. 4); it is no distribution over x."""
    x = np.arange(1, most + 1)
    points = [p for y in values for p in _series(x, pr_distinct(y, x, l), "x", "probability", f"y = {y}")]
    chart = _lines(points, "x", "probability", "series", x_title="records x", y_title="Pr(y|x)")
    return finish(chart, title=f"The chance of y values against the records, l = {l}")


def expected_values(sizes: Iterable[int] = (10, 100, 1000), most: int = 1000) -> Any:
    """E[y|x, l] against x, one line per l (P3, Fig. 5)."""
    x = np.unique(np.geomspace(1, most, 120).astype(int))
    points = [p for l in sizes for p in _series(x, expected_distinct(x, l), "x", "values", f"l = {l:,}")]
    chart = _lines(points, "x", "values", "series", x_title="records x", y_title="E[y|x, l]", log=("x", "y"))
    return finish(chart, title="Expected distinct values")


def cost_against_users(
    l: int = 100, c: int = 20, records: Iterable[int] = (100, 1_000, 10_000, 100_000)
) -> Any:
    """E(dm) against the number of users, one line per number of records (P3, Fig. 6)."""
    n = np.arange(c, 1001, 10)
    points = [
        p
        for m in records
        for p in _series(n, estimates.expected_dummies(n, m, l, c=c), "n", "dm", f"m = {m:,}")
    ]
    chart = _lines(points, "n", "dm", "series", x_title="users n", y_title="E(dm), dummy records")
    return finish(chart, title=f"Cost against users, l = {l}, c = {c}")


def cost_against_records(n: int = 400, c: int = 20, sizes: Iterable[int] = (100, 1_000, 10_000)) -> Any:
    """E(dm) against the number of records, one line per l (P3, Fig. 7)."""
    m = np.unique(np.geomspace(100, 1e6, 160).astype(int))
    points = [
        p
        for l in sizes
        for p in _series(m, estimates.expected_dummies(n, m, l, c=c), "m", "dm", f"l = {l:,}")
    ]
    chart = _lines(
        points, "m", "dm", "series", x_title="records m", y_title="E(dm), dummy records", log=("x",)
    )
    return finish(chart, title=f"Cost against records, n = {n}, c = {c}")


def cost_against_clusters(n: int = 400, m: int = 10_000, sizes: Iterable[int] = (100, 300, 1_000)) -> Any:
    """E(dm) against the number of clusters, one line per l: it falls as c rises (P3, Fig. 8)."""
    c = np.arange(1, n + 1)
    points = [
        p
        for l in sizes
        for p in _series(c, estimates.expected_dummies(n, m, l, c=c), "c", "dm", f"l = {l:,}")
    ]
    chart = _lines(points, "c", "dm", "series", x_title="clusters c", y_title="E(dm), dummy records")
    return finish(chart, title=f"Cost against clusters, n = {n}, m = {m:,}")


def paper_cost_against_k(n: int = 400, m: int = 38_000, l: int = 2_700, most: int = 200) -> Any:
    """E'(dm) against k (P3, Fig. 9)."""
    k = np.arange(1, most + 1)
    points = _series(k, estimates.expected_dummies(n, m, l, k=k), "k", "dm", "E (Cor. 1)")
    chart = _lines(points, "k", "dm", "series", x_title="k", y_title="E'(dm), dummy records")
    return finish(chart, title=f"Cost against k, n = {n}, m = {m:,}, l = {l:,}")


def comprehensive_evaluation(n: int = 400, m: int = 38_000, l: int = 2_700) -> Any:
    """alpha E(dm) + c/n against c, with its minimum (P3, Fig. 10)."""
    import altair as alt

    c = np.arange(1, n + 1)
    evaluated = estimates.score(n, m, l, c)
    lines = _lines(
        _series(c, evaluated, "c", "evaluation", "alpha E(dm) + c/n"),
        "c",
        "evaluation",
        "series",
        x_title="clusters c",
        y_title="evaluation (less is better)",
    )
    best = estimates.best_clusters(n, m, l)
    at = alt.Chart(alt.Data(values=[{"c": best, "evaluation": float(evaluated[best - 1])}]))
    mark = at.mark_point(size=120, filled=True, color=PALETTE[1]).encode(x="c:Q", y="evaluation:Q")
    return finish(alt.layer(lines, mark), title=f"The best number of clusters is {best}")


def _series(x: Any, y: Any, x_name: str, y_name: str, label: str) -> Points:
    return [{x_name: float(a), y_name: float(b), "series": label} for a, b in zip(x, y)]


def _lines(
    points: Points, x: str, y: str, series: str, *, x_title: str, y_title: str, log: tuple[str, ...] = ()
) -> Any:
    import altair as alt

    def scale(axis: str) -> Any:
        return alt.Scale(type="log") if axis in log else alt.Scale()

    order = list(dict.fromkeys(p[series] for p in points))
    return (
        alt.Chart(alt.Data(values=points))
        .mark_line()
        .encode(
            x=alt.X(f"{x}:Q", title=x_title, scale=scale("x")),
            y=alt.Y(f"{y}:Q", title=y_title, scale=scale("y")),
            color=alt.Color(f"{series}:N", sort=order, title=None),
        )
    )
