"""Every attack against its definition, on small tables full of ties."""

from __future__ import annotations

import datetime as dt
import warnings
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare import attacks as a
from sudare.errors import SudareWarning

SMALL = st.integers(0, 3)
ROW = st.fixed_dictionaries({"q1": SMALL, "q2": st.integers(0, 1), "s1": SMALL, "s2": SMALL})
TIES = st.sampled_from(["expected", "first", "fail"])


@st.composite
def releases(draw):
    """An original, a release of another length with changed values, and the truth with dummies."""
    original = draw(st.lists(ROW, min_size=1, max_size=9))
    release = draw(st.lists(ROW, min_size=1, max_size=9))
    truth = draw(
        st.lists(st.sampled_from([None, *range(len(original))]), min_size=len(release), max_size=len(release))
    )
    return original, release, truth


def attacked(table, case, attack, ties):
    original, release, truth = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SudareWarning)
        result = sudare.attack(table(original), table(release), [attack], ties=ties, truth=truth)
    return result.rows[0]["rate"]


Q, S = ("q1", "q2"), ("s1", "s2")
CASES = {
    "identify-rand": (a.IdentifyRand(), lambda slow, x, b: slow.rand(x, b, Q)),
    "identify-sa": (a.IdentifySa(column="s2"), lambda slow, x, b: slow.nearest(x, b, Q, ("s2",), True)),
    "identify-sort": (a.IdentifySort(), lambda slow, x, b: slow.by_rank(x, b, S)),
    "identify-sa21": (a.IdentifySa21(column="s1"), lambda slow, x, b: slow.nearest(x, b, (), ("s1",), False)),
    "euc1": (a.Euclid(), lambda slow, x, b: slow.nearest(x, b, Q, S, False)),
    "euc2": (a.Euclid(fallback=True), lambda slow, x, b: slow.nearest(x, b, Q, S, True)),
    "subsets": (
        a.Euclid(quasi=("q2",), columns=("s1",)),
        lambda slow, x, b: slow.nearest(x, b, ("q2",), ("s1",), False),
    ),
    "no quasi": (a.Euclid(quasi=()), lambda slow, x, b: slow.nearest(x, b, (), S, False)),
}


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=40, deadline=None)
@given(case=releases(), ties=TIES)
def test_the_rate_is_that_of_the_definition(name, slow, table, case, ties):
    attack, reference = CASES[name]
    original, release, truth = case
    expected = slow.rate(reference(slow, original, release), truth, ties)
    assert attacked(table, case, attack, ties) == pytest.approx(float(expected), abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(case=releases(), ties=TIES)
def test_standardized_euclid_divides_by_the_standard_deviation(slow, table, case, ties):
    original, release, truth = case
    square = {}
    for c in S:
        values = [row[c] for row in original]
        mean = sum(values) / len(values)
        square[c] = sum((v - mean) ** 2 for v in values) / len(values)
    scale = {c: 0 if square[c] == 0 else square[c] ** -0.5 for c in S}
    found = []
    for b, rows in zip(
        release, [[i for i, x in enumerate(original) if all(x[q] == b[q] for q in Q)] for b in release]
    ):
        distance = {i: sum(((b[c] - original[i][c]) * scale[c]) ** 2 for c in S) for i in rows}
        near = [i for i in rows if distance[i] <= min(distance.values()) * (1 + 1e-9)]
        found.append({i: 1 / len(near) for i in near})
    expected = slow.rate(found, truth, ties)
    assert attacked(table, case, a.StandardizedEuclid(), ties) == pytest.approx(float(expected), abs=1e-12)


@settings(max_examples=10, deadline=None)
@given(case=releases(), ties=TIES, seed=st.randoms(use_true_random=False))
def test_the_order_of_the_release_never_changes_a_rate(table, case, ties, seed):
    original, release, truth = case
    places = list(range(len(release)))
    seed.shuffle(places)
    mixed = original, [release[i] for i in places], [truth[i] for i in places]
    for attack, _ in CASES.values():
        assert attacked(table, case, attack, ties) == pytest.approx(attacked(table, mixed, attack, ties))


def test_mahalanobis_sees_a_point_that_lies_off_the_correlation(table):
    original = [{"s1": i, "s2": i} for i in range(20)] + [{"s1": 10, "s2": 11}]
    release = [{"s1": 10.4, "s2": 11.4}, {"s1": 3, "s2": 3}]
    result = sudare.attack(table(original), table(release), [a.Mahalanobis(), a.Euclid()], truth=[20, 3])
    assert [row["rate"] for row in result.rows] == [1.0, 1.0]


def test_rank_distance_sees_through_a_change_of_scale(table):
    original = [{"s1": v, "s2": (v * 7) % 11} for v in range(11)]
    release = [
        {"s1": 1000 - 0.001 * 2.0 ** -row["s1"], "s2": row["s2"] ** 3 - 50} for row in reversed(original)
    ]
    result = sudare.attack(
        table(original), table(release), [a.RankDistance(), a.Euclid()], truth=list(range(10, -1, -1))
    )
    assert result.rows[0]["rate"] == 1.0
    assert result.rows[1]["rate"] < 0.5


def test_equal_ranks_in_files_of_unequal_length_may_be_stretched(table):
    original = [{"s1": v} for v in range(100)]
    release = [{"s1": v} for v in range(98, -1, -2)]
    result = sudare.attack(
        table(original),
        table(release),
        [a.IdentifySort(), a.IdentifySort(relative=True)],
        truth=list(range(98, -1, -2)),
    )
    assert result.rows[0]["rate"] == pytest.approx(1 / 50)
    assert result.rows[1]["rate"] == pytest.approx(1 / 2)


def test_ranks_beyond_the_original_are_given_up_whatever_ties(table):
    original, release = table([{"s1": 5}, {"s1": 6}]), table([{"s1": 9}, {"s1": 9}, {"s1": 9}])
    row = sudare.attack(original, release, [a.IdentifySort()], truth=[1, 0, None]).rows[0]
    assert (row["gave_up"], row["rate"]) == (1, pytest.approx(2 / 9))


def test_one_original_row_is_everybody_s_nearest(table):
    original, release = table([{"s1": 5, "s2": 1}]), table([{"s1": 9, "s2": 3}])
    every = [a.Euclid(), a.StandardizedEuclid(), a.Mahalanobis(), a.RankDistance(), a.Gower(), a.Assignment()]
    found = sudare.attack(original, release, every, truth=[0])
    assert [row["rate"] for row in found.rows] == [1.0] * len(every)


@pytest.mark.parametrize(
    ("values", "published"),
    [
        ([dt.datetime(2020, 1, 1, 4), dt.datetime(2020, 1, 2)], ["2020-01-01T04:00:00", "*"]),
        ([True, False], ["True", "*"]),
        ([Decimal("1.50"), Decimal("2.00")], [1.5, 7.0]),
        ([2**60 + 1, 2**60 + 2], pa.array([2**60 + 1, 7], pa.uint64())),
        ([2**60, 7], [2.0**60, 8.0]),
    ],
)
def test_values_left_alone_are_equal_whatever_the_column_became(values, published):
    """A recoded column is text, rounding makes floats of decimals: what still says the same must match."""
    original, release = (sudare.open(pa.table({"q": column}), quasi=["q"]) for column in (values, published))
    row = sudare.attack(original, release, [a.IdentifyRand()], truth=[0, None]).rows[0]
    assert (row["rate"], row["gave_up"]) == (0.5, 1)


def test_numbers_beyond_floats_are_attacked_too():
    rows = [{"s": 2**60 + 1000 * i} for i in range(4)]
    original, release = (
        sudare.open(pa.Table.from_pylist(t), sensitive=["s"]) for t in (rows, [rows[i] for i in (2, 0, 3, 1)])
    )
    assert sudare.attack(original, release, truth=[2, 0, 3, 1]).worst == 1.0


@pytest.mark.parametrize("label", ["[{}-{}]", "{}-{}"])
def test_an_interval_is_read_at_its_middle_with_brackets_or_without(table, label):
    original = table([{"s": 21}, {"s": 35}, {"s": 48}])
    release = table([{"s": label.format(40, 49)}, {"s": label.format(20, 29)}, {"s": label.format(30, 39)}])
    assert sudare.attack(original, release, [a.Euclid()], truth=[2, 0, 1]).rows[0]["rate"] == 1.0


@pytest.mark.parametrize(
    "kind", [pa.timestamp("ns"), pa.timestamp("us", tz="UTC"), pa.time32("ms"), pa.time64("us"), pa.date32()]
)
def test_times_have_distances(kind):
    cells = pa.array(
        [1001, 5003, 9007], pa.int32() if kind in (pa.time32("ms"), pa.date32()) else pa.int64()
    ).cast(kind)
    original, release = (sudare.open(pa.table({"s": c}), sensitive=["s"]) for c in (cells, cells[::-1]))
    found = sudare.attack(original, release, [a.Euclid(columns=("s",))], truth=[2, 1, 0])
    assert found.rows[0]["rate"] == 1.0
