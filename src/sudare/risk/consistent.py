"""Which published values may stand for a true one: equal, recoded, rounded, an interval, a set, starred, missing."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.recoded import (
    Anything,
    Exactly,
    Interval,
    Recoded,
    Starred,
    ValueSet,
    is_number,
    meaning,
    plain,
)

Pairs = NDArray[np.int64]
MISSING = (None, "")
LAST = chr(0x10FFFF)


def consistent_pairs(true: Sequence[Any], published: Sequence[Any], observed: Pairs) -> Pairs:
    """Every (true, published) pair of places where the published value may stand for the true one.

    A plain value stands for itself; intervals, sets (texts or lists) and starred texts for what they hold; a missing
    value for anything, if a value that was not missing has been published as missing. A label that no rule
    explains stands for the values it was published for (`observed`: the pairs that occur): always if it is a text
    that no original record has, and for all others if every value was published in one way only, and coarser, as
    rounding and top-coding do. Noise is not undone here: a perturbed number matches the number it equals.
    """
    known = _Known(true)
    senses = [known.sense(value, mine) for value, mine in zip(published, _behind(observed, len(published)))]
    held = [known.holding(sense) for sense in senses]
    found = np.stack(
        [
            np.fromiter(chain.from_iterable(held), np.int64),
            np.repeat(np.arange(len(held)), [len(values) for values in held]),
        ],
        axis=1,
    )
    label = np.array(
        [
            isinstance(value, str) and isinstance(sense, Exactly) and sense.text not in known.places
            for value, sense in zip(published, senses)
        ],
        np.bool_,
    )
    learned = observed if _coarsens(observed, published, true) else observed[label[observed[:, 1]]]
    return np.unique(np.concatenate([found, learned]), axis=0)


class _Known:
    """The true values, found by their text, by the beginning of their text, and by their size."""

    def __init__(self, true: Sequence[Any]) -> None:
        self.true = true
        self.places: dict[str | None, list[int]] = {}
        for place, value in enumerate(true):
            self.places.setdefault(plain(value), []).append(place)
        self.texts = sorted(text for text in self.places if text is not None)
        numbers = sorted((float(v), place) for place, v in enumerate(true) if is_number(v) and v == v)
        self.numbers, self.by_size = [n for n, _ in numbers], [place for _, place in numbers]

    def sense(self, value: Any, behind: set[int]) -> Recoded:
        """What a published value means, given the true values it was published for."""
        if isinstance(value, list):
            return ValueSet(frozenset(map(plain, value)))
        text = plain(value)
        if text in self.places and behind.issubset(self.places[text]):  # as it was, whatever it looks like
            return Exactly(text)
        if text in MISSING and any(plain(self.true[place]) not in MISSING for place in behind):
            return Anything()
        return meaning(text, numeric=bool(self.numbers))

    def holding(self, sense: Recoded) -> list[int]:
        """The places of the true values that it may stand for."""
        if isinstance(sense, Exactly):
            return self._named([sense.text])
        if isinstance(sense, ValueSet):
            return self._named(sense.members)
        if isinstance(sense, Starred):
            ends = (bisect_left(self.texts, text) for text in (sense.prefix, sense.prefix + LAST))
            return self._named(text for text in self.texts[slice(*ends)] if sense.holds(text))
        if isinstance(sense, Interval) and is_number(sense.low) and self.numbers:
            low, high = float(sense.low), float(sense.high)  # type: ignore[arg-type]
            return self.by_size[bisect_left(self.numbers, low) : bisect_right(self.numbers, high)]
        return [place for place, value in enumerate(self.true) if sense.holds(value)]

    def _named(self, texts: Iterable[str | None]) -> list[int]:
        return [place for text in texts for place in self.places.get(text, ())]


def _behind(observed: Pairs, published: int) -> list[set[int]]:
    """The true values that every published one was published for."""
    behind: list[set[int]] = [set() for _ in range(published)]
    for value, place in observed.tolist():
        behind[place].add(value)
    return behind


def _coarsens(observed: Pairs, published: Sequence[Any], true: Sequence[Any]) -> bool:
    """Whether every true value was published in one way, and most ways stand for several values or for themselves."""
    if len(observed) == 0 or len(np.unique(observed[:, 0])) < len(observed):
        return False
    together = np.bincount(observed[:, 1], minlength=len(published))
    renamed = sum(
        together[place] == 1 and plain(published[place]) != plain(true[value])
        for value, place in observed.tolist()
    )
    return bool(2 * renamed <= len(observed))
