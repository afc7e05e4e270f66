"""Population models and individual risk: published values, closed forms, simulation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import hypergeom, nbinom

from sudare.disclosure.individual import expected_reidentifications, posterior_risk
from sudare.disclosure.population import _snb_expected, pitman, shlosser, snb, uniques, zayatz
from sudare.engine.classes import Sizes


def test_individual_risks_of_the_sdc_practice_guide() -> None:
    f = [2, 2, 1, 2, 1, 2, 1, 1, 2, 2]
    weights = [360, 360, 215, 152, 186, 152, 180, 215, 262, 262]
    published = [0.0054, 0.0054, 0.0251, 0.0126, 0.0282, 0.0126, 0.0290, 0.0251, 0.0074, 0.0074]
    assert posterior_risk(f, weights).round(4).tolist() == published


@pytest.mark.parametrize(("f", "p"), [(1, 0.1), (2, 0.4), (3, 0.05), (7, 0.5), (40, 0.2)])
def test_individual_risk_is_the_posterior_mean_of_one_over_the_population(f: int, p: float) -> None:
    outside = np.arange(200_000)
    expected = float((nbinom.pmf(outside, f, p) / (outside + f)).sum())
    assert posterior_risk([f], [f / p])[0] == pytest.approx(expected, rel=1e-9)


def test_a_class_that_is_all_sampled_has_one_over_its_size() -> None:
    assert posterior_risk([4, 3], [4, 2]).tolist() == [0.25, 1 / 3]
    assert posterior_risk([1000], [1e9])[0] == pytest.approx(1e-9, rel=1e-2)
    assert expected_reidentifications([4, 3], [0.25, 1 / 3]) == 2


def test_zayatz_weighs_classes_by_their_chance_to_show_one_record() -> None:
    sizes, n, population = Sizes.of([1, 1, 1, 2, 2, 5]), 12, 60
    chance = {i: hypergeom.pmf(1, population, i, n) for i in (1, 2, 5)}
    conditional = 3 * chance[1] / (3 * chance[1] + 2 * chance[2] + chance[5])
    fit = zayatz(sizes, population)
    assert fit is not None
    assert fit.uniques == pytest.approx(3 * conditional * population / n)


def test_expected_classes_of_the_negative_binomial_model() -> None:
    k, f, alpha, beta = 1000.0, 0.3, 0.7, 0.2
    size = np.arange(1, 4000)
    chance = nbinom.pmf(size - 1, alpha, beta)
    one = k * float((chance * size * f * (1 - f) ** (size - 1)).sum())
    two = k * float((chance * size * (size - 1) / 2 * f**2 * (1 - f) ** (size - 2.0)).sum())
    assert _snb_expected(k, f, alpha, beta) == pytest.approx((one, two), rel=1e-9)


def test_a_table_without_uniques_has_none_in_the_population() -> None:
    assert set(uniques(Sizes.of([2, 3, 5]), 1000).values()) == {0}


def test_a_census_keeps_its_uniques() -> None:
    sizes = Sizes.of([1, 1, 2, 5])
    found = uniques(sizes, 9)
    assert (found["zayatz"], found["snb"]) == (2, 2)
    assert shlosser(sizes, 1.0) == 4


def test_models_that_cannot_be_fitted_say_none() -> None:
    assert pitman(Sizes.of([1, 1, 1]), 100) is None
    assert snb(Sizes.of([1, 1, 1]), 100) is None


def test_models_come_near_a_simulated_population() -> None:
    rng = np.random.default_rng(7)
    population = rng.choice(
        20_000, size=100_000, p=np.arange(1, 20_001) ** -1.0 / (np.arange(1, 20_001) ** -1.0).sum()
    )
    truth = int((np.bincount(population) == 1).sum())
    sample = rng.choice(population, size=20_000, replace=False)
    sizes = Sizes.of(np.bincount(sample)[np.bincount(sample) > 0])
    found = uniques(sizes, len(population))
    assert all(estimate is not None for estimate in found.values())
    assert truth / 4 < found["snb"] < 4 * truth  # type: ignore[operator]
    assert truth / 6 < found["pitman"] < 6 * truth  # type: ignore[operator]


def test_uniques_equal_arx_on_adult(data_dir: Path) -> None:
    """Its TestRiskMetrics: 9 quasi-identifiers, records without a missing value, a tenth of the population."""
    table = pq.read_table(data_dir / "adult.parquet", filters=[("split", "=", "data")]).to_pandas()
    quasi = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
    known = table[~table.isin(["?"]).any(axis=1)].dropna()
    sizes = known.groupby([*quasi, "income"], observed=True).size().to_numpy()
    assert len(sizes) / len(known) == 0.6465751607983555
    assert (sizes == 1).sum() / len(known) == 0.5142895033485844
    found = uniques(Sizes.of(sizes), 10 * len(known))
    assert found["zayatz"] == pytest.approx(0.3207402393466189 * 10 * len(known), rel=1e-9)
    assert found["pitman"] == pytest.approx(0.27684993883653597 * 10 * len(known), rel=1e-6)
