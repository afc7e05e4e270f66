import math

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given, settings

import sudare
from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.errors import SudareWarning
from sudare.keys import Key
from sudare.risk.measure import risk
from sudare.risk.sampling import cost, error_rate, estimate, standard_error

pytestmark = pytest.mark.filterwarnings("ignore:S-EMPTY")  # columns of nulls are drawn too
few = settings(max_examples=20, deadline=None)
rows = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from(["a", "b", "c", None]), st.integers(0, 2)),
    min_size=1,
    max_size=30,
)
KEY = Key.demo(1)


def table(found):
    u, x, y = zip(*found)
    return Dataset.from_arrow(pa.table({"u": u, "x": pa.array(x, pa.string()), "y": y}), Roles.of(user="u"))


@few
@given(rows, st.sampled_from(["uniform", "proportional", "bayes"]))
def test_with_every_value_sampled_the_risk_is_exact_and_the_interval_has_no_width(found, attacker):
    ds = table(found)
    exact = {tuple(r["attributes"]): r for r in risk(ds, combine=2, attacker=attacker).rows}
    for row in risk(ds, combine=2, model="sample", attacker=attacker).rows:
        assert row["risk"] == row["risk_low"] == row["risk_high"] == exact[tuple(row["attributes"])]["risk"]
        assert row["sample_size"] == row["values"]


def test_the_example_of_the_paper():
    assert estimate([(4, 2), (3, 1)], values=3, records=10).risk == 0.75


def test_a_sample_larger_than_the_domain_is_cut_to_it():
    row = risk(table([(1, "a", 0), (2, "b", 0)]), attributes="x", model="sample", sample_size=99).rows[0]
    assert row["sample_size"] == 2


def test_the_same_key_draws_the_same_values_and_another_key_others():
    ds = table([(i % 3 * (i % 2), None, i * i % 331) for i in range(900)])
    with pytest.warns(SudareWarning, match="S-FEW-VALUES"):
        draws = [
            risk(ds, attributes="y", model="sample", sample_size=20, key=k).rows
            for k in (KEY, KEY, Key.demo(2))
        ]
    assert draws[0] == draws[1] != draws[2]


def test_the_draw_does_not_depend_on_the_order_of_the_rows():
    data = [(i % 3 * (i % 2), None, i * i % 331) for i in range(900)]
    first, second = (risk(table(d), attributes="y", model="sample", key=KEY).rows for d in (data, data[::-1]))
    assert first == second


def test_one_value_says_nothing_about_the_spread():
    found = estimate([(4, 2)], values=3, records=10)
    assert (found.low, found.high) == (0.3, 1.0)


def test_the_corrected_error_is_the_paper_s_without_its_mixed_units():
    args = {"s": 10, "values": 290, "records": 38087, "alpha": 24.4260}
    printed = error_rate(13.33, rule="paper", **args)
    assert printed == pytest.approx(22.7, abs=0.05)
    right = error_rate(13.33, **args)
    assert right == pytest.approx(printed * 290 / 38087 * math.sqrt(1 - 10 / 290))
    assert error_rate(13.33, **{**args, "s": 290}) == 0


def test_standard_error_shrinks_to_nothing_as_all_values_are_drawn():
    assert standard_error([1.0, 2.0, 4.0], 3) == 0
    assert standard_error([1.0], 3) == math.inf


def test_cost_in_records_read():
    assert cost("exact", records=100, values=10) == 100
    assert cost("low-cost", records=100, values=10) == 0
    assert cost("sample", records=100, values=10, sample_size=3) == 30


def test_a_sampled_risk_is_a_probability():
    values = [0] * 40 + list(range(1, 41))  # forty records of one user, forty of one record each
    ds = table([(0 if y == 0 else y, None, y) for y in values])
    with pytest.warns(SudareWarning, match="S-FEW-VALUES"):
        found = [
            risk(ds, attributes="y", model="sample", sample_size=3, key=Key.demo(k)).rows[0]
            for k in range(40)
        ]
    assert max(row["alpha"] * row["values"] / row["records"] for row in found) > 1
    assert all(row["risk_low"] <= row["risk"] <= row["risk_high"] <= 1 for row in found)


def test_sets_and_times_with_a_zone_are_sampled_and_listed_too():
    import datetime as dt

    noon = [dt.datetime(2020, 1, day, 12, tzinfo=dt.UTC) for day in (1, 1, 2)]
    columns = {"u": [1, 2, 2], "x": [["a", "b"], ["a"], None], "y": pa.array(noon, pa.timestamp("us", "UTC"))}
    ds = Dataset.from_arrow(pa.table(columns), Roles.of(user="u"))
    exact = risk(ds, combine=2)
    for row in risk(ds, combine=2, model="sample").rows:
        assert row["risk"] == exact.risk_of(row["attributes"])
    assert exact.values("y")["records"].tolist() == [2, 1]
    assert exact.values("x")["joint"].sum() == pytest.approx(exact.risk_of("x"))


