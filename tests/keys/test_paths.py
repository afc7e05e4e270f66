"""Nested noise: the values of keyed Brownian paths."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sudare.keys import Key, Words, brownian
from sudare.keys.paths import DIGITS, _descent, _rounded

KEY = Key.demo(1)


def some_ids(n: int) -> Words:
    return np.random.default_rng(0).integers(0, 2**63, (n, 2)).astype(np.uint64)


IDS = some_ids(20_000)


def path(sd: float, ids: Words = IDS, purpose: str = "noise") -> np.ndarray:
    return brownian(KEY, purpose, "pay", ids, sd)


@pytest.mark.parametrize("sd", [1e-150, 1e-5, 0.1, math.sqrt(2), 1.0, 7.3, 12345.678, 1e150])
def test_the_value_at_any_time_is_normal_with_that_variance(sd):
    assert stats.kstest(path(sd) / sd, "norm").pvalue > 0.001


@pytest.mark.parametrize("times", [(1.0, 1.0001), (0.01, 0.04, 0.25), (0.9, 1.1, 40.0), (3.0, 3.5, 4.0, 4.5)])
def test_increments_are_normal_and_independent_of_each_other_and_of_what_was_before(times):
    values = np.stack([path(math.sqrt(time)) for time in times])
    steps = np.diff(values, axis=0, prepend=0)
    spreads = np.sqrt(np.diff(times, prepend=0))
    for step, spread in zip(steps, spreads):
        assert stats.kstest(step / spread, "norm").pvalue > 0.001
    related = np.corrcoef(steps) - np.eye(len(times))
    assert np.abs(related).max() < 5 / math.sqrt(len(IDS))
    squares = np.corrcoef(steps**2) - np.eye(len(times))
    assert np.abs(squares).max() < 5 / math.sqrt(len(IDS))


@settings(max_examples=30, deadline=None)
@given(st.floats(1e-300, 1e300), st.floats(1e-300, 1e300))
def test_the_bridge_gives_the_covariance_of_a_brownian_motion(first, second):
    """Exact: the weights of all draws behind two values, multiplied; the covariance of two times is the smaller one."""
    times = [_rounded(Fraction(sd) ** 2) for sd in (first, second)]
    weights = [_weights(time) for time in times]
    for weight in weights:
        assert sum(w * w for w in weight.values()) == pytest.approx(1)
    shared = sum(w * weights[1].get(name, 0.0) for name, w in weights[0].items())
    assert shared == pytest.approx(math.sqrt(min(times) / max(times)), abs=1e-9)


def _weights(time: Fraction) -> dict[str, float]:
    low: dict[str, float] = {}
    high: dict[str, float] = {}
    value: dict[str, float] = {}
    for middle in _descent(time):
        value = {middle.time: middle.spread}
        for end, weight in ((low, middle.from_low), (high, middle.from_high)):
            for name, w in end.items():
                value[name] = value.get(name, 0.0) + weight * w
        low, high = (value, high) if middle.replaces_low else (low, value)
    return value


@given(st.floats(1e-300, 1e300))
def test_the_variance_is_what_was_asked_for_or_a_little_more(sd):
    asked = Fraction(sd) ** 2
    assert asked <= _rounded(asked) <= asked * (1 + Fraction(2) ** (1 - DIGITS))


def test_a_record_has_its_own_path_whatever_the_order_and_the_batch():
    whole = path(0.37)
    turned = np.random.default_rng(1).permutation(len(IDS))
    assert (path(0.37, IDS[turned]) == whole[turned]).all()
    assert (path(0.37, IDS[17_000:17_003]) == whole[17_000:17_003]).all()
    assert len(path(0.37, IDS[:0])) == 0


def test_other_purposes_columns_and_keys_have_other_paths():
    for other in (
        path(1.5, purpose="noise, step 2"),
        brownian(KEY, "noise", "tax", IDS, 1.5),
        brownian(Key.demo(2), "noise", "pay", IDS, 1.5),
    ):
        assert abs(np.corrcoef(other, path(1.5))[0, 1]) < 5 / math.sqrt(len(IDS))


def test_no_variance_no_noise_and_no_numbers_beyond_all_numbers():
    assert (path(0.0) == 0).all()
    assert np.isinf(path(math.inf)).all()
    assert np.isfinite(path(5e-324)).all()
    assert np.isfinite(path(1e300)).all()
