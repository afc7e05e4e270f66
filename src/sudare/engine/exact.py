"""Sums of numbers and of their squares without any rounding, so that parts add up to the same whole everywhere."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
HALF = 27  # binary digits of the lower half of a float's 53
SPLIT = float(2**HALF + 1)
LARGE = 1e150  # squares of larger numbers do not fit; they are scaled by a power of two before
SHIFT = 512
ROWS = 1 << 22  # so many halves add up exactly in a float


@dataclass(frozen=True)
class Moments:
    """The number of numbers, their sum and the sum of their squares, exact.

    >>> both = Moments.of(np.array([1.0, 2.0])) + Moments.of(np.array([np.nan, 6.0]))
    >>> both.number, both.mean, round(both.spread, 9)
    (3, 3.0, 2.160246899)
    """

    number: int = 0
    total: Fraction = Fraction(0)
    squares: Fraction = Fraction(0)

    @classmethod
    def of(cls, values: Floats) -> Moments:
        """Of an array; NaN is a cell that is not there."""
        known = values[~np.isnan(values)]
        found = cls()
        for start in range(0, len(known), ROWS):
            part = known[start : start + ROWS]
            found += cls(len(part), _exact_sum(part), _exact_squares(part))
        return found

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.number + other.number, self.total + other.total, self.squares + other.squares)

    @property
    def mean(self) -> float:
        """The mean, 0 of no numbers."""
        return float(self.total / self.number) if self.number else 0.0

    @property
    def spread(self) -> float:
        """The standard deviation (of the whole, not of a sample), 0 of no numbers."""
        if not self.number:
            return 0.0
        variance = (self.squares - self.total * self.total / self.number) / self.number
        scale = max(0, (variance.numerator.bit_length() - variance.denominator.bit_length()) // 2)
        return math.ldexp(math.sqrt(variance / 4**scale), scale)


def _exact_sum(values: Floats) -> Fraction:
    mantissa, exponent = np.frexp(values)
    whole = np.ldexp(mantissa, 53)  # whole numbers below 2^53
    high = np.trunc(np.ldexp(whole, -HALF))
    low = whole - np.ldexp(high, HALF)
    least = int(exponent.min(initial=0))
    steps = exponent - least
    sums = [np.bincount(steps, part) for part in (high, low)]
    total = sum((int(h) * 2**HALF + int(l)) << step for step, (h, l) in enumerate(zip(*sums)) if h or l)
    shift = least - 53
    return Fraction(total) * Fraction(2) ** shift


def _exact_squares(values: Floats) -> Fraction:
    large = np.abs(values) > LARGE
    scaled = _squares(np.ldexp(values[large], -SHIFT)) * 4**SHIFT if large.any() else Fraction(0)
    return _squares(values[~large]) + scaled


def _squares(values: Floats) -> Fraction:
    """Each square as the sum of two floats (Dekker), all of them added exactly."""
    upper = SPLIT * values
    upper = upper - (upper - values)
    lower = values - upper
    product = values * values
    error = ((upper * upper - product) + 2.0 * upper * lower) + lower * lower
    return _exact_sum(product) + _exact_sum(error)
