"""Nested noise: a Brownian path per record, of which a release shows the value at the time of its variance.

Noise of variance v is the value W(v) of a keyed Brownian motion. Two releases of one record then differ by an
increment that is independent of the less noisy one, so together they say no more than it alone. Any time can be read
without the others (Levy's construction): from the ends of an interval the value in its middle is normal, with the
straight line between the ends as its mean. The ends are powers of 256; intervals are halved by powers of two first, so
that any magnitude works, and by their length then. A value is thus a sum of thirteen keyed normal numbers with known
weights, which are read from seven blocks of AES.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sudare.keys.draws import Floats, Words, words
from sudare.keys.key import Key

BASE = 8  # the ends are powers of two to the eighth: values so far apart share a sixteenth of their deviation
DIGITS = (
    8  # binary digits of a variance: it is what was asked for, or more by less than 0.8% of it (the sd: 0.4%)
)
BLOCK = 1 << 16


class Source(NamedTuple):
    """One block of AES, four numbers: by the power of 256 and, within it, the interval that they belong to."""

    power: int
    interval: str


Weights = Mapping[tuple[Source, int], float]  # by source and place in it


def brownian(key: Key, purpose: str, column: str, ids: Words, sd: float) -> Floats:
    """Per record, normal noise of standard deviation `sd`: one keyed path per record, read at time sd squared.

    >>> ids = np.arange(8, dtype=np.uint64).reshape(-1, 2)
    >>> weak, strong = (brownian(Key.demo(1), "noise", "pay", ids, sd) for sd in (1.0, 2.0))
    >>> bool((2 * weak == strong).any())
    False
    """
    if not 0 < sd < math.inf:
        return np.full(len(ids), sd)
    from sudare.keys.normals import add_normals

    time = rounded(Fraction(sd) ** 2)
    power, root = _exponent(time) // BASE, _root(time)
    sources = _by_source(time / Fraction(2) ** (BASE * power))
    out = np.zeros(len(ids))
    for at in range(0, len(ids), BLOCK):
        for (above, interval), weights in sources:
            drawn = words(key, f"{purpose} at 256^{power + above} {interval}", column, ids[at : at + BLOCK])
            add_normals(drawn.view("<u4"), weights, out[at : at + BLOCK])
    return root * out


def rounded(time: Fraction) -> Fraction:
    """A time to so many digits, never earlier: every digit costs a draw."""
    unit = Fraction(2) ** (_exponent(time) + 1 - DIGITS)
    return math.ceil(time / unit) * unit


@lru_cache(maxsize=256)
def _by_source(time: Fraction) -> tuple[tuple[Source, Floats], ...]:
    found: dict[Source, Floats] = defaultdict(lambda: np.zeros(4))
    for (source, place), weight in weights_of(time).items():
        found[source][place] = weight
    return tuple(found.items())


def weights_of(time: Fraction) -> Weights:
    """The weights of the draws behind W(time) over the root of time, for a time from 1 to 256.

    The value at the end 256^n is n's own draw and a sixteenth of the one before, which stands for all before it.
    """
    low, high = Fraction(1), Fraction(2) ** BASE
    at_low: Weights = _end(0)
    at_high: Weights = {draw: weight * math.sqrt(high) for draw, weight in _end(1).items()}
    value = at_low
    at, depth, source, above = low, 0, Source(0, _name(low, high)), low
    while at != time:
        at = _middle(low, high)
        if (
            depth % 2 == 0
        ):  # two halvings share a block: the middle, then that of the lower or of the upper half
            source, above, place = Source(0, _name(low, high)), at, 1
        else:
            place = 2 if at < above else 3
        value = _between(low, at, high, at_low, at_high, (source, place))
        if at < time:
            low, at_low = at, value
        else:
            high, at_high = at, value
        depth += 1
    size = math.sqrt(sum(weight**2 for weight in value.values()))
    return {draw: weight / size for draw, weight in value.items()}


def _end(power: int) -> dict[tuple[Source, int], float]:
    whole = _name(Fraction(1), Fraction(2) ** BASE)
    before = 2.0**-BASE
    return {
        (Source(power, whole), 0): math.sqrt(1 - before),
        (Source(power - 1, whole), 0): math.sqrt(before),
    }


def _between(
    low: Fraction, at: Fraction, high: Fraction, at_low: Weights, at_high: Weights, draw: tuple[Source, int]
) -> Weights:
    """The bridge: mean on the straight line, variance (at - low) (high - at) / (high - low)."""
    share = (at - low) / (high - low)
    value = defaultdict(float, {draw: math.sqrt(share * (high - at))})
    for end, weight in ((at_low, 1 - share), (at_high, share)):
        for other, size in end.items():
            value[other] += float(weight) * size
    return value


def _name(low: Fraction, high: Fraction) -> str:
    return f"{low.numerator:x}/{low.denominator:x} to {high.numerator:x}/{high.denominator:x}"


def _middle(low: Fraction, high: Fraction) -> Fraction:
    """Halfway by powers of two until the ends are neighbours among them, then halfway by length."""
    first, last = _exponent(low), _exponent(high)
    if Fraction(2) ** last == high and Fraction(2) ** first == low and last - first > 1:
        return Fraction(2) ** ((first + last) // 2)
    return (low + high) / 2


def _exponent(time: Fraction) -> int:
    """The largest power of two that is not above a time."""
    found = time.numerator.bit_length() - time.denominator.bit_length()
    return found if Fraction(2) ** found <= time else found - 1


def _root(time: Fraction) -> float:
    half = _exponent(time) // 2
    return math.ldexp(math.sqrt(time / Fraction(4) ** half), half)
