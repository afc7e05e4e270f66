"""P1, attacker models with background knowledge: Tables 3, 5-8, Figures 2-12."""

from __future__ import annotations

import math

import sudare
from sudare.data import catalog
from sudare.data.dataset import Dataset
from sudare.report.reproduction.item import Item, Page, Row, must_equal, shown
from sudare.risk import charts, formulas
from sudare.risk.result import RiskResult

# Table 5: attribute, |D|, alpha (cut), R; the risks of T1 with the four digits of Table 6
T1 = [
    ("time", "551", "22.23", ".3217", ".0145"),
    ("date", "290", "24.42", ".1860", ".0076"),
    ("goods", "2,781", "1.32", ".0965", ".0730"),
    ("price", "184", "2.49", ".0121", ".0048"),
    ("number", "97", "3.15", ".0080", ".0025"),
]
T2 = [
    ("time_in_hospital", "14", "1.05", "1.45e-4", "1.38e-4"),
    ("age", "10", "1.35", "1.33e-4", "9.83e-5"),
    ("race", "6", "1.31", "7.73e-5", "5.90e-5"),
    ("gender", "3", "1.28", "3.78e-5", "2.95e-5"),
]
T3 = [
    ("age", "73", "1", "2.24e-3", "2.24e-3"),
    ("occupation", "15", "1", "4.61e-4", "4.61e-4"),
    ("marital-status", "7", "1", "2.15e-4", "2.15e-4"),
    ("race", "5", "1", "1.54e-4", "1.54e-4"),
]
# Table 8: sample size, printed standard deviation of the mean
TABLE8 = [(1, "13.33"), (50, "1.75"), (100, "1.09"), (150, "0.78"), (200, "0.53"), (250, "0.33")]


def page(*, full: bool = False) -> Page:
    items = [_table3()]
    if catalog.folder() is None:
        items.append(
            Item("Tables 5-8, Figures 2-12", "They need the public data.", skipped="SUDARE_DATA is not set")
        )
        return Page("P1", "attacker models with background knowledge", tuple(items))
    results = {"T1": _t1(), "T2": _t2(), "T3": _t3()}
    items += [
        _table5(results),
        _figures_alpha(results),
        _figures_scatter(results["T1"]),
        _table6(results),
        _table7(results["T1"]),
        _table8(results["T1"], 20_000 if full else 2_000),
        _beyond(results["T1"]),
    ]
    return Page("P1", "attacker models with background knowledge", tuple(items), _corrections(results["T1"]))


def _table3() -> Item:
    found = sudare.risk(sudare.open("example:purchases", user="user"), attributes=["date"])
    rows = []
    printed = {
        "2010/12/1": ("0.4", "0.5", "0.2", "2"),
        "2010/12/2": ("0.3", "0.5", "0.15", "1.5"),
        "2010/12/3": ("0.3", "1", "0.3", "3"),
    }
    for value in found.value_rows("date"):
        for name, text in zip(("pr_x", "pr_idf", "joint", "alpha"), printed[value["value"]]):
            rows.append(must_equal(f"{value['value']}: {name}", text, value[name]))
    rows.append(must_equal("mean identification probability", "0.65", found.risk_of("date")))
    return Item("Table 3", "The worked example comes out exactly.", tuple(rows))


def _t1() -> RiskResult:
    return sudare.risk(sudare.open("retail400", user="user_id"), attributes=[row[0] for row in T1])


def _t2() -> RiskResult:
    return sudare.risk(sudare.open("diabetes", user="patient_nbr"), attributes=[row[0] for row in T2])


def _t3() -> RiskResult:
    table = sudare.open("adult").to_pyarrow()
    import pyarrow.compute as pc

    data = table.filter(pc.equal(table["split"], "data"))
    return sudare.risk(Dataset.from_arrow(data, name="adult"), attributes=[row[0] for row in T3])


def _table5(results: dict[str, RiskResult]) -> Item:
    rows = []
    for name, printed in (("T1", T1), ("T2", T2), ("T3", T3)):
        for attribute, values, alpha, risk, _ in printed:
            found = results[name].profile(attribute)
            rows.append(must_equal(f"{name} {attribute}: |D|", values, found.values))
            rows.append(must_equal(f"{name} {attribute}: alpha", alpha, formulas.alpha(found)))
            rows.append(must_equal(f"{name} {attribute}: R", risk, formulas.uniform_risk(found)))
    rows += [
        Row(f"T4 {attribute}: R", risk, "", "data not public")
        for attribute, risk in (
            ("employment", "0.721"),
            ("income", "0.132"),
            ("amount", "0.021"),
            ("grade", "0.000"),
        )
    ]
    text = "Every value of the three public tables comes out; the loan data (T4) are no longer offered for download."
    return Item("Table 5", text, tuple(rows))


