"""Rank swapping keeps each column's values and moves them at most p percent of the records."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.engine.kernels.swapping import partners
from sudare.engine.rows import Draft
from sudare.errors import DataError, UsageError
from sudare.keys import Key
from sudare.methods.plugins.rank_swap import RankSwap

KEY = Key.demo(1)


def draft_of(**columns) -> Draft:
    table = pa.table({"id": range(len(next(iter(columns.values())))), **columns})
    roles = Roles(identifier=("id",), sensitive=tuple(columns))
    return Draft.of(Dataset.from_arrow(table, roles, name="test"), KEY)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 200), st.integers(1, 40), st.integers(0, 99))
def test_partners_are_mutual_and_within_reach(n, reach, seed):
    partner = partners(np.random.default_rng(seed).random(n), reach)
    assert (partner[partner] == np.arange(n)).all()
    assert np.abs(partner - np.arange(n)).max() <= reach


@pytest.mark.parametrize("p", [1, 5, 20])
def test_p_is_a_percentage_of_the_records(p):
    release = RankSwap(p=p).apply(draft_of(pay=np.arange(1000)), KEY)
    moved = np.abs(np.array(release.table["pay"]) - np.arange(1000))
    assert moved.max() <= 10 * p
    assert moved.max() > 5 * p
    assert sorted(release.table["pay"].to_pylist()) == list(range(1000))
    assert release.details["mean_rank_change"] == pytest.approx(moved.mean() / 1000)


def test_missing_cells_stay_and_types_are_kept():
    pay = [None if i % 7 == 0 else i for i in range(100)]
    release = RankSwap(p=10).apply(draft_of(pay=pa.array(pay, pa.int32())), KEY)
    published = release.table["pay"]
    assert published.type == pa.int32()
    assert [v is None for v in published.to_pylist()] == [v is None for v in pay]


def test_swaps_depend_on_the_key_and_the_record_not_on_the_order():
    draft = draft_of(pay=np.arange(400) % 20, rate=np.arange(400) * 0.5)
    shuffled = np.random.default_rng(1).permutation(400)
    one = RankSwap(p=10).apply(draft, KEY).table
    two = RankSwap(p=10).apply(draft.take(shuffled), KEY).table
    assert one.take(shuffled).to_pylist() == two.to_pylist()
    assert RankSwap(p=10).apply(draft, Key.demo(2)).table["rate"].to_pylist() != one["rate"].to_pylist()


def test_a_wider_reach_loses_more():
    draft = draft_of(pay=np.random.default_rng(0).normal(size=2000))
    near, far = (RankSwap(p=p).apply(draft, KEY).details["information_loss"] for p in (2, 20))
    assert 0 < near < far


def test_wrong_calls_are_refused():
    for wrong in (0, -1, 101):
        with pytest.raises(UsageError, match="percentage"):
            RankSwap(p=wrong)
    with pytest.raises(DataError, match="less than one"):
        RankSwap(p=1).apply(draft_of(pay=[1.0, 2.0, 3.0]), KEY)
    with pytest.raises(DataError, match="NaN or infinite"):
        RankSwap(p=50).apply(draft_of(pay=[1.0, float("nan")]), KEY)
