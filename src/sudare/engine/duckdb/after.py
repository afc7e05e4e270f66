"""The risk after a release, from the codes of both tables in this process."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sudare.data.dataset import Dataset
from sudare.data.published import Published
from sudare.engine.after import (
    Coarser,
    Ints,
    Observed,
    PublishedCodes,
    coarsened,
    knowledge_of,
    right_guesses,
    values_of,
)
from sudare.engine.codes import classes, codes
from sudare.engine.consistent import consistent_pairs
from sudare.engine.known_records import Knowledge

Coded = Mapping[str, tuple[Ints, list[Any]]]  # per column the codes of the rows, and the values by code


@dataclass(frozen=True)
class DuckDBAfter:
    """`AfterCounts` of an original and its release, with the truth between them."""

    users: Ints
    people: Ints
    rows: Ints
    true: Coded
    seen: Coded

    @classmethod
    @contextmanager
    def of(cls, ds: Dataset, release: Published, columns: Sequence[str]) -> Iterator[DuckDBAfter]:
        """The codes of the asked columns."""
        published, rows = release.data, release.rows_among(ds.rows)
        assert rows is not None
        shown = [name for name in columns if name in published.columns]
        sets = published.set_columns - ds.set_columns
        yield cls(_people(ds), _people(published), rows, _coded(ds, columns), _coded(published, shown, sets))

    @property
    def records(self) -> int:
        return len(self.users)

    def right_guesses(self, shown: Sequence[str]) -> float:
        near = [self._observed[name].near for name in shown]
        true = _vectors(self.true, shown, len(self.users))
        return right_guesses(users=self.users, true=true, published=self._published(shown), near=near)

    def knowledge(self, shown: Sequence[str], coarser: Mapping[str, Coarser]) -> Knowledge:
        near = [self._observed[name].near for name in shown]
        true = _vectors(self.true, shown, len(self.users))
        values = [self.true[name][1] for name in shown]
        true, near = coarsened(true, near, values, [coarser.get(name) for name in shown])
        people = int(self.users.max()) + 1
        return knowledge_of(
            users=self.users, true=true, published=self._published(shown), near=near, people=people
        )

    def _published(self, shown: Sequence[str]) -> PublishedCodes:
        return PublishedCodes(self.people, _vectors(self.seen, shown, len(self.people)), self._owner)

    def changed(self, name: str) -> float:
        return self._observed[name].changed

    @cached_property
    def _owner(self) -> Ints:
        """The true user of every published person: the one most of their records are about, -1 for nobody."""
        real = self.rows >= 0
        owner = np.full(int(self.people.max()) + 1, -1, np.int64)
        users = self.users[self.rows[real]]
        label, sizes = classes(np.stack([self.people[real], users], axis=1))
        order = np.lexsort((users, sizes[label]))  # the most frequent pair is written last
        owner[self.people[real][order]] = users[order]
        return owner

    @cached_property
    def _observed(self) -> dict[str, Observed]:
        return {name: self._links(name) for name in self.seen}

    def _links(self, name: str) -> Observed:
        (true, values), (seen, shown), real = self.true[name], self.seen[name], self.rows >= 0
        found, counts = np.unique(true[self.rows[real]] * len(shown) + seen[real], return_counts=True)
        pairs = np.stack([found // len(shown), found % len(shown)], axis=1)
        return Observed(pairs, counts, consistent_pairs(values, shown, pairs))


def _vectors(coded: Coded, names: Sequence[str], rows: int) -> Ints:
    columns = [coded[name][0] for name in names]
    return np.stack(columns, axis=1) if columns else np.zeros((rows, 0), np.int64)


def _people(ds: Dataset) -> Ints:
    if ds.roles.user is None:
        return np.arange(ds.rows, dtype=np.int64)
    matrix, _ = codes(ds.to_pyarrow([ds.roles.user]), [ds.roles.user])
    return matrix[:, 0].astype(np.int64)


def _coded(ds: Dataset, columns: Sequence[str], sets: Collection[str] = ()) -> Coded:
    if not columns:
        return {}
    matrix, values = codes(ds.to_pyarrow(columns), columns)
    return {
        name: (matrix[:, index].astype(np.int64), values_of(values[index], name in sets))
        for index, name in enumerate(columns)
    }
