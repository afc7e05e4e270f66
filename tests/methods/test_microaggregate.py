"""Microaggregation publishes means of k near rows."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.engine.kernels.mdav import mdav
from sudare.engine.kernels.mdav_mixed import mdav_mixed
from sudare.engine.kernels.mdav_tree import mdav_tree
from sudare.engine.rows import Draft
from sudare.errors import DataError, UsageError
from sudare.keys import Key
from sudare.methods.plugins.microaggregate import Microaggregate, information_loss

KEY = Key.demo(1)


def draft_of(table: pa.Table, sensitive) -> Draft:
    quasi = tuple(c for c in table.column_names if c not in sensitive)
    return Draft.of(
        Dataset.from_arrow(table, Roles(quasi=quasi, sensitive=tuple(sensitive)), name="test"), KEY
    )


def slow_mdav(values: np.ndarray, k: int) -> np.ndarray:
    """MDAV-generic word for word, with lists."""
    left, out, group = list(range(len(values))), np.full(len(values), -1), 0

    def away(point):
        return [((values[i] - point) ** 2).sum() for i in left]

    def take(point):
        nonlocal left, group
        near = sorted(range(len(left)), key=lambda j: (away_now[j], left[j]))[:k]
        for j in near:
            out[left[j]] = group
        left = [i for j, i in enumerate(left) if j not in set(near)]
        group += 1

    while len(left) >= 2 * k:
        both = len(left) >= 3 * k
        r = left[int(np.argmax(away(values[left].mean(axis=0))))]
        away_now = away(values[r])
        s = left[int(np.argmax(away_now))]
        take(values[r])
        if both:
            away_now = away(values[s])
            take(values[s])
    out[left] = group
    return out


matrices = st.integers(4, 60).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 200), min_size=2, max_size=2), min_size=n, max_size=n)
)


def same_partition(a, b) -> bool:
    return len(set(zip(a, b))) == len(set(a)) == len(set(b))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(6, 80), st.integers(2, 5))
def test_the_kernel_is_mdav_word_for_word(seed, rows, k):
    values = np.random.default_rng(seed).normal(size=(rows, 3))
    assert same_partition(mdav(values, k), slow_mdav(values, k))


@settings(max_examples=40, deadline=None)
@given(matrices, st.integers(2, 4))
def test_groups_have_k_to_2k_rows_even_with_ties(rows, k):
    values = np.array(rows, float)
    codes = np.array(rows, np.int32)
    for groups in (
        mdav(values, k),
        mdav_tree(values, k),
        mdav_mixed(values[:, :1] / 200, codes[:, 1:] % 3, np.array([3]), k),
    ):
        sizes = np.bincount(groups)
        assert sizes.min() >= min(k, len(rows))
        assert sizes.max() < max(2 * k, 2)


def test_gower_groups_of_numbers_alone_keep_near_numbers_together():
    numbers = np.array([[0.0], [0.01], [0.5], [0.52], [0.98], [1.0]])
    groups = mdav_mixed(numbers, np.zeros((6, 0), np.int32), np.zeros(1, np.int64), 2)
    assert same_partition(groups, [0, 0, 1, 1, 2, 2])


def test_the_tree_loses_no_more_than_two_percent_beyond_mdav():
    values = np.random.default_rng(0).normal(size=(5000, 5))
    for k in (3, 10):
        exact, tree = (
            information_loss(values, mdav(values, k)),
            information_loss(values, mdav_tree(values, k)),
        )
        assert tree < 1.02 * exact


@pytest.mark.parametrize("variant", ["mdav", "tree"])
def test_rows_publish_their_groups_mean_and_columns_keep_their_types(variant):
    rng = np.random.default_rng(1)
    table = pa.table({"id": range(200), "pay": rng.integers(0, 1000, 200), "rate": rng.random(200)})
    release = Microaggregate(k=4, columns=["pay", "rate"], variant=variant).apply(
        draft_of(table, ["pay", "rate"]), KEY
    )
    assert release.table["pay"].type == pa.int64()
    assert release.table["id"] == table["id"]
    rate = np.array(release.table["rate"])
    _, counts = np.unique(rate, return_counts=True)
    assert counts.min() >= 4
    assert rate.mean() == pytest.approx(np.array(table["rate"]).mean())
    assert 0 < release.details["information_loss"] < 1


@pytest.mark.parametrize("variant", ["mdav", "tree"])
def test_the_order_of_rows_does_not_matter(variant):
    rng = np.random.default_rng(2)
    table = pa.table({"pay": rng.integers(0, 50, 300), "rate": rng.integers(0, 50, 300)})
    shuffled = rng.permutation(300)
    method = Microaggregate(k=3, variant=variant)
    one = method.apply(draft_of(table, ["pay", "rate"]), KEY).table
    two = method.apply(draft_of(table.take(shuffled), ["pay", "rate"]), KEY).table
    assert sorted(map(tuple, zip(*one.to_pydict().values()))) == sorted(
        map(tuple, zip(*two.to_pydict().values()))
    )


def test_categories_publish_the_commonest_and_are_counted_in_the_loss():
    table = pa.table({"job": ["a", "b", "a", None, "b", None], "pay": [1.0, 9.0, 1.1, 5.0, 9.1, 5.1]})
    release = Microaggregate(k=2, columns=["job", "pay"]).apply(draft_of(table, ["pay"]), KEY)
    assert release.table["job"].to_pylist() == table["job"].to_pylist()
    assert release.details["information_loss"] < 0.1
    whole = Microaggregate(k=6, columns=["job", "pay"]).apply(draft_of(table, ["pay"]), KEY)
    assert whole.details["information_loss"] == pytest.approx(1)


def test_a_constant_column_is_no_obstacle():
    table = pa.table({"pay": [5.0] * 6, "rate": [1.0, 2.0, 3.0, 10.0, 11.0, 12.0]})
    release = Microaggregate(k=3).apply(draft_of(table, ["pay", "rate"]), KEY)
    assert release.table["rate"].to_pylist() == [2.0, 2.0, 2.0, 11.0, 11.0, 11.0]


def test_what_cannot_be_done_is_refused():
    table = pa.table({"pay": [1.0, None, 3.0], "job": ["a", "b", "c"]})
    with pytest.raises(DataError, match="1 cells are missing"):
        Microaggregate(k=2).apply(draft_of(table, ["pay"]), KEY)
    with pytest.raises(DataError, match="NaN or infinite"):
        Microaggregate(k=2).apply(draft_of(pa.table({"pay": [1.0, float("inf")]}), ["pay"]), KEY)
    with pytest.raises(UsageError, match="numbers only"):
        Microaggregate(k=2, columns=["job"], variant="tree").apply(draft_of(table, ["pay"]), KEY)
    with pytest.raises(UsageError, match="more than the 3 people"):
        Microaggregate(k=4, columns=["job"]).apply(draft_of(table, ["pay"]), KEY)
    for wrong in ({"k": 1}, {"k": 2, "variant": "fast"}):
        with pytest.raises(UsageError):
            Microaggregate(**wrong)
