"""Which published values may stand for a true one: equal, recoded, rounded, an interval, a set, starred."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.recoded import Exactly, Interval, consistency, parse, plain

Ints = NDArray[np.int64]
Pairs = NDArray[np.int64]


def consistent_pairs(true: Sequence[Any], published: Sequence[Any], observed: Pairs) -> Pairs:
    """Every (true, published) pair of places where the published value may stand for the true one.

    A plain value stands for itself; intervals, sets and starred texts for what they hold. A label that no rule
    explains stands for the values it was published for (`observed`: the pairs that occur): always if it is a text
    that no original record has, and for all others if every value was published in one way only, and coarser, as
    rounding and top-coding do. Noise is not undone here: a perturbed number matches the number it equals.
    """
    texts = [_text(value) for value in published]
    original = {plain(value): place for place, value in enumerate(true)}
    found = [_equal(texts, original), _recoded(texts, true)]
    unknown = np.array(
        [text is not None and text not in original and isinstance(parse(text), Exactly) for text in texts],
        np.bool_,
    )
    words = np.array([isinstance(value, str) for value in published], np.bool_)
    learned = observed if _coarsens(observed, texts, true) else observed[(unknown & words)[observed[:, 1]]]
    return np.unique(np.concatenate([*found, learned]), axis=0)


def _text(value: Any) -> str | None:
    if isinstance(value, list):  # a set of values in a release with randomised sets
        from sudare.data.recoded import value_set

        return value_set(value)
    return plain(value)


def _equal(texts: Sequence[str | None], original: dict[str | None, int]) -> Pairs:
    pairs = [(original[text], place) for place, text in enumerate(texts) if text in original]
    return np.array(pairs, np.int64).reshape(-1, 2)


def _recoded(texts: Sequence[str | None], true: Sequence[Any]) -> Pairs:
    meanings = {place: parse(text) for place, text in enumerate(texts)}
    numeric = any(isinstance(value, (int, float)) and not isinstance(value, bool) for value in true)
    special = [p for p, meaning in meanings.items() if not isinstance(meaning, Exactly) or numeric]
    intervals = [p for p in special if isinstance(meanings[p], Interval) and numeric]
    others = [p for p in special if p not in set(intervals)]
    found = [_in_intervals(intervals, meanings, true)] if intervals else []
    if others:
        holds = consistency([texts[p] for p in others], true)
        row, column = np.nonzero(holds)
        found.append(np.stack([column, np.array(others)[row]], axis=1))
    return np.concatenate(found) if found else np.empty((0, 2), np.int64)


def _in_intervals(places: list[int], meanings: dict[int, Any], true: Sequence[Any]) -> Pairs:
    """Numbers in intervals, by bisection instead of one comparison per pair."""
    known = [
        (float(value), place) for place, value in enumerate(true) if value is not None and value == value
    ]
    known.sort()
    numbers, where = np.array([k for k, _ in known]), np.array([p for _, p in known], np.int64)
    parts = []
    for place in places:
        low = np.searchsorted(numbers, float(meanings[place].low), side="left")
        high = np.searchsorted(numbers, float(meanings[place].high), side="right")
        inside = where[low:high]
        parts.append(np.stack([inside, np.full(len(inside), place)], axis=1))
    return np.concatenate(parts) if parts else np.empty((0, 2), np.int64)


def _coarsens(observed: Pairs, texts: Sequence[str | None], true: Sequence[Any]) -> bool:
    """Whether every true value was published in one way, and most ways stand for several values or for themselves."""
    if len(observed) == 0 or len(np.unique(observed[:, 0])) < len(observed):
        return False
    together = np.bincount(observed[:, 1], minlength=len(texts))
    renamed = sum(
        together[published] == 1 and texts[published] != plain(true[value])
        for value, published in observed.tolist()
    )
    return bool(2 * renamed <= len(observed))
