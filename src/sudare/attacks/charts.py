"""The pictures of attacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sudare.charts import INK, PALETTE, finish

if TYPE_CHECKING:
    from sudare.attacks.measure import AttackResult


def rates(result: AttackResult) -> Any:
    """The re-identification rate of every attack with its interval, and the blind guess as a tick."""
    import altair as alt

    data = alt.Data(
        values=[{k: row[k] for k in ("attack", "rate", "baseline", "low", "high")} for row in result.rows]
    )
    order = [row["attack"] for row in result.rows]
    rows = alt.Y("attack:N", sort=order, title=None)
    share = {"scale": alt.Scale(domain=[0, 1]), "axis": alt.Axis(format="%")}
    base = alt.Chart(data)
    bars = base.mark_bar(color=PALETTE[5]).encode(
        y=rows, x=alt.X("rate:Q", title="re-identified release rows", **share)
    )
    interval = base.mark_rule(color=INK, strokeWidth=2).encode(y=rows, x="low:Q", x2="high:Q")
    blind = base.mark_tick(color=PALETTE[1], thickness=3, opacity=1).encode(y=rows, x="baseline:Q")
    return finish(
        bars + interval + blind, title="Re-identification by attack (95% interval; tick: a blind guess)"
    )
