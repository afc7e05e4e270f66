"""How many distinct values x records show when each is one of l values with equal chance (P3, section 2)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudare.errors import UsageError
from sudare.parameters import as_numbers

Floats = NDArray[np.float64]
# Cells of the recurrence that are worth computing in full; beyond, only a band around the mean, then a normal law.
FULL_CELLS = 20_000_000
BAND_CELLS = 600_000_000
FEW = 30  # below this standard deviation the law is too skewed to be normal


def expected_distinct(x: ArrayLike, l: ArrayLike) -> Floats:
    """E[y|x, l] = l(1 - (1 - 1/l)^x), the expected number of distinct values (P3, Thm 2).

    Written with expm1 and log1p: the plain form is 0 at l = 1e17.

    >>> round(float(expected_distinct(100, 100)), 2)
    63.4
    """
    x, l = _checked(x, l)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = -l * np.expm1(x * np.log1p(-1.0 / l))
    return np.where(x == 0, 0.0, np.where(l == 1, 1.0, spread))[()]


def variance_distinct(x: ArrayLike, l: ArrayLike) -> Floats:
    """Var[y|x, l] = l(l-1)(1-2/l)^x + l(1-1/l)^x - l^2(1-1/l)^2x, without its cancellation.

    >>> float(variance_distinct(2, 2)), round(float(variance_distinct(10, 1e12)) * 1e11, 6)
    (0.25, 4.5)
    """
    x, l = _checked(x, l)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        a = x * np.log1p(-1.0 / l)
        pairs = x * np.log1p(-1.0 / (l - 1) ** 2)
        wide = l * (l - 1) * np.exp(2 * a) * np.expm1(pairs) - l * np.exp(a) * np.expm1(a)
        variance = np.where(a > -0.5, _variance_of_few(x, l, a, pairs), wide)
    return np.where((x <= 1) | (l == 1), 0.0, np.maximum(variance, 0.0))[()]


def pr_distinct(y: ArrayLike, x: ArrayLike, l: ArrayLike) -> Floats:
    """Pr(y|x), the chance that x records show exactly y of l values (P3, Thm 1), by the recurrence (1).

    Its terms are positive, so that nothing cancels; the alternating Stirling sum is wrong in the third
    digit at Pr(40|50), l=100. Far out (x about 1e6) it is computed in a band around the mean or, where that is too
    much work, taken from the normal law, or from Poisson's when few records repeat a value or few values are missed.

    >>> round(float(pr_distinct(40, 50, 100)), 5)
    0.16754
    """
    y, x, l = broadcast(y=y, x=x, l=l)
    _checked(x, l)
    if not (np.isfinite(x) & np.isfinite(y)).all() or (x != np.floor(x)).any() or (y != np.floor(y)).any():
        raise UsageError("pr_distinct: y and x are whole numbers")
    out = np.zeros(y.shape)
    for records, values in {*zip(x.ravel().tolist(), l.ravel().tolist())}:
        here = (x == records) & (l == values)
        out[here] = _pr_row(y[here], int(records), float(values))
    return out[()]


def broadcast(**given: ArrayLike) -> list[Floats]:
    """Numbers and arrays of numbers in one shape, or a UsageError."""
    try:
        return list(np.broadcast_arrays(*(as_numbers(value, name) for name, value in given.items())))
    except ValueError:
        raise UsageError(
            f"{', '.join(given)}: arrays of different shapes; give the same number of each"
        ) from None


def _checked(x: ArrayLike, l: ArrayLike) -> tuple[Floats, Floats]:
    x, l = broadcast(x=x, l=l)
    if (l < 1).any() or not np.isfinite(l).all():
        raise UsageError("l, the number of values, is at least 1")
    if (x < 0).any() or np.isnan(x).any():
        raise UsageError("x, the number of records, is not negative")
    return x, l


def _variance_of_few(x: Floats, l: Floats, a: Floats, pairs: Floats) -> Floats:
    """The same variance where x is small beside l: the leading terms x and -x are taken out by hand."""
    first = _log_excess(l)
    second = np.where(l > 1e3, _square_excess(l), -((l - 1) ** 2) * np.log1p(-1.0 / (l - 1) ** 2) - 1)
    tail = (1 + 1 / (l - 1)) * (1 + second)
    linear = x * (first - 1 / (l - 1) - second * (1 + 1 / (l - 1)))
    square = -l * a * a * _second_order(a) - np.expm1(a) * x * tail
    square += l * (l - 1) * np.exp(a) * pairs * pairs * _second_order(pairs)
    return np.asarray(np.exp(a) * (linear + square))


def _log_excess(l: Floats) -> Floats:
    """-l log(1 - 1/l) - 1."""
    series = 1 / (2 * l) + 1 / (3 * l**2) + 1 / (4 * l**3) + 1 / (5 * l**4)
    return np.asarray(np.where(l > 1e3, series, -l * np.log1p(-1.0 / l) - 1))


def _square_excess(l: Floats) -> Floats:
    """-(l-1)^2 log(1 - 1/(l-1)^2) - 1."""
    q = 1.0 / (l - 1) ** 2
    return q / 2 + q * q / 3


def _second_order(z: Floats) -> Floats:
    """(exp(z) - 1 - z) / z^2."""
    series = 1 / 2 + z / 6 + z**2 / 24 + z**3 / 120 + z**4 / 720 + z**5 / 5040
    return np.where(np.abs(z) < 1e-2, series, (np.expm1(z) - z) / np.where(z == 0, 1, z) ** 2)


def _pr_row(y: Floats, x: int, l: float) -> Floats:
    """Pr(y|x) for many y of one x and l."""
    from sudare.engine.kernels.occupancy import distribution

    most = int(min(x, l))
    inside = (y >= 0) & (y <= most)
    mean, sd = float(expected_distinct(x, l)), float(np.sqrt(variance_distinct(x, l)))
    reach = min(most, int(12 * sd) + 30)
    full = x * most <= FULL_CELLS
    if not full and x * 2 * reach > BAND_CELLS:
        return np.where(inside, _normal_mass(y, mean, sd) if sd > FEW else _poisson_mass(y, x, l), 0.0)
    if full:
        low, high = np.zeros(x + 1, np.int64), np.full(x + 1, most, np.int64)
    else:
        low, high = _band(x, l, most)
    table = distribution(x, l, low, high)
    place = np.clip(y - low[x], 0, len(table) - 1).astype(np.int64)
    return np.where(inside & (y >= low[x]) & (y <= high[x]), table[place], 0.0)


def _band(x: int, l: float, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For 0..x records the values of y that matter: twelve standard deviations, and some."""
    steps = np.arange(x + 1, dtype=np.float64)
    mean, reach = expected_distinct(steps, l), 12 * np.sqrt(variance_distinct(steps, l)) + 30
    low = np.maximum.accumulate(np.maximum(0, np.floor(mean - reach)).astype(np.int64))
    return low, np.minimum(np.minimum(steps, most), np.ceil(mean + reach)).astype(np.int64)


def _normal_mass(y: Floats, mean: float, sd: float) -> Floats:
    from scipy.special import ndtr

    return np.asarray(ndtr((y + 0.5 - mean) / sd) - ndtr((y - 0.5 - mean) / sd))


def _poisson_mass(y: Floats, x: int, l: float) -> Floats:
    """Of very many records with a narrow law, either few repeat a value or few values are missed."""
    from scipy.special import gammaln, xlogy

    missed = l * math.exp(x * math.log1p(-1.0 / l)) if l > 1 else 0.0
    repeated = x * (x - 1) / (2 * l)
    most, mean = (l, missed) if missed < repeated else (x, repeated)
    rare = np.maximum(most - y, 0)
    return np.asarray(np.exp(xlogy(rare, mean) - mean - gammaln(rare + 1)))
