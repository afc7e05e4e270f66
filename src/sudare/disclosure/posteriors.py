"""How many people F a class has in the population when f of them were sampled: four distributions, one question each.

`risk(f)` is E[1/F | f], what a journalist gains who picks one of the F; `at_most(f, size)` is P(F <= size | f).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Numbers = NDArray[np.int64] | NDArray[np.float64]
Floats = NDArray[np.float64]
NO_TAIL = 1e11  # more people than this are as good as infinitely many; the library's series ends near here


class Posterior(Protocol):
    """The distribution of F given f, for every class of an array of f."""

    def risk(self, f: Numbers) -> Floats: ...

    def at_most(self, f: Numbers, size: int) -> Floats: ...


@dataclass(frozen=True)
class NegativeBinomial:
    """F - f is negative binomial with f - alpha failures and the probability q (alpha = 0: Benedetti and Franconi).

    E[1/F | f] = q/f 2F1(1, 1+alpha; f+1; 1-q).

    >>> NegativeBinomial(0.0, 1 / 215).risk(np.array([1])).round(4).tolist()
    [0.0251]
    """

    alpha: float
    q: float | Floats

    def risk(self, f: Numbers) -> Floats:
        people = np.maximum(np.asarray(f, np.float64), 1)
        q = np.broadcast_to(np.asarray(self.q, np.float64), people.shape)
        return np.asarray(q / people * _gauss(self.alpha, people, q), np.float64)

    def at_most(self, f: Numbers, size: int) -> Floats:
        from scipy.stats import nbinom

        return np.asarray(nbinom.cdf(size - f, f - self.alpha, self.q), np.float64)


def _gauss(alpha: float, f: Floats, q: Floats) -> Floats:
    """2F1(1, 1+alpha; f+1; 1-q): in closed form for f = 1, by the library below 12, above by its series.

    The series' terms fall like n^-f; the library's gives NaN at f = 1000, and loses digits at f = 1 for a small alpha.
    """
    from scipy.special import hyp2f1

    out = np.ones(f.shape)
    one, few = (f == 1) & (q < 1), (f > 1) & (f < 12)
    logarithm = np.log(q[one])
    top = -logarithm if alpha == 0 else np.expm1(-alpha * logarithm) / alpha
    out[one] = top / (1 - q[one])
    out[few] = hyp2f1(1.0, 1.0 + alpha, f[few] + 1, 1 - q[few])
    many = f >= 12
    term = np.ones(int(many.sum()))
    for n in range(1, 200):
        term = term * (n + alpha) * (1 - q[many]) / (f[many] + n)
        out[many] += term
    return out


@dataclass(frozen=True)
class ShiftedNegativeBinomial:
    """F - 1 is negative binomial (alpha) before sampling; `hidden` is its tail (1-beta) times the share not sampled.

    Given f the number of others g has weights (f+g) Gamma(r+g)/g! hidden^g with r = alpha+f-1, so that
    E[1/F | f] = (1-hidden) / (f + (alpha-1) hidden).

    >>> ShiftedNegativeBinomial(1.0, 0.0).risk(np.array([1, 4])).tolist()
    [1.0, 0.25]
    """

    alpha: float
    hidden: float

    def risk(self, f: Numbers) -> Floats:
        return np.asarray((1 - self.hidden) / (f + (self.alpha - 1) * self.hidden), np.float64)

    def at_most(self, f: Numbers, size: int) -> Floats:
        from scipy.stats import nbinom

        # P(F = f+g) is (f+g) times the negative binomial chance of g, over its mean f + r hidden/(1-hidden)
        different, back = np.unique(f, return_inverse=True)
        few, g = np.broadcast_arrays(different[:, None], np.arange(size)[None, :])
        chance = nbinom.pmf(g, self.alpha + few - 1, 1 - self.hidden) * (few + g) * self.risk(few)
        return np.asarray(np.where(few + g <= size, chance, 0.0).sum(axis=1)[back], np.float64)


@dataclass(frozen=True)
class Poisson:
    """F - f is Poisson with the expected number of `others`, one for every class: E[1/F | f] = 1F1(1; f+1; -others)/f.

    >>> Poisson(np.array([0.0, 2.0])).risk(np.array([2, 1])).round(4).tolist()
    [0.5, 0.4323]
    """

    others: Floats

    def risk(self, f: Numbers) -> Floats:
        from scipy.special import hyp1f1

        found = hyp1f1(1.0, np.asarray(f, np.float64) + 1, -np.minimum(self.others, NO_TAIL))
        return np.asarray(found / f, np.float64)

    def at_most(self, f: Numbers, size: int) -> Floats:
        from scipy.stats import poisson

        return np.asarray(poisson.cdf(size - f, self.others), np.float64)


@dataclass(frozen=True)
class Observed:
    """The population's classes have the sizes of the sample's, in the same shares (Zayatz): a class of i shows f of its
    people with hypergeometric probability when n of N people are sampled.

    >>> Observed(np.array([1, 2]), np.array([3, 3]), 9, 90).risk(np.array([2])).tolist()
    [0.5]
    """

    persons: Ints
    classes: Ints
    n: int
    population: int

    def risk(self, f: Numbers) -> Floats:
        return self._mean(f, 1 / self.persons)

    def at_most(self, f: Numbers, size: int) -> Floats:
        return self._mean(f, (self.persons <= size).astype(np.float64))

    def _mean(self, f: Numbers, of_size: Floats) -> Floats:
        """The posterior mean of something that depends on the size of the class."""
        from scipy.stats import hypergeom

        people = max(self.population, self.n)
        different, back = np.unique(f, return_inverse=True)
        chance = hypergeom.logpmf(different[:, None], people, self.persons[None, :], self.n)
        weights = self.classes * np.exp(chance - chance.max(axis=1, keepdims=True))
        return np.asarray(((weights @ of_size) / weights.sum(axis=1))[back], np.float64)