@pytest.mark.parametrize("kind", [pa.int64(), pa.string(), pa.date32(), pa.float64()], ids=str)
@pytest.mark.parametrize("ordered", [True, False], ids=["clustered", "mixed"])
def test_a_file_in_the_order_of_the_attribute_gives_the_same_draw(tmp_path, kind, ordered):
    import pyarrow.parquet as pq

    import sudare

    y = [None if n % 97 == 0 else n * n % 89 for n in range(3000)]
    cells = (
        pa.array([None if v is None else str(v) for v in y])
        if kind == pa.string()
        else pa.array(y, pa.int32())
    )
    cells = cells if kind == pa.string() else cells.cast(kind)
    found = pa.table({"u": [n % 7 * (n % 3) for n in range(3000)], "y": cells})
    for place, part in enumerate((found.slice(0, 1000), found.slice(1000))):
        part = part.sort_by("y") if ordered else part
        pq.write_table(part, tmp_path / f"{place}.parquet", row_group_size=100)
    files = sudare.open(tmp_path / "*.parquet", user="u")
    asked = {"attributes": "y", "model": "sample", "sample_size": 60, "key": KEY}
    assert risk(files, **asked).rows == risk(sudare.open(found, user="u"), **asked).rows
    assert (
        risk(files, missing="drop", **asked).rows[0]["values"] == risk(files, **asked).rows[0]["values"] - 1
    )


def test_only_the_records_of_the_sampled_values_are_read():
    from sudare.engine.counts import counts_of

    ds = table([(1, "a", 0), (1, "a", 1), (2, "a", 1), (3, "b", 2), (4, None, 2)])
    assert counts_of(ds).owners(pa.table({"x": ["a"]})) == [(3, 2, 5, 2)]
    assert sorted(counts_of(ds).owners(pa.table({"x": pa.array(["b", None])}))) == [
        (1, 1, 1, 1),
        (1, 1, 1, 1),
    ]
    assert counts_of(ds).owners(pa.table({"x": pa.array(["a"]), "y": pa.array([1])})) == [(2, 2, 2, 1)]


@pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning")
def test_a_sample_that_fits_says_nothing_about_its_size(key):
    ds = sudare.open("example:purchases", user="user")
    told = " ".join(sudare.risk(ds, attributes=["time"], model="sample", sample_size=2, key=key).notes)
    assert "fewer than" not in told
    told = " ".join(
        sudare.risk(ds, attributes=["time", "date"], model="sample", sample_size=4, key=key).notes
    )
    assert "Sample: 1 of 2 sets have fewer than 4 values" in told


@pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning")
def test_samples_are_right_on_average_and_their_intervals_are_wide():
    ds = table([(i * i % (2 + i % 5), None, i % 40) for i in range(400)])
    exact = risk(ds, attributes="y").rows[0]
    draws = [
        risk(ds, attributes="y", model="sample", sample_size=10, key=Key.demo(seed)).rows[0]
        for seed in range(60)
    ]
    assert sum(row["risk"] for row in draws) / 60 == pytest.approx(exact["risk"], rel=0.03)
    assert all(row["risk_low"] < row["risk"] < row["risk_high"] for row in draws)
    assert sum(row["risk_low"] <= exact["risk"] <= row["risk_high"] for row in draws) > 50
    assert draws[0]["users"] == exact["users"]


def test_the_interval_by_hand():
    """alpha 2, 3, 3: mean 8/3, S^2 = 1/3; half of six values are drawn, and t_2 at 95% is 2.91999."""
    found = estimate([(4, 2), (3, 1), (6, 2)], values=6, records=30)
    half = 2.919985580353725 * math.sqrt(0.5 * (1 / 3) / 3)
    assert (found.risk, found.records_read) == (pytest.approx(8 / 15), 13)
    assert (found.low, found.high) == (pytest.approx((8 / 3 - half) / 5), pytest.approx((8 / 3 + half) / 5))
    assert standard_error([2.0, 3.0], 4) == pytest.approx(math.sqrt(0.5 * 0.5 / 2))
    sure = estimate([(10, 1), (10, 1)], values=3, records=20)
    assert (sure.low, sure.high) == (1.0, 1.0), "no chance is above 1"
