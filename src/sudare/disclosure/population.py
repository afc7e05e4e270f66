"""How many people are unique in the population that a table was drawn from: three models that disagree.

All read the histogram of class sizes of the sample: S_i classes of i records, n records, u classes, and the
size N of the population. An answer of None means that the model does not fit the histogram.
"""

from __future__ import annotations

from math import exp, isfinite, log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.engine.classes import Sizes

Floats = NDArray[np.float64]


def uniques(sizes: Sizes, population: int) -> dict[str, float | None]:
    """The answers of all three models by name."""
    return {name: model(sizes, population) for name, model in MODELS.items()}


def zayatz(sizes: Sizes, population: int) -> float | None:
    """S_1 P(unique in the population | unique in the sample) N/n (Zayatz 1991).

    The population's classes are taken to be as large as the sample's; a class of i then shows exactly one
    record with hypergeometric probability.

    >>> round(zayatz(Sizes.of([1, 1, 2, 6]), 100), 3)
    5.33
    """
    n, first = sizes.people, _classes_of(sizes, 1)
    if first == 0:
        return 0.0
    if population <= n:
        return float(first)
    chance = sizes.classes * _one_of(sizes.persons, n, population)
    return _sane(first * (first * n / population) / float(chance.sum()) * population / n, population)


def pitman(sizes: Sizes, population: int) -> float | None:
    """Gamma(theta+1)/Gamma(theta+alpha) N^alpha with the maximum-likelihood theta, alpha (Hoshino 2001)."""
    from scipy.optimize import minimize
    from scipy.special import gammaln

    if _classes_of(sizes, 1) == 0:
        return 0.0
    if sizes.total < 2 or sizes.people <= sizes.total:
        return None

    def loss(free: Floats) -> float:
        alpha = 1 / (1 + exp(-float(np.clip(free[0], -30, 30))))
        return -_pitman_likelihood(sizes, alpha, exp(float(np.clip(free[1], -30, 30))) - alpha)

    starts = [np.array([a, t]) for a in (-2.0, 0.0, 2.0) for t in (0.0, log(max(sizes.total, 2)))]
    options = {"xatol": 1e-9, "fatol": 1e-10, "maxiter": 4000}
    fits = [minimize(loss, start, method="Nelder-Mead", options=options) for start in starts]
    best = min(fits, key=lambda fit: float(fit.fun)).x
    alpha = 1 / (1 + exp(-float(np.clip(best[0], -30, 30))))
    theta = exp(float(np.clip(best[1], -30, 30))) - alpha
    logarithm = gammaln(theta + 1) - gammaln(theta + alpha) + alpha * log(population)
    return _sane(exp(float(logarithm)), population)


def snb(sizes: Sizes, population: int) -> float | None:
    """K beta^alpha: sizes above 1 are negative binomial (Chen and Keller-McNulty 1998).

    K, the number of the population's classes, is Shlosser's estimate; alpha and beta make the expected
    numbers of classes of one and of two records equal to those found.
    """
    from scipy.optimize import least_squares

    f = min(sizes.people / population, 1.0)
    ones, twos = _classes_of(sizes, 1), _classes_of(sizes, 2)
    if ones == 0:
        return 0.0
    if f >= 1:
        return float(ones)
    if twos == 0:
        return None
    k = shlosser(sizes, f)

    def misfit(free: Floats) -> Floats:
        alpha, beta = exp(float(free[0])), 1 / (1 + exp(-float(free[1])))
        one, two = _snb_expected(k, f, alpha, beta)
        return np.array([one / ones - 1, two / twos - 1])

    starts = [(a, b) for a in (-3.0, -1.0, 0.0, 1.0) for b in (-4.0, -2.0, 0.0, 2.0)]
    fits = [least_squares(misfit, start, bounds=([-25, -25], [25, 25])) for start in starts]
    best = min(fits, key=lambda fit: float(fit.cost))
    if best.cost > 1e-8:
        return None
    alpha, beta = exp(float(best.x[0])), 1 / (1 + exp(-float(best.x[1])))
    return _sane(k * beta**alpha, population)


MODELS = {"pitman": pitman, "zayatz": zayatz, "snb": snb}


def shlosser(sizes: Sizes, f: float) -> float:
    """Shlosser's estimate of the number of classes in the population, at the sampling fraction f.

    >>> shlosser(Sizes.of([1, 2, 3]), 1.0)
    3.0
    """
    i, s = sizes.persons.astype(np.float64), sizes.classes.astype(np.float64)
    ones = _classes_of(sizes, 1)
    if f >= 1 or ones == 0:
        return float(sizes.total)
    hidden = s * (1 - f) ** i
    first = float((i * f**2 * (1 - f**2) ** (i - 1) * s).sum() / (hidden * ((1 + f) ** i - 1)).sum())
    second = float(hidden.sum() / (i * f * (1 - f) ** (i - 1) * s).sum())
    return sizes.total + ones * first * second**2


def _one_of(size: NDArray[np.int64], n: int, population: int) -> Floats:
    """Chance that exactly one of a class's members is among the n drawn of the population."""
    from scipy.special import gammaln

    def log_choose(a: ArrayLike, b: float) -> Floats:
        above = np.asarray(a, np.float64)
        return np.asarray(gammaln(above + 1) - gammaln(b + 1) - gammaln(above - b + 1), np.float64)

    i = np.minimum(size, population - n + 1).astype(np.float64)
    terms = np.log(i) + log_choose(population - i, n - 1) - log_choose(population, n)
    return np.where(size <= population - n + 1, np.exp(terms), 0.0)


def _pitman_likelihood(sizes: Sizes, alpha: float, theta: float) -> float:
    from scipy.special import gammaln

    n, u = sizes.people, sizes.total
    between = (u - 1) * log(alpha) + gammaln(theta / alpha + u) - gammaln(theta / alpha + 1)
    within = np.dot(sizes.classes, gammaln(sizes.persons - alpha) - gammaln(1 - alpha))
    return float(between + within - gammaln(theta + n) + gammaln(theta + 1))


def _snb_expected(k: float, f: float, alpha: float, beta: float) -> tuple[float, float]:
    """Expected classes of one and two records when every record is drawn with probability f."""
    hidden = (1 - beta) * (1 - f)
    seen = 1 - hidden
    generating = (beta / seen) ** alpha
    one = k * f * generating * (1 + alpha * hidden / seen)
    two = k * f**2 / 2 * alpha * (1 - beta) * generating / seen**2 * (2 - (1 - alpha) * hidden)
    return one, two


def _classes_of(sizes: Sizes, size: int) -> int:
    return int(sizes.classes[sizes.persons == size].sum())


def _sane(uniques: float, population: int) -> float | None:
    return uniques if isfinite(uniques) and 0 <= uniques <= population else None
