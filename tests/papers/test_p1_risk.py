"""P1: every number printed about the attacker models, on the paper's example and its data sets."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import sudare
from sudare.keys import Key
from sudare.risk import formulas
from sudare.risk.measure import risk
from sudare.risk.sampling import cost, error_rate, estimate

T1 = {
    "time": (551, 22.23, 0.3217, 0.0145),
    "date": (290, 24.42, 0.1860, 0.0076),
    "goods": (2781, 1.32, 0.0965, 0.0730),
    "price": (184, 2.49, 0.0121, 0.0048),
    "number": (97, 3.15, 0.0080, 0.0025),
}
T2 = {
    "time_in_hospital": (14, 1.05, 1.45e-4, 1.38e-4),
    "age": (10, 1.35, 1.33e-4, 9.83e-5),
    "race": (6, 1.31, 7.73e-5, 5.90e-5),
    "gender": (3, 1.28, 3.78e-5, 2.95e-5),
}
T3 = {
    "age": (73, 1, 2.24e-3, 2.24e-3),
    "occupation": (15, 1, 4.61e-4, 4.61e-4),
    "marital_status": (7, 1, 2.15e-4, 2.15e-4),
    "race": (5, 1, 1.54e-4, 1.54e-4),
}


@pytest.fixture(scope="module")
def purchases():
    return sudare.open("example:purchases", user="user")


@pytest.fixture(scope="module")
def retail(data_dir):
    return sudare.open(data_dir / "retail400.parquet", user="user_id")


def truncated(value: float, digits: int) -> float:
    return math.floor(value * 10**digits) / 10**digits


def test_example_risks(purchases):
    found = risk(purchases)
    exact = {"date": (13, 20), "time": (1, 1), "goods": (11, 20), "price": (29, 60), "number": (4, 5)}
    for name, (above, below) in exact.items():
        assert found.risk_of(name) == pytest.approx(float(Fraction(above, below)), abs=1e-15)


def test_example_5_and_6_alpha_and_low_cost_of_date(purchases):
    row = next(r for r in risk(purchases).rows if r["attributes"] == ["date"])
    assert row["alpha"] == pytest.approx(13 / 6, abs=1e-15)
    assert row["low_cost"] == 0.3


def test_example_7_the_sample_of_two_dates():
    assert estimate([(4, 2), (3, 1)], values=3, records=10).risk == 0.75


def test_table_3_of_the_dates(purchases):
    table = risk(purchases).values("date")
    assert table[["records", "users", "alpha", "pr_x", "pr_idf", "joint"]].to_numpy().tolist() == [
        [3, 1, 3, 0.3, 1, 0.3],
        [4, 2, 2, 0.4, 0.5, 0.2],
        [3, 2, 1.5, 0.3, 0.5, 0.15],
    ]
    assert table["joint"].sum() == pytest.approx(0.65)


def test_table_5_and_6_of_the_purchases(retail):
    found = {r["attributes"][0]: r for r in risk(retail, attributes=list(T1)).rows}
    assert [r["attributes"][0] for r in risk(retail, attributes=list(T1)).rows] == list(T1)
    for name, (values, alpha, exact, low) in T1.items():
        row = found[name]
        assert (row["records"], row["users"], row["values"]) == (38_087, 400, values)
        assert truncated(row["alpha"], 2) == alpha
        assert round(row["risk"], 4) == exact
        assert round(row["low_cost"], 4) == low
        assert row["low_cost_error"] == pytest.approx(1 - row["low_cost"] / row["risk"])


def test_table_5_and_6_of_the_hospital_stays(data_dir):
    ds = sudare.open(data_dir / "diabetes.parquet", user="patient_nbr")
    for row in risk(ds, attributes=list(T2)).rows:
        values, alpha, exact, low = T2[row["attributes"][0]]
        assert (row["records"], row["users"], row["values"]) == (101_766, 71_518, values)
        assert truncated(row["alpha"], 2) == alpha
        assert float(f"{row['risk']:.2e}") == pytest.approx(exact)
        assert float(f"{row['low_cost']:.2e}") == pytest.approx(low)


def test_table_5_and_6_of_the_census(data_dir):
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    table = pq.read_table(data_dir / "adult.parquet")
    table = table.rename_columns([name.replace("-", "_") for name in table.column_names])
    ds = sudare.open(table.filter(pc.equal(table["split"], "data")))
    for row in risk(ds, attributes=list(T3)).rows:
        values, alpha, exact, low = T3[row["attributes"][0]]
        assert (row["records"], row["users"], row["values"], row["alpha"]) == (32_561, 32_561, values, alpha)
        assert float(f"{row['risk']:.2e}") == pytest.approx(exact)
        assert float(f"{row['low_cost']:.2e}") == pytest.approx(low)


def test_the_date_with_one_shopper_and_122_records(retail):
    first = risk(retail, attributes="date").values("date").iloc[0]
    assert (first["value"], first["alpha"], first["users"]) == ("2011/8/28", 122.0, 1)


def test_table_7_error_and_cost_of_the_models(retail):
    row = risk(retail, attributes="date").rows[0]
    assert cost("exact", records=38_087, values=290) == 38_087
    assert round(cost("sample", records=38_087, values=290, sample_size=1), 1) == 131.3
    assert round(row["risk"] - row["low_cost"], 3) == 0.178
    assert round(formulas.one_value_error(risk(retail, attributes="date").profile("date")), 3) == 0.073


def test_table_4_of_the_models_side_by_side(retail):
    found = risk(retail, attributes="date").models(sample_size=10).set_index("model")
    assert found.loc["exact", ["error", "records_read"]].tolist() == [0, 38_087]
    assert found.loc["low-cost", ["risk", "records_read"]].tolist() == [290 / 38_087, 0]
    assert found.loc["low-cost", "error"] == pytest.approx(1 - 1 / 24.4264, abs=1e-6)
    assert found.loc["sample", "records_read"] == pytest.approx(1313.3, abs=0.1)
    assert found.loc["sample", "error"] == pytest.approx(0.1715, abs=1e-4)
    assert found.loc["sample", "error_paper"] == pytest.approx(22.9, abs=0.05)
    assert found["bound_low"].tolist() == [290 / 38_087] * 3


def test_table_8_spread_of_the_sampled_mean(retail):
    profile = risk(retail, attributes="date").profile("date")
    alphas = np.repeat([r / u for r, u, _ in profile.pairs], [n for _, _, n in profile.pairs])
    assert formulas.alpha_sd(profile) == pytest.approx(13.33, rel=0.02)
    rng = np.random.default_rng(8)
    for s in (50, 100, 150, 200, 250):
        spread = formulas.alpha_sd(profile) / math.sqrt(s) * math.sqrt((290 - s) / 289)
        means = [rng.choice(alphas, s, replace=False).mean() for _ in range(1500)]
        assert np.std(means) == pytest.approx(spread, rel=0.08)
    printed = {50: 1.75, 100: 1.09, 150: 0.78, 200: 0.53, 250: 0.33}
    for s, sigma in printed.items():
        assert 13.33 / math.sqrt(s) * math.sqrt((290 - s) / 289) == pytest.approx(sigma, rel=0.08)


def test_theorem_2_as_printed_and_corrected(retail):
    profile = risk(retail, attributes="date").profile("date")
    args = {"s": 10, "values": 290, "records": 38_087, "alpha": formulas.alpha(profile)}
    assert error_rate(13.33, rule="paper", **args) == pytest.approx(22.7, abs=0.05)  # the printed deviation
    assert error_rate(13.33, rule="corrected", **args) == pytest.approx(0.173, abs=0.004)
    own = formulas.alpha_sd(profile)
    assert error_rate(own, rule="corrected", **args) == pytest.approx(own / 24.426 / math.sqrt(10), rel=0.02)


def test_the_interval_covers_the_risk_of_date_at_fifty_values(retail):
    table = risk(retail, attributes="date").values("date")
    pairs, exact = table[["records", "users"]].to_numpy(), table["joint"].sum()
    rng = np.random.default_rng(90)
    covered = 0
    for _ in range(400):
        drawn = pairs[rng.choice(len(pairs), 50, replace=False)]
        found = estimate([(int(r), int(u)) for r, u in drawn], values=290, records=38_087)
        covered += found.low <= exact <= found.high
    assert covered / 400 >= 0.83


def test_a_keyed_sample_of_the_purchases_holds_the_exact_risk_of_date(retail):
    row = risk(retail, attributes="date", model="sample", sample_size=100, key=Key.demo(5)).rows[0]
    assert row["risk_low"] <= row["risk"] <= row["risk_high"]
    assert row["risk"] == pytest.approx(0.186, rel=0.2)


def test_stronger_attackers_on_the_purchases(retail):
    plain, prop, best = (
        risk(retail, attributes=list(T1), attacker=a) for a in ("uniform", "proportional", "bayes")
    )
    for name in T1:
        assert plain.risk_of(name) < prop.risk_of(name) < best.risk_of(name)


def test_the_kernel_prints_the_same_table(retail):
    assert risk(retail, combine=3, strategy="kernel").rows == risk(retail, combine=3, strategy="plain").rows
