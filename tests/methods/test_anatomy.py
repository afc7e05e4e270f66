"""Anatomy: groups of l different values, nothing lost, no value above 1/l."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.data import Dataset, Roles
from sudare.engine.kernels.anatomy import anatomize
from sudare.engine.rows import Draft
from sudare.errors import UsageError
from sudare.keys import Key
from sudare.methods.plugins.anatomy import Anatomy

KEY = Key.demo(1)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=2, max_size=60), st.integers(2, 4), st.integers(0, 2**32))
def test_groups_are_diverse_and_hold_every_record(values, l, seed):
    if max(Counter(values).values()) * l > len(values):
        return
    noise = np.random.default_rng(seed).integers(0, 2**64, len(values), dtype=np.uint64)
    groups = anatomize(np.array(values), l, 7, noise)
    assert (groups >= 0).all()
    for group in range(groups.max() + 1):
        members = [v for v, g in zip(values, groups) if g == group]
        assert len(members) >= l
        assert len(set(members)) == len(members)


def dataset(rows: int = 90) -> Dataset:
    table = pa.table(
        {
            "id": list(range(rows)),
            "age": [i % 7 for i in range(rows)],
            "disease": [f"d{i % 5}" for i in range(rows)],
        }
    )
    return Dataset.from_arrow(table, Roles.of(identifier="id", quasi="age", sensitive="disease"))


def test_the_lists_keep_the_true_value_and_the_quasi_identifiers():
    original = dataset()
    draft = Anatomy(l=3).apply(Draft.of(original, KEY), KEY)
    assert draft.table["age"].to_pylist() == original.to_pyarrow()["age"].to_pylist()
    for values, truth in zip(
        draft.table["disease"].to_pylist(), original.to_pyarrow()["disease"].to_pylist()
    ):
        assert truth in values
        assert values == sorted(values)
        assert max(Counter(values).values()) * 3 <= len(values)


def test_the_order_of_rows_does_not_matter():
    original = dataset()
    turn = np.random.default_rng(0).permutation(90)
    shuffled = Dataset.from_arrow(original.to_pyarrow().take(turn), original.roles)
    one = Anatomy(l=3).apply(Draft.of(original, KEY), KEY).table
    other = Anatomy(l=3).apply(Draft.of(shuffled, KEY), KEY).table
    assert dict(zip(*one.select(["id", "disease"]).to_pydict().values())) == dict(
        zip(*other.select(["id", "disease"]).to_pydict().values())
    )


def test_a_table_that_is_not_eligible_is_refused_with_the_largest_l():
    table = pa.table({"age": [1, 2, 3, 4, 5], "disease": ["flu", "flu", "hiv", "cut", "sty"]})
    ds = Dataset.from_arrow(table, Roles.of(quasi="age", sensitive="disease"))
    with pytest.raises(UsageError, match=r"40\.0% of the records.*largest possible l is 2") as error:
        Anatomy(l=3).apply(Draft.of(ds, KEY), KEY)
    assert "flu" not in str(error.value)
