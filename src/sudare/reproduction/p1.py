"""P1, attacker models with background knowledge: Tables 3, 5-8, Figures 2-12."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

import sudare
from sudare.data.dataset import Dataset
from sudare.engine.profile import Profile
from sudare.errors import SudareWarning
from sudare.examples import catalog
from sudare.reproduction.item import Item, Page, Row, must_equal, number, shown
from sudare.risk import charts, formulas
from sudare.risk.measure import Model
from sudare.risk.result import RiskResult

# attribute; Table 5: alpha (cut), |D|, R; Table 6: R by the mean model, the low-cost one, the interval of the sample
Printed = list[tuple[str, str, str, str, str, str, str]]
T1: Printed = [
    ("time", "22.23", "551", "0.322", "0.3217", "0.0145", "[0.1411, 0.5998]"),
    ("date", "24.42", "290", "0.186", "0.1860", "0.0076", "[0.1267, 0.2786]"),
    ("goods", "1.32", "2,781", "0.097", "0.0965", "0.0730", "[0.0718, 0.0982]"),
    ("price", "2.49", "184", "0.012", "0.0121", "0.0048", "[0.0036, 0.0132]"),
    ("number", "3.15", "97", "0.008", "0.0080", "0.0025", "[0.0017, 0.0152]"),
]
T2: Printed = [
    ("time_in_hospital", "1.05", "14", "1.45e-4", "1.45e-4", "1.38e-4", "[1.46e-4, 1.52e-4]"),
    ("age", "1.35", "10", "1.33e-4", "1.33e-4", "9.83e-5", "[1.21e-4, 1.42e-4]"),
    ("race", "1.31", "6", "7.73e-5", "7.73e-5", "5.90e-5", "[6.92e-5, 8.31e-5]"),
    ("gender", "1.28", "3", "3.78e-5", "3.78e-5", "2.95e-5", "[3.08e-5, 4.30e-5]"),
]
T3: Printed = [
    ("age", "1", "73", "2.24e-3", "2.24e-3", "2.24e-3", "[2.24e-3, 2.24e-3]"),
    ("occupation", "1", "15", "4.61e-4", "4.61e-4", "4.61e-4", "[4.61e-4, 4.61e-4]"),
    ("marital-status", "1", "7", "2.15e-4", "2.15e-4", "2.15e-4", "[2.15e-4, 2.15e-4]"),
    ("race", "1", "5", "1.54e-4", "1.54e-4", "1.54e-4", "[1.54e-4, 1.54e-4]"),
]
T4: Printed = [
    ("employment", "1", "30,661", "0.721", "0.7208", "0.7208", "[0.7208, 0.7208]"),
    ("income", "1", "5,597", "0.132", "0.1316", "0.1316", "[0.1316, 0.1316]"),
    ("amount", "1", "898", "0.021", "0.0211", "0.0211", "[0.0211, 0.0211]"),
    ("grade", "1", "8", "0.000", "0.0002", "0.0002", "[0.0002, 0.0002]"),
]
# Table 5: records, users, attributes (Adult as UCI has it has 15: the print counts 16, the text 17)
SIZES = {"T1": ("38,087", "400", "7"), "T2": ("101,766", "71,518", "50"), "T3": ("32,561", "32,561", "16")}
T4_RECORDS = 42_538
# Table 8: sample size, printed mean and standard deviation of the mean
TABLE8 = [
    (1, "24.03", "13.33"),
    (50, "24.47", "1.75"),
    (100, "24.39", "1.09"),
    (150, "24.41", "0.78"),
    (200, "24.41", "0.53"),
    (250, "24.42", "0.33"),
]


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
    values = {row["value"]: row for row in found.value_rows("date")}
    names = {
        "records": "|R_x|",
        "pr_x": "Pr(x)",
        "users": "|U_x|",
        "pr_idf": "Pr(idf|x)",
        "joint": "Pr(idf, x)",
        "alpha": "alpha_x",
    }
    printed = {
        "2010/12/1": ("4", "0.4", "2", "0.5", "0.2", "2"),
        "2010/12/2": ("3", "0.3", "2", "0.5", "0.15", "1.5"),
        "2010/12/3": ("3", "0.3", "1", "1", "0.3", "3"),
    }
    rows = [
        must_equal(f"{day}: {names[name]}", text, values[day][name])
        for day, texts in printed.items()
        for name, text in zip(names, texts)
    ]
    totals = (("records", "10"), ("pr_x", "1.0"))
    rows += [
        must_equal(f"sum: {names[name]}", text, round(sum(row[name] for row in values.values()), 12))
        for name, text in totals
    ]
    rows.append(
        must_equal("sum: Pr(idf, x), the mean identification probability", "0.65", found.risk_of("date"))
    )
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
        rows += _sizes(name, results[name])
        for attribute, alpha, values, risk, *_ in printed:
            found = results[name].profile(attribute)
            rows.append(must_equal(f"{name} {attribute}: alpha", alpha, formulas.alpha(found)))
            rows.append(must_equal(f"{name} {attribute}: |D|", values, found.values))
            rows.append(must_equal(f"{name} {attribute}: R", risk, formulas.uniform_risk(found)))
    for attribute, _, values, risk, *_ in T4:
        rows.append(Row(f"T4 {attribute}: |D|", values, "", "data not public"))
        rows.append(must_equal(f"T4 {attribute}: R, from the printed |D| and m", risk, _loan_risk(values)))
    text = (
        "Every value of the three public tables comes out. The loan data (T4) are no longer offered for download; "
        "with one record per person R is |D|/m, and that of the printed |D| and m is the printed R."
    )
    return Item("Table 5", text, tuple(rows))


def _sizes(name: str, result: RiskResult) -> list[Row]:
    ds = result.source
    records, users, attributes = SIZES[name]
    rows = [must_equal(f"{name}: m", records, ds.rows), must_equal(f"{name}: n", users, ds.users)]
    if name == "T3":
        columns = len(ds.columns) - 1  # but for `split`, which tells the two files of UCI apart
        return [*rows, Row("T3: attributes (the text says 17)", attributes, str(columns), "paper errs")]
    return [*rows, must_equal(f"{name}: attributes", attributes, len(ds.columns))]


def _loan_risk(values: str) -> float:
    """One record per person: R = |D|/m."""
    return number(values) / T4_RECORDS


def _figures_alpha(results: dict[str, RiskResult]) -> Item:
    figures = {2: "date", 3: "time", 4: "goods", 5: "price", 6: "number"}
    drawn = [
        (f"fig-{n}-alpha-{name}", charts.alpha_histogram(results["T1"], name)) for n, name in figures.items()
    ]
    drawn += [
        (f"fig-{n}-alpha-{name}", charts.alpha_histogram(results["T2"], name))
        for n, name in ((9, "age"), (10, "time_in_hospital"))
    ]
    day = next(row for row in results["T1"].value_rows("date") if row["value"] == "2011/8/28")
    rows = (must_equal("date 2011/8/28: alpha_x (section 4.2)", "122", day["alpha"]),)
    text = "The distributions of alpha, from the same data; of their numbers the text names one, and it comes out."
    return Item("Figures 2-6, 9, 10", text, rows, tuple(drawn))


def _figures_scatter(result: RiskResult) -> Item:
    drawn = [
        (f"fig-{n}-scatter-{a}", charts.records_and_users(result, a)) for n, a in ((7, "date"), (8, "price"))
    ]
    text = (
        "Points (users, records) of every value with both models. The paper prints the mean model's line inverted "
        "(users = alpha x records); records = alpha x users is what the points follow."
    )
    return Item("Figures 7, 8", text, charts=tuple(drawn))


def _table6(results: dict[str, RiskResult]) -> Item:
    rows = []
    for name, printed in (("T1", T1), ("T2", T2), ("T3", T3)):
        sampled = {row["attributes"][0]: row for row in _sampled(results[name], 10).rows}
        for attribute, _, _, _, risk, cheap, interval in printed:
            found = results[name].profile(attribute)
            low_cost = formulas.low_cost(found.values, found.records)
            rows.append(must_equal(f"{name} {attribute}: mean model", risk, formulas.uniform_risk(found)))
            rows.append(must_equal(f"{name} {attribute}: low-cost model", cheap, low_cost))
            rows.append(_interval(f"{name} {attribute}", interval, sampled[attribute]))
    for attribute, _, values, _, risk, cheap, _ in T4:
        rows.append(must_equal(f"T4 {attribute}: mean model, |D|/m", risk, _loan_risk(values)))
        rows.append(must_equal(f"T4 {attribute}: low-cost model", cheap, _loan_risk(values)))
    models = [_with_model(results["T1"], "exact"), _with_model(results["T1"], "low-cost")]
    text = (
        "The mean and the low-cost model come out. The printed intervals of the sampling model are one draw of ten "
        "values with replacement, plus or minus one standard deviation of alpha; that of T2's days misses the exact "
        "risk. Ours, in the rows of one draw of ten values (or of all, if there are fewer) without replacement and in "
        "the chart of 50, are 90% intervals of the risk; where every value is drawn, or everybody has one record, they "
        "have no width."
    )
    drawn = charts.models_bars([*models, _sampled(results["T1"], 50)])
    return Item("Table 6", text, tuple(rows), (("table6-models", drawn),))


def _with_model(result: RiskResult, model: Model, size: int | None = None) -> RiskResult:
    names = list(dict.fromkeys(row["attributes"][0] for row in result.rows))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SudareWarning)  # that ten values are few is the point
        return sudare.risk(
            result.source, attributes=names, model=model, sample_size=size, key=bytes(range(32))
        )


def _sampled(result: RiskResult, size: int) -> RiskResult:
    return _with_model(result, "sample", size)


def _interval(what: str, printed: str, found: Mapping[str, Any]) -> Row:
    """Two intervals of chance: they can only be compared by eye."""
    ours = f"[{found['risk_low']:.3g}, {found['risk_high']:.3g}]"
    return Row(f"{what}: sampling model, s = {found['sample_size']}", printed, ours, "simulated")


def _table7(result: RiskResult) -> Item:
    found = result.profile("date")
    error = formulas.uniform_risk(found) - formulas.low_cost(found.values, found.records)
    rows = (
        must_equal("mean model: cost", "38087", found.records),
        must_equal("mean model: error", "0", 0),
        must_equal("sampling model: cost per value", "131.3", found.records / found.values),
        must_equal(
            "sampling model: error of one value, on average", "0.073", formulas.one_value_error(found)
        ),
        must_equal("low-cost model: cost", "0", 0),
        must_equal("low-cost model: error", "0.178", error),
    )
    text = (
        "Cost and error that are printed for the sampling model are those of one value; s values cost s times as much, "
        "and their mean errs less."
    )
    return Item(
        "Table 7, Figure 11", text, rows, (("fig-11-error-cost", charts.error_and_cost(result, "date")),)
    )


def _table8(result: RiskResult, draws: int) -> Item:
    found = result.profile("date")
    alpha, sd, values = formulas.alpha(found), formulas.alpha_sd(found), found.values
    rows = []
    for size, mean, deviation in TABLE8:
        expected = sd / math.sqrt(size) * math.sqrt((values - size) / (values - 1))
        near = abs(number(mean) - alpha) < 4 * expected / math.sqrt(1000)  # the text draws 1,000 samples
        rows.append(Row(f"mean, s = {size}", mean, f"{alpha:.2f}", "simulated" if near else "paper errs"))
        close = abs(expected / float(deviation) - 1) < 0.06
        rows.append(
            Row(
                f"sd of the mean, s = {size}",
                deviation,
                f"{expected:.2f}",
                "simulated" if close else "paper errs",
            )
        )
    rows += [must_equal("mean, s = |D|", "24.42", alpha), must_equal("sd of the mean, s = |D|", "0", 0)]
    chart = charts.sampled_means(result, "date", sample_size=50, draws=draws)
    text = (
        "The printed means and deviations are a simulation; ours are what it should give: alpha, and the formula "
        "sd/sqrt(s) x sqrt((D-s)/(D-1))."
    )
    return Item("Table 8, Figure 12", text, tuple(rows), (("fig-12-sampled-means", chart),))


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
            "P1 Theorem 2: a 90% interval of plus or minus sigma/sqrt(s); samples within it (date, s = 10)",
            "0.90",
            f"{_covered(found, 1 / math.sqrt(10)):.2f}",
            "paper errs",
        ),
        Row(
            "P1 Table 6: a 90% interval of plus or minus sigma; samples within it (date, s = 10)",
            "0.90",
            f"{_covered(found, 1.0):.2f}",
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


def _covered(found: Profile, sigmas: float, draws: int = 20_000) -> float:
    """How many samples of ten values have alpha within so many of their own standard deviations."""
    alphas = np.repeat([r / u for r, u, _ in found.pairs], [n for *_, n in found.pairs])
    samples = np.random.default_rng(0).choice(alphas, (draws, 10))
    reach = sigmas * samples.std(axis=1, ddof=1)
    return float(np.mean(np.abs(samples.mean(axis=1) - alphas.mean()) <= reach))
