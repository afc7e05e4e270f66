"""How many people are unique in the population that a table was drawn from, and how large its classes are there.

All models read the histogram of class sizes of the sample: S_i classes of i people, n people, u classes, and the size
N of the population. They disagree, so that they are read as a range. An answer of None means that the model does not
fit the histogram.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, isfinite, log
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.disclosure.posteriors import NegativeBinomial, Observed, Posterior, ShiftedNegativeBinomial
from sudare.engine.classes import Sizes

Floats = NDArray[np.float64]


class Fit(NamedTuple):
    """A fitted model: the people unique in the population, and how large a class of f sampled people may be there.

    Without a class of one person none is estimated to be unique, and a model may have nothing to fit the rest by.
    """

    uniques: float
    posterior: Posterior | None


def fits(sizes: Sizes, population: int) -> dict[str, Fit | None]:
    """All models by name, None where one does not fit."""
    return {name: model(sizes, population) for name, model in MODELS.items()}


def uniques(sizes: Sizes, population: int) -> dict[str, float | None]:
    """The estimated number of people unique in the population, by model."""
    return {name: None if fit is None else fit.uniques for name, fit in fits(sizes, population).items()}


def zayatz(sizes: Sizes, population: int) -> Fit | None:
    """S_1 P(unique in the population | unique in the sample) N/n (Zayatz 1991).

    The population's classes are taken to be as large as the sample's; a class of i then shows f records with
    hypergeometric probability.

    >>> round(zayatz(Sizes.of([1, 1, 2, 6]), 100).uniques, 3)
    5.33
    """
    n, first = sizes.people, classes_of(sizes, 1)
    posterior = Observed(sizes.persons, sizes.classes, n, population)
    if first == 0 or population <= n:
        return Fit(float(first), posterior)
    unique = float(posterior.at_most(np.array([1]), 1)[0])
    return _sane(Fit(first * unique * population / n, posterior), population)


def pitman(sizes: Sizes, population: int) -> Fit | None:
    """Gamma(theta+1)/Gamma(theta+alpha) N^alpha with the maximum-likelihood theta, alpha (Hoshino 2001).

    Given f sampled people, as many others of the class are in the population as a negative binomial distribution with
    f - alpha failures and the probability (theta+n)/(theta+N) says: the prediction rule of Pitman's process.
    """
    from scipy.special import gammaln

    n = sizes.people
    if sizes.total < 2 or n <= sizes.total:
        return None
    alpha, theta = _pitman_parameters(sizes)
    posterior = NegativeBinomial(alpha, min((theta + n) / (theta + population), 1.0))
    if classes_of(sizes, 1) == 0:
        return Fit(0.0, posterior)
    logarithm = gammaln(theta + 1) - gammaln(theta + alpha) + alpha * log(population)
    return _sane(Fit(exp(min(float(logarithm), 700.0)), posterior), population)


def snb(sizes: Sizes, population: int) -> Fit | None:
    """K beta^alpha: sizes above 1 are negative binomial (Chen and Keller-McNulty 1998).

    K, the number of the population's classes, is Shlosser's estimate; alpha and beta make the expected
    numbers of classes of one and of two records equal to those found.
    """
    f = min(sizes.people / population, 1.0)
    ones, twos = classes_of(sizes, 1), classes_of(sizes, 2)
    if f >= 1:
        return Fit(float(ones), ShiftedNegativeBinomial(1.0, 0.0))
    if ones == 0 or twos == 0:
        return Fit(0.0, None) if ones == 0 else None
    k = shlosser(sizes, f)
    fitted = _snb_parameters(k, f, ones, twos)
    if fitted is None:
        return None
    alpha, beta = fitted
    return _sane(Fit(k * beta**alpha, ShiftedNegativeBinomial(alpha, (1 - beta) * (1 - f))), population)


MODELS: dict[str, Callable[[Sizes, int], Fit | None]] = {"pitman": pitman, "zayatz": zayatz, "snb": snb}


def shlosser(sizes: Sizes, f: float) -> float:
    """Shlosser's estimate of the number of classes in the population, at the sampling fraction f.

    >>> shlosser(Sizes.of([1, 2, 3]), 1.0)
    3.0
    """
    i, s = sizes.persons.astype(np.float64), sizes.classes.astype(np.float64)
    ones = classes_of(sizes, 1)
    if f >= 1 or ones == 0:
        return float(sizes.total)
    hidden = s * (1 - f) ** i
    first = float((i * f**2 * (1 - f**2) ** (i - 1) * s).sum() / (hidden * ((1 + f) ** i - 1)).sum())
    second = float(hidden.sum() / (i * f * (1 - f) ** (i - 1) * s).sum())
    return sizes.total + ones * first * second**2


def classes_of(sizes: Sizes, size: int) -> int:
    """How many classes have exactly so many people."""
    return int(sizes.classes[sizes.persons == size].sum())


def _pitman_parameters(sizes: Sizes) -> tuple[float, float]:
    """The maximum-likelihood alpha and theta."""
    from scipy.optimize import minimize

    def parameters(free: ArrayLike) -> tuple[float, float]:
        first, second = np.clip(np.asarray(free, np.float64), -30, 30).tolist()
        alpha = 1 / (1 + exp(-first))
        return alpha, exp(second) - alpha

    def loss(free: Floats) -> float:
        return -_pitman_likelihood(sizes, *parameters(free))

    starts = [np.array([a, t]) for a in (-2.0, 0.0, 2.0) for t in (0.0, log(max(sizes.total, 2)))]
    options = {"xatol": 1e-9, "fatol": 1e-10, "maxiter": 4000}
    found = [minimize(loss, start, method="Nelder-Mead", options=options) for start in starts]
    return parameters(min(found, key=lambda fit: float(fit.fun)).x)


def _pitman_likelihood(sizes: Sizes, alpha: float, theta: float) -> float:
    from scipy.special import gammaln

    n, u = sizes.people, sizes.total
    between = (u - 1) * log(alpha) + gammaln(theta / alpha + u) - gammaln(theta / alpha + 1)
    within = np.dot(sizes.classes, gammaln(sizes.persons - alpha) - gammaln(1 - alpha))
    return float(between + within - gammaln(theta + n) + gammaln(theta + 1))


def _snb_parameters(k: float, f: float, ones: int, twos: int) -> tuple[float, float] | None:
    """The alpha and beta that expect as many classes of one and two as there are, None if none do."""
    from scipy.optimize import least_squares

    def misfit(free: Floats) -> Floats:
        one, two = _snb_expected(k, f, exp(float(free[0])), 1 / (1 + exp(-float(free[1]))))
        return np.array([one / ones - 1, two / twos - 1])

    starts = [(a, b) for a in (-3.0, -1.0, 0.0, 1.0) for b in (-4.0, -2.0, 0.0, 2.0)]
    found = [least_squares(misfit, start, bounds=([-25, -25], [25, 25])) for start in starts]
    best = min(found, key=lambda fit: float(fit.cost))
    if best.cost > 1e-8:
        return None
    return exp(float(best.x[0])), 1 / (1 + exp(-float(best.x[1])))


def _snb_expected(k: float, f: float, alpha: float, beta: float) -> tuple[float, float]:
    """Expected classes of one and two records when every record is drawn with probability f."""
    hidden = (1 - beta) * (1 - f)
    seen = 1 - hidden
    generating = (beta / seen) ** alpha
    one = k * f * generating * (1 + alpha * hidden / seen)
    two = k * f**2 / 2 * alpha * (1 - beta) * generating / seen**2 * (2 - (1 - alpha) * hidden)
    return one, two


def _sane(fit: Fit, population: int) -> Fit | None:
    return fit if isfinite(fit.uniques) and 0 <= fit.uniques <= population else None
