"""Correlated noise keeps means, variances and correlations."""

import numpy as np
import pyarrow as pa
import pytest

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.engine.rows import Draft
from sudare.errors import DataError, UsageError
from sudare.keys import Key
from sudare.methods.plugins.correlated_noise import CorrelatedNoise

KEY = Key.demo(1)


def draft_of(**columns) -> Draft:
    table = pa.table({"id": range(len(next(iter(columns.values())))), **columns})
    return Draft.of(
        Dataset.from_arrow(table, Roles(identifier=("id",), sensitive=tuple(columns)), name="test"), KEY
    )


def related(rows: int) -> dict:
    pay = np.random.default_rng(0).normal(100, 20, rows)
    return {"pay": pay, "tax": 0.4 * pay + np.random.default_rng(1).normal(0, 3, rows)}


def matrix(draft: Draft) -> np.ndarray:
    return np.stack([np.array(draft.table[c]) for c in ("pay", "tax")], axis=1)


def test_the_release_has_the_covariance_of_the_original():
    draft = draft_of(**related(40_000))
    before, after = matrix(draft), matrix(CorrelatedNoise(sd=0.5).apply(draft, KEY))
    assert np.allclose(np.cov(after.T), np.cov(before.T), rtol=0.03)
    assert np.allclose(after.mean(axis=0), before.mean(axis=0), rtol=0.01)
    wide = matrix(CorrelatedNoise(sd=0.5, keep_variance=False).apply(draft, KEY))
    assert np.allclose(np.cov(wide.T), 1.25 * np.cov(before.T), rtol=0.03)
    assert np.corrcoef(wide.T)[0, 1] == pytest.approx(np.corrcoef(before.T)[0, 1], abs=0.005)


def test_the_loss_is_that_of_normal_noise():
    details = CorrelatedNoise(sd=0.3, keep_variance=False).apply(draft_of(**related(20_000)), KEY).details
    assert details["information_loss"] == pytest.approx(0.3 * np.sqrt(2 / np.pi), rel=0.02)


def test_draws_depend_on_the_key_and_the_record_not_on_the_order():
    draft = draft_of(**related(300))
    shuffled = np.random.default_rng(3).permutation(300)
    one = CorrelatedNoise().apply(draft, KEY)
    two = CorrelatedNoise().apply(draft.take(shuffled), KEY)
    assert (matrix(one)[shuffled] == matrix(two)).all()
    assert (matrix(CorrelatedNoise().apply(draft, Key.demo(2))) != matrix(one)).any()


def test_missing_cells_stay_whole_numbers_stay_whole_and_equal_columns_are_no_obstacle():
    whole = pa.array([1, 5, None, 9, 14], pa.int64())
    release = CorrelatedNoise(sd=0.5).apply(draft_of(pay=whole, tax=whole), KEY).table
    assert release["pay"].type == pa.int64()
    assert release["pay"].to_pylist()[2] is None
    assert release["pay"].to_pylist() == release["tax"].to_pylist()


def test_wrong_calls_are_refused():
    with pytest.raises(UsageError, match="sd"):
        CorrelatedNoise(sd=0)
    with pytest.raises(DataError, match="fewer than two rows"):
        CorrelatedNoise().apply(draft_of(pay=[1.0, None], tax=[None, 2.0]), KEY)


@pytest.mark.parametrize("seed", range(6))
def test_a_table_that_grows_twice_cannot_be_solved_for_its_values(seed):
    """Without the part that belongs to the covariance some tables lose a sixth of their noise, by luck."""
    draw = np.random.default_rng(seed)
    cells = draw.standard_t(4, size=(2080, 3)) @ draw.normal(size=(3, 3))
    method = CorrelatedNoise(sd=0.3, keep_variance=False)
    seen = []
    for rows in (2000, 2040, 2080):
        released = method.apply(draft_of(a=cells[:rows, 0], b=cells[:rows, 1], c=cells[:rows, 2]), KEY).table
        seen.append(np.stack([np.array(released[name])[:2000] for name in "abc"], axis=1))
    for column in range(3):
        truth = cells[:2000, column]
        assert error(truth, np.hstack(seen)) > 0.95 * min(error(truth, one) for one in seen)


def error(truth: np.ndarray, seen: np.ndarray) -> float:
    known = np.column_stack([seen, np.ones(len(truth))])
    return (truth - known @ np.linalg.lstsq(known, truth, rcond=None)[0]).std()
