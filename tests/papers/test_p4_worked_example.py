"""P4, Tables 2-4, 10, 11: the example of four rows, number by number."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

import sudare
from sudare import attacks as a
from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.methods import Average, Swap, Unify

ROLES = Roles.of(quasi=["QI1", "QI2", "QI3"], sensitive=["SA1", "SA2"])
ALL = [
    a.IdentifyRand(),
    a.IdentifySa(),
    a.IdentifySort(),
    a.IdentifySa21(),
    a.Euclid(),
    a.Euclid(fallback=True),
]
IN_ORDER = pytest.mark.filterwarnings("ignore:S-ORDER")


def table(sa1, sa2, qi3=(1, 1, 2, 2)):
    columns = {"QI1": [2, 2, 1, 1], "QI2": [1, 1, 1, 1], "QI3": list(qi3), "SA1": sa1, "SA2": sa2}
    return Dataset.from_arrow(pa.table(columns), ROLES)


X = ([100, 200, 300, 400], [100, 400, 200, 500])
B = ([110, 220, 280, 390], [90, 390, 210, 520])


def rates(release, attacks=ALL, ties="expected"):
    result = sudare.attack(table(*X), release, attacks, ties=ties, truth=[0, 1, 2, 3])
    return [row["rate"] for row in result.rows]


def test_the_distances_of_section_3():
    b1 = (110, 90)
    assert math.dist((100, 100), b1) == pytest.approx(14.142, abs=5e-4)
    assert math.dist((200, 400), b1) == pytest.approx(322.8, abs=0.05)


@IN_ORDER
def test_table_3_noise():
    assert rates(table(*B)) == [0.5, 1, 1, 1, 1, 1]


@IN_ORDER
def test_table_4_one_value_for_qi3():
    """EUC1 gives up two rows of D: half is right; the paper's row-i guess scores 1 on an unshuffled file."""
    d = table(*X, qi3=(1, 1, 1, 1))
    assert rates(d, [a.Euclid(), a.Euclid(fallback=True), a.Euclid(paper=True)]) == [0.5, 1, 1]
    shuffled = Dataset.from_arrow(d.to_pyarrow().take([3, 0, 1, 2]), ROLES)
    result = sudare.attack(table(*X), shuffled, [a.Euclid(), a.Euclid(paper=True)], truth=[3, 0, 1, 2])
    assert [row["rate"] for row in result.rows] == [0.5, 0.5]
    assert [row["gave_up"] for row in result.rows] == [2, 0]


def test_table_4_is_unify(key):
    release = sudare.anonymize(table(*X), Unify(column="QI3", value=1), key=key)
    assert set(release.data.to_pyarrow()["QI3"].to_pylist()) == {1}


@IN_ORDER
def test_sorting_by_the_sum_gives_the_order_1_3_2_4():
    """With the release sorted that way, equal ranks are equal people."""
    sums = [x + y for x, y in zip(*X)]
    assert sorted(range(4), key=lambda i: sums[i]) == [0, 2, 1, 3]
    assert rates(table(*B), [a.IdentifySort()]) == [1.0]


@IN_ORDER
def test_table_10_average(key):
    release = sudare.anonymize(table(*X), Average(), key=key).data.to_pyarrow().to_pylist()
    assert sorted((r["QI3"], r["SA1"], r["SA2"]) for r in release) == [
        (1, 150, 250),
        (1, 150, 250),
        (2, 350, 350),
        (2, 350, 350),
    ]
    assert rates_of_release(Average(), key) == [0.5, 0.5, 0.25, 0.5, 0.5, 0.5]


def rates_of_release(method, key):
    original = table(*X)
    release = sudare.anonymize(original, method, key=key)
    return [row["rate"] for row in sudare.attack(original, release, ALL).rows]


@IN_ORDER
def test_table_11_swapping_within_equal_quasi_identifiers(key):
    """G: SA1 swapped in the first class, SA2 in the second; means and counts by class stay."""
    g = table([200, 100, 300, 400], [100, 400, 500, 200])
    found = sudare.utility(table(*X), g, ["U1", "U2", "U3", "U4", "U5"], truth=[0, 1, 2, 3])
    values = {row["metric"]: row["value"] for row in found.rows}
    assert (values["U1"], values["U2"], values["U3"]) == (0, 0, 0)
    assert values["U4"] > 0.3
    assert values["U5"] == pytest.approx(
        (2 * 100 / 4 / (math.sqrt(2) * math.sqrt(12500)) + 2 * 300 / 4 / (math.sqrt(2) * math.sqrt(25000)))
        / 2
    )
    release = sudare.anonymize(table(*X), Swap(), key=key)
    for row in release.data.to_pyarrow().to_pylist():
        assert row["SA1"] in ((100, 200) if row["QI3"] == 1 else (300, 400))


@IN_ORDER
def test_ties_by_all_three_rules():
    f = table([150, 150, 350, 350], [250, 250, 350, 350])
    assert rates(f, [a.Euclid()], "expected") == [0.5]
    assert rates(f, [a.Euclid()], "first") == [0.5]
    assert rates(f, [a.Euclid()], "fail") == [0.0]