def _figures_alpha(results: dict[str, RiskResult]) -> Item:
    drawn = [(f"fig-alpha-{a}", charts.alpha_histogram(results["T1"], a)) for a, *_ in T1]
    drawn += [
        (f"fig-alpha-t2-{a}", charts.alpha_histogram(results["T2"], a)) for a in ("age", "time_in_hospital")
    ]
    text = "The distributions of alpha, from the same data; the figures print no numbers to compare."
    return Item("Figures 2-6, 9, 10", text, charts=tuple(drawn))


def _figures_scatter(result: RiskResult) -> Item:
    drawn = [(f"fig-scatter-{a}", charts.records_and_users(result, a)) for a in ("date", "price")]
    text = (
        "Points (users, records) of every value with both models. The paper prints the mean model's line inverted "
        "(users = alpha x records); records = alpha x users is what the points follow."
    )
    return Item("Figures 7, 8", text, charts=tuple(drawn))


def _table6(results: dict[str, RiskResult]) -> Item:
    rows = []
    for name, printed in (("T1", T1), ("T2", T2), ("T3", T3)):
        for attribute, _, _, risk, cheap in printed:
            found = results[name].profile(attribute)
            rows.append(must_equal(f"{name} {attribute}: mean model", risk, formulas.uniform_risk(found)))
            rows.append(
                must_equal(
                    f"{name} {attribute}: low-cost model",
                    cheap,
                    formulas.low_cost(found.values, found.records),
                )
            )
    models = [
        sudare.risk(
            results["T1"].source, attributes=[r[0] for r in T1], model=m, sample_size=s, key=bytes(range(32))
        )
        for m, s in (("exact", None), ("low-cost", None), ("sample", 50))
    ]
    text = (
        "The mean and the low-cost model come out. The printed intervals of the sampling model are one draw of "
        "ten values with replacement, plus or minus one standard deviation of alpha; ours (s = 50, without "
        "replacement, 90%) are in the chart."
    )
    return Item("Table 6", text, tuple(rows), (("table6-models", charts.models_bars(models)),))


def _table7(result: RiskResult) -> Item:
    found = result.profile("date")
    error = formulas.uniform_risk(found) - formulas.low_cost(found.values, found.records)
    rows = (
        must_equal("mean model: cost", "38087", found.records),
        must_equal("sampling model: cost per value", "131.3", found.records / found.values),
        must_equal(
            "sampling model: error of one value, on average", "0.073", formulas.one_value_error(found)
        ),
        must_equal("low-cost model: error", "0.178", error),
    )
    text = "The printed cost of the sampling model is that of one value; s values cost s times as much."
    return Item(
        "Table 7, Figure 11", text, rows, (("fig-error-cost", charts.error_and_cost(result, "date")),)
    )


def _table8(result: RiskResult, draws: int) -> Item:
    found = result.profile("date")
    sd, values = formulas.alpha_sd(found), found.values
    rows = []
    for size, printed in TABLE8:
        expected = sd / math.sqrt(size) * math.sqrt((values - size) / (values - 1))
        close = abs(expected / float(printed) - 1) < 0.06
        rows.append(
            Row(
                f"sd of the mean, s = {size}",
                printed,
                shown(expected),
                "simulated" if close else "paper errs",
            )
        )
    chart = charts.sampled_means(result, "date", sample_size=50, draws=draws)
    text = "The printed deviations are a simulation; ours is the formula sd/sqrt(s) x sqrt((D-s)/(D-1))."
    return Item("Table 8, Figure 12", text, tuple(rows), (("fig-sampled-means", chart),))


def _beyond(result: RiskResult) -> Item:
    pairs = sudare.risk(result.source, attributes=[r[0] for r in T1], combine=2)
    rows = tuple(
        Row(" + ".join(row["attributes"]), "", shown(row["risk"]), "beyond the paper")
        for row in pairs.rows[:5]
    )
    text = "What the paper leaves to the future: several attributes of the same record known together."
    return Item("Beyond the paper", text, rows, (("pairs", charts.pair_heatmap(pairs)),))


def _corrections(result: RiskResult) -> tuple[Row, ...]:
    found = result.profile("date")
    alpha, sd = formulas.alpha(found), formulas.alpha_sd(found)
    as_printed = sd * found.records / (math.sqrt(10) * found.values * alpha)
    right = sd * math.sqrt(1 - 10 / found.values) / (math.sqrt(10) * alpha)
    return (
        Row(
            "P1 Theorem 2, date, s = 10: relative error (the theorem mixes the units of alpha and R)",
            shown(as_printed),
            shown(right),
            "paper errs",
        ),
        Row(
            "P1 Table 6: draws with replacement, ten of a domain of three",
            "s = 10",
            "s = 3, exact",
            "paper errs",
        ),
        Row("P1 Figures 7, 8: line of the mean model", "|U| = alpha |R|", "|R| = alpha |U|", "paper errs"),
    )
