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
from sudare.keys.normals import add_normals
from sudare.keys.paths import BASE, DIGITS, rounded, weights_of

KEY = Key.demo(1)


def some_ids(n: int) -> Words:
    return np.random.default_rng(0).integers(0, 2**63, (n, 2)).astype(np.uint64)


IDS = some_ids(20_000)


def path(sd: float, ids: Words = IDS, purpose: str = "noise") -> np.ndarray:
    return brownian(KEY, purpose, "pay", ids, sd)


@pytest.mark.parametrize("sd", [1e-150, 1e-5, 0.1, math.sqrt(2), 1.0, 7.3, 12345.678, 1e150])
def test_the_value_at_any_time_is_normal_with_that_variance(sd):
    assert stats.kstest(path(sd) / sd, "norm").pvalue > 0.001


@pytest.mark.parametrize("times", [(1.0, 1.001), (0.01, 0.04, 0.25), (0.9, 1.1, 40.0), (3.0, 3.5, 4.0, 4.5)])
def test_increments_are_normal_and_independent_of_each_other_and_of_what_was_before(times):
    times = [float(rounded(Fraction(time))) for time in times]
    values = np.stack([path(math.sqrt(time)) for time in times])
    steps = np.diff(values, axis=0, prepend=0)
    spreads = np.sqrt(np.diff(times, prepend=0))
    for step, spread in zip(steps, spreads):
        assert stats.kstest(step / spread, "norm").pvalue > 0.001
    related = np.corrcoef(steps) - np.eye(len(times))
    assert np.abs(related).max() < 5 / math.sqrt(len(IDS))
    squares = np.corrcoef(steps**2) - np.eye(len(times))
    assert np.abs(squares).max() < 5 / math.sqrt(len(IDS))


def covariance(times: list[Fraction]) -> np.ndarray:
    """Exact: the weights of all draws behind the values at some times, multiplied."""
    placed = []
    for time in times:
        power = math.floor(math.log2(time) / BASE)
        weights = weights_of(time / Fraction(2) ** (BASE * power))
        placed.append(
            {(power + source.power, source.interval, place): w for (source, place), w in weights.items()}
        )
    roots = [math.sqrt(time) for time in times]
    return np.array(
        [
            [r * q * sum(w * b.get(draw, 0.0) for draw, w in a.items()) for b, q in zip(placed, roots)]
            for a, r in zip(placed, roots)
        ]
    )


SOME_TIMES = st.lists(
    st.floats(1e-9, 1e9).map(lambda t: rounded(Fraction(t))), min_size=2, max_size=5, unique=True
)


@settings(max_examples=200, deadline=None)
@given(SOME_TIMES)
def test_the_bridge_gives_the_covariance_of_a_brownian_motion(times):
    """The covariance of two times is the earlier one; what is far apart shares less than a part in 250."""
    found = covariance(times)
    wanted = np.minimum.outer(*2 * [np.array(times, float)])
    size = np.sqrt(np.outer(*2 * [np.diag(wanted)]))
    assert np.diag(found) == pytest.approx(np.diag(wanted), rel=1e-12)
    assert np.abs((found - wanted) / size).max() < 0.004


@settings(max_examples=200, deadline=None)
@given(SOME_TIMES)
def test_no_combination_of_releases_has_less_noise_than_the_least_noisy_one(times):
    """The variance of the best unbiased combination is 1 / (1' C^-1 1); it is exact within blocks of 256."""
    scaled = covariance(times) / float(min(times))
    size = np.sqrt(np.diag(scaled))
    best = 1 / (1 / size @ np.linalg.solve(scaled / np.outer(size, size), 1 / size))
    assert 0.999 < best < 1.001


@given(st.floats(1e-300, 1e300))
def test_the_variance_is_what_was_asked_for_or_a_little_more(sd):
    asked = Fraction(sd) ** 2
    assert asked <= rounded(asked) <= asked * (1 + Fraction(2) ** (1 - DIGITS))


def test_normal_numbers_from_a_table_are_those_of_the_inverse_distribution_function():
    drawn = np.random.default_rng(2).integers(0, 2**32, (50_000, 4), dtype=np.uint32)
    drawn[:4, 0] = 0, 2**31 - 1, 2**31, 2**32 - 1
    found = np.zeros(len(drawn))
    add_normals(drawn, np.array([2.0, 0.0, 0.0, 0.0]), found)
    lower = (2.0 * (drawn[:, 0] & 0x7FFFFFFF) + 1) * 2.0**-33
    wanted = np.where(drawn[:, 0] >> 31, -1, 1) * stats.norm.ppf(lower)
    assert np.abs(found / 2 - wanted).max() < 1.4e-5
    assert found[0] == -found[2] < -12.5
    assert found[1] == -found[3] == pytest.approx(0, abs=1e-8)


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
