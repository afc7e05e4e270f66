"""Which published values may stand for a true one: equal, recoded, rounded, an interval, a set, starred, missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.values.originals import Originals
from sudare.data.values.recoded import Anything, Exactly, Recoded, ValueSet, meaning_of, plain

Pairs = NDArray[np.int64]
MISSING = (None, "")


def consistent_pairs(true: Sequence[Any], published: Sequence[Any], observed: Pairs) -> Pairs:
    """Every (true, published) pair of codes where the published value may stand for the true one.

    A plain value stands for itself; intervals, sets (texts or lists) and starred texts for what they hold; a missing
    value for anything, if a value that was not missing has been published as missing. A label that no rule
    explains stands for the values it was published for (`observed`: the pairs that occur): always if it is a text
    that no original record has, and for all others if every value was published in one way only, and coarser, as
    rounding and top-coding do. Noise is not undone here: a perturbed number matches the number it equals.
    """
    originals = Originals(true)
    behind = _behind(observed, len(published))
    senses = [_sense(originals, value, mine) for value, mine in zip(published, behind)]
    held = [originals.held(sense) for sense in senses]
    codes = np.repeat(np.arange(len(held)), [len(values) for values in held])
    found = np.stack([np.concatenate([*held, np.empty(0, np.int64)]), codes], axis=1)
    label = np.array(
        [
            isinstance(value, str) and isinstance(sense, Exactly) and len(mine) == 0
            for value, sense, mine in zip(published, senses, held)
        ],
        np.bool_,
    )
    learned = observed if _coarsens(observed, published, true) else observed[label[observed[:, 1]]]
    return np.unique(np.concatenate([found, learned]), axis=0)


def _behind(observed: Pairs, published: int) -> list[set[int]]:
    """The true values that every published one was published for."""
    behind: list[set[int]] = [set() for _ in range(published)]
    for value, code in observed.tolist():
        behind[code].add(value)
    return behind


def _sense(originals: Originals, value: Any, behind: set[int]) -> Recoded:
    """What a published value means, given the true values it was published for."""
    if isinstance(value, list):
        return ValueSet(frozenset(map(plain, value)))
    text = plain(value)
    equal = originals.named([text]).tolist()
    if equal and behind.issubset(equal):  # as it was, whatever it looks like
        return Exactly(text)
    if text in MISSING and any(plain(originals.values[code]) not in MISSING for code in behind):
        return Anything()
    return meaning_of(text, originals.numeric)


def _coarsens(observed: Pairs, published: Sequence[Any], true: Sequence[Any]) -> bool:
    """Whether every true value was published in one way, and most ways stand for several values or for themselves."""
    if len(observed) == 0 or len(np.unique(observed[:, 0])) < len(observed):
        return False
    together = np.bincount(observed[:, 1], minlength=len(published))
    renamed = sum(
        together[code] == 1 and plain(published[code]) != plain(true[value])
        for value, code in observed.tolist()
    )
    return bool(2 * renamed <= len(observed))
