"""Nested noise: a Brownian path per record, of which a release shows the value at the time of its variance.

Noise of variance v is the value W(v) of a keyed Brownian motion. Two releases of one record then differ by an
increment that is independent of the less noisy one, so together they say no more than it alone. Any time can be read
without the others (Levy's construction): from the ends of an interval the value in its middle is normal, with the
straight line between the ends as its mean. Intervals are halved by powers of two first, so that any magnitude works,
and by their length then. Every value is drawn under a subkey of its own time.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sudare.keys.draws import Floats, Words, normal
from sudare.keys.key import Key

LIMIT = 4096  # powers of two that bound all times: variances of all numbers are far inside
FAR = 128  # powers of two over which values are independent to the last digit: the correlation is 2 ** -64
DIGITS = 32  # binary ones of a variance: it is what was asked for, or more by less than 5e-10 of it
BLOCK = 1 << 14


class Middle(NamedTuple):
    """One value of a path from those at the ends of its interval, all divided by the root of their time."""

    time: str
    from_low: float
    from_high: float
    spread: float
    replaces_low: bool


def brownian(key: Key, purpose: str, column: str, ids: Words, sd: float) -> Floats:
    """Per record, normal noise of standard deviation `sd`: one keyed path per record, read at time sd squared.

    >>> ids = np.arange(8, dtype=np.uint64).reshape(-1, 2)
    >>> weak, strong = (brownian(Key.demo(1), "noise", "pay", ids, sd) for sd in (1.0, 2.0))
    >>> bool((2 * weak == strong).any())
    False
    """
    if not 0 < sd < math.inf:
        return np.full(len(ids), sd)
    time = _rounded(Fraction(sd) ** 2)
    scale, middles = _root(time), _descent(time)
    out = np.empty(len(ids))
    for at in range(0, len(ids), BLOCK):
        out[at : at + BLOCK] = scale * _read(key, purpose, column, ids[at : at + BLOCK], middles)
    return out


def _read(key: Key, purpose: str, column: str, ids: Words, middles: tuple[Middle, ...]) -> Floats:
    low, high = np.zeros(len(ids)), np.zeros(len(ids))
    value = low
    for middle in middles:
        drawn = normal(key, f"{purpose} at {middle.time}", column, ids)[:, 0]
        value = middle.from_low * low + middle.from_high * high + middle.spread * drawn
        low, high = (value, high) if middle.replaces_low else (low, value)
    return value


@lru_cache(maxsize=256)
def _descent(time: Fraction) -> tuple[Middle, ...]:
    """The middles on the way down to a time; those that are too far away to matter count as zero."""
    low, high, at = Fraction(0), Fraction(2) ** LIMIT, Fraction(0)
    found = []
    while at != time:
        at = _middle(low, high)
        if abs(_exponent(at) - _exponent(time)) <= FAR:
            found.append(_between(low, at, high, replaces_low=at < time))
        low, high = (at, high) if at < time else (low, at)
    return tuple(found)


def _between(low: Fraction, at: Fraction, high: Fraction, *, replaces_low: bool) -> Middle:
    """The bridge: mean on the straight line, variance (at - low) (high - at) / (high - low)."""
    name, width = f"{at.numerator:x}/{at.denominator:x}", high - low
    from_low = math.sqrt(((high - at) / width) ** 2 * low / at)
    from_high = math.sqrt(((at - low) / width) ** 2 * high / at)
    return Middle(name, from_low, from_high, math.sqrt((at - low) * (high - at) / width / at), replaces_low)


def _middle(low: Fraction, high: Fraction) -> Fraction:
    """Halfway by powers of two until the ends are neighbours among them, then halfway by length."""
    first, last = (-LIMIT if low == 0 else _exponent(low)), _exponent(high)
    if Fraction(2) ** last == high and (low == 0 or Fraction(2) ** first == low) and last - first > 1:
        return Fraction(2) ** ((first + last) // 2)
    return (low + high) / 2


def _exponent(time: Fraction) -> int:
    """The largest power of two that is not above a time."""
    found = time.numerator.bit_length() - time.denominator.bit_length()
    return found if Fraction(2) ** found <= time else found - 1


def _rounded(time: Fraction) -> Fraction:
    """A time to so many digits, never earlier: every digit costs a draw."""
    unit = Fraction(2) ** (_exponent(time) + 1 - DIGITS)
    return math.ceil(time / unit) * unit


def _root(time: Fraction) -> float:
    half = _exponent(time) // 2
    return math.ldexp(math.sqrt(time / Fraction(4) ** half), half)
