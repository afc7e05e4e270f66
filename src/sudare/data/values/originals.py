"""Which original values a published one may stand for, found without comparing every pair of them."""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sudare.data.values.recoded import (
    Anything,
    End,
    Exactly,
    Interval,
    Recoded,
    Starred,
    ValueSet,
    comparable,
    is_number,
    meaning_of,
    plain,
)

Ints = NDArray[np.int64]


class Originals:
    """The distinct values of an original column, in the order in which intervals and starred texts cut them.

    `nodes` maps the labels of a hierarchy to the leaves below them.

    >>> Originals([1, 3, None]).behind("[1-2]").tolist(), Originals([1, 3, None]).behind("*").tolist()
    ([0], [0, 1, 2])
    """

    def __init__(
        self, values: Sequence[object], nodes: Mapping[str, Collection[object]] | None = None
    ) -> None:
        self.values, self.nodes = values, nodes or {}
        self.numeric = any(is_number(value) for value in values)
        self._where: dict[str | None, list[int]] = {}
        for place, value in enumerate(values):
            self._where.setdefault(plain(value), []).append(place)
        self._lines: dict[str, tuple[list[End], Ints]] = {}
        self._texts: list[str] = []

    def behind(self, published: object) -> Ints:
        """The places of the values that may be behind a published one, ascending."""
        text = plain(published)
        if text is not None and text in self.nodes:
            return np.unique(self.named([text, *map(plain, self.nodes[text])]))
        meaning = meaning_of(text, self.numeric)
        if isinstance(meaning, Exactly):
            return self.named([text])
        return np.unique(np.concatenate([self.named([text]), self.held(meaning)]))

    def named(self, texts: Iterable[str | None]) -> Ints:
        """The places of the values with these texts; None is the missing value."""
        return np.array([place for text in texts for place in self._where.get(text, ())], np.int64)

    def held(self, meaning: Recoded) -> Ints:
        """The places of the values that a meaning holds."""
        if isinstance(meaning, Anything):
            return np.arange(len(self.values))
        if isinstance(meaning, Interval):
            ends, places = self._line(meaning.low)
            return places[bisect_left(ends, meaning.low) : bisect_right(ends, meaning.high)]  # type: ignore[type-var]
        if isinstance(meaning, Starred):
            return self._starred(meaning)
        return self.named(meaning.members if isinstance(meaning, ValueSet) else [meaning.text])

    def _line(self, like: End) -> tuple[list[End], Ints]:
        """The values that can be compared with the end of an interval, in order, and their places."""
        kind = _kind(like)
        if kind not in self._lines:
            found = [(comparable(value, like), place) for place, value in enumerate(self.values)]
            known = [(end, place) for end, place in found if end is not None and end == end]
            known.sort(key=lambda pair: pair[0])  # type: ignore[arg-type,return-value]
            self._lines[kind] = [end for end, _ in known], np.array([place for _, place in known], np.int64)
        return self._lines[kind]

    def _starred(self, meaning: Starred) -> Ints:
        if not self._texts:
            self._texts = sorted(text for text in self._where if text is not None)
        place, places = bisect_left(self._texts, meaning.prefix), list[int]()
        while place < len(self._texts) and (text := self._texts[place]).startswith(meaning.prefix):
            place += 1
            if len(text) == len(meaning.prefix) + meaning.stars:
                places += self._where[text]
        return np.array(places, np.int64)


def consistency(
    published: Sequence[object],
    values: Sequence[object],
    nodes: Mapping[str, Collection[object]] | None = None,
) -> NDArray[np.bool_]:
    """`consistent` for every pair of a distinct published and a distinct original value.

    >>> consistency(["[1-2]", "*"], [1, 3]).tolist()
    [[True, False], [True, True]]
    """
    originals = Originals(values, nodes)
    out = np.zeros((len(published), len(values)), dtype=np.bool_)
    for row, item in enumerate(published):
        out[row, originals.behind(item)] = True
    return out


def _kind(like: End) -> str:
    if isinstance(like, dt.datetime):
        return "time" if like.tzinfo is None else "time in a zone"
    return "day" if isinstance(like, dt.date) else "number"
