"""The journalist from a population size: distributions against sums, log-linear fits against iteration."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import betabinom, binom, hypergeom, nbinom, poisson

import sudare
from sudare.disclosure.journalist import from_size
from sudare.disclosure.loglinear import expected, mutual_information, tree
from sudare.disclosure.population import fits
from sudare.disclosure.posteriors import NegativeBinomial, Observed, Poisson, ShiftedNegativeBinomial
from sudare.engine.classes import Sizes

OTHERS = np.arange(400_000)
ADULT = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]


def summed(f: int, weights: NDArray[np.float64], size: int) -> tuple[float, float]:
    """E[1/F] and P(F <= size) when F - f = 0, 1, 2, ... has these weights."""
    chance = weights / weights.sum()
    people = f + OTHERS[: len(weights)]
    return float((chance / people).sum()), float(chance[people <= size].sum())


@pytest.mark.parametrize("f", [1, 2, 7, 11, 12, 40, 900])
@pytest.mark.parametrize(("alpha", "q"), [(0.0, 0.1), (1e-7, 0.02), (0.4, 0.3), (0.7, 0.05), (0.95, 0.9)])
def test_the_negative_binomial_risk_is_its_sum(f: int, alpha: float, q: float) -> None:
    posterior = NegativeBinomial(alpha, q)
    found = posterior.risk(np.array([f]))[0], posterior.at_most(np.array([f]), f + 3)[0]
    assert found == pytest.approx(summed(f, nbinom.pmf(OTHERS, f - alpha, q), f + 3), rel=1e-6)


def test_the_prediction_rule_of_pitman_is_close_to_its_exact_form() -> None:
    """Exactly, the others of a class are beta-binomial among the people who were not sampled."""
    n, population, alpha, theta, f = 400, 20_000, 0.6, 900.0, 2
    exact = betabinom.pmf(OTHERS[: population - n], population - n, f - alpha, theta + n - f + alpha)
    found = NegativeBinomial(alpha, (theta + n) / (theta + population)).risk(np.array([f]))[0]
    assert found == pytest.approx(summed(f, exact, 0)[0], rel=0.01)


@pytest.mark.parametrize("f", [1, 2, 9])
@pytest.mark.parametrize(("alpha", "beta", "share"), [(0.05, 0.06, 0.1), (1.0, 0.3, 0.5), (2.5, 0.01, 0.01)])
def test_the_shifted_negative_binomial_risk_is_bayes_theorem(
    f: int, alpha: float, beta: float, share: float
) -> None:
    people = f + OTHERS
    weights = nbinom.pmf(people - 1, alpha, beta) * binom.pmf(f, people, share)
    posterior = ShiftedNegativeBinomial(alpha, (1 - beta) * (1 - share))
    found = posterior.risk(np.array([f]))[0], posterior.at_most(np.array([f]), f + 4)[0]
    assert found == pytest.approx(summed(f, weights, f + 4), rel=1e-9)


@pytest.mark.parametrize("f", [1, 3, 50])
@pytest.mark.parametrize("others", [1e-9, 0.7, 30.0, 20_000.0])
def test_the_poisson_risk_is_its_sum(f: int, others: float) -> None:
    posterior = Poisson(np.array([others]))
    found = posterior.risk(np.array([f]))[0], posterior.at_most(np.array([f]), f + 2)[0]
    assert found == pytest.approx(summed(f, poisson.pmf(OTHERS, others), f + 2), rel=1e-9, abs=1e-12)


def test_a_class_of_observed_size_is_weighed_by_its_chance_to_show_so_many() -> None:
    posterior = Observed(np.array([1, 2, 5]), np.array([3, 2, 1]), 12, 60)
    chance = {i: count * hypergeom.pmf(2, 60, i, 12) for i, count in ((2, 2), (5, 1))}
    mean = (chance[2] / 2 + chance[5] / 5) / (chance[2] + chance[5])
    assert posterior.risk(np.array([2, 5, 2])) == pytest.approx([mean, 0.2, mean])


def by_iteration(table: NDArray[np.float64], pairs: list[tuple[int, int]]) -> NDArray[np.float64]:
    """Iterative proportional fitting of all one-way margins and of the pairs'."""
    margins = [(axis,) for axis in range(table.ndim)] + pairs
    fitted = np.ones_like(table)
    for _ in range(60):
        for kept in margins:
            away = tuple(axis for axis in range(table.ndim) if axis not in kept)
            have = fitted.sum(axis=away, keepdims=True)
            fitted = fitted * table.sum(axis=away, keepdims=True) / np.where(have > 0, have, 1)
    return fitted


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_expected_counts_equal_iterative_proportional_fitting(seed: int, columns: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.poisson(0.7, size=(3, 2, 4, 2)[:columns]).astype(np.float64)
    table.flat[0] += 1
    codes = np.argwhere(table > 0)
    people = table[table > 0].astype(np.int64)
    for pairs in ([], list(tree(codes, people))):
        assert expected(codes, people, pairs) == pytest.approx(by_iteration(table, pairs)[table > 0])


def test_the_tree_has_most_mutual_information_of_all_trees() -> None:
    rng = np.random.default_rng(5)
    codes = np.unique(rng.integers(0, 3, (60, 4)) // [1, 1, 1, 2], axis=0)
    people = rng.integers(1, 9, len(codes))
    gain = {
        (a, b): mutual_information(codes[:, a], codes[:, b], people)
        for a in range(4)
        for b in range(a + 1, 4)
    }
    spanning = [edges for edges in product(gain, repeat=3) if _spans(edges)]
    best = max(sum(gain[edge] for edge in edges) for edges in spanning)
    assert sum(gain[edge] for edge in tree(codes, people)) == pytest.approx(best)


def _spans(edges: tuple[tuple[int, int], ...]) -> bool:
    reached = {0}
    for _ in edges:
        reached |= {v for a, b in edges for v in (a, b) if a in reached or b in reached}
    return reached == {0, 1, 2, 3}


@given(st.lists(st.integers(1, 6), min_size=3, max_size=12), st.integers(1, 50))
def test_no_model_says_less_than_its_population_uniques(sizes: list[int], times: int) -> None:
    people = np.array(sizes)
    population = int(people.sum()) * times
    fitted = fits(Sizes.of(people), population)
    found = from_size(np.arange(len(people))[:, None], people, people, fitted, population, 0.2)
    for name, risk in found.items():
        assert 0 < risk.mean <= risk.largest <= 1
        fit = fitted.get(name)
        assert fit is None or risk.mean >= fit.uniques / population - 1e-12
        assert fit is None or fit.uniques * people.sum() < population or risk.largest == 1


@pytest.mark.parametrize("seed", range(3))
def test_the_range_over_models_holds_the_true_risk_of_a_sample_of_adult(data_dir: Path, seed: int) -> None:
    """1% of all 48,842 records, 8 quasi-identifiers, of the population only its size: the true mean is about .56."""
    everybody = pq.read_table(data_dir / "adult.parquet", columns=ADULT).to_pandas()
    sample = everybody.sample(frac=0.01, random_state=seed)
    outside = everybody.groupby(ADULT, dropna=False).size().rename("people").reset_index()
    people = sample.merge(outside, on=ADULT)["people"]
    found = sudare.disclosure(
        sudare.open(sample, quasi=ADULT), population=len(everybody), measures=["k", "population"]
    )
    means = [risk.mean for risk in found.journalist_models.values()]
    above = [risk.at_risk for risk in found.journalist_models.values()]
    assert len(means) == 5
    assert min(means) < (1 / people).mean() < max(means)
    assert min(above) < (people < 5).mean() < max(above)
    assert found.journalist is not None
    assert found.journalist.largest == 1
    assert min(means) > 0.3  # sharing the population out evenly says .045
