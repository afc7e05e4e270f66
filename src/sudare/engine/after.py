"""What the risk after a release asks of an original and its release: which values go together, who is a candidate."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sudare.data.values.sets import from_text
from sudare.engine.codes import classes
from sudare.engine.folder import folder_of
from sudare.engine.kernels import risk_cross as kernel
from sudare.engine.known_records import Knowledge, by_first
from sudare.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from sudare.data.dataset import Dataset
    from sudare.data.published import Published

Ints = NDArray[np.int64]
Coarser = Callable[[Sequence[Any]], Ints]  # from the values by code the code of what is known of each
MOST_ENTRIES = 200_000_000


class AfterCounts(Protocol):
    """The questions; columns are named as in the original."""

    @property
    def seen(self) -> Collection[str]:
        """The columns asked about that are published."""

    @property
    def records(self) -> int:
        """The records of the original."""

    def right_guesses(self, shown: Sequence[str]) -> float:
        """The expected number of true records whose user is guessed among the published people consistent with it."""

    def knowledge(self, shown: Sequence[str], coarser: Mapping[str, Coarser]) -> Knowledge:
        """Who is known by which true values, and which published people own a record consistent with each of them.

        Of a column in `coarser` the attacker knows the coarser value only.
        """

    def changed(self, name: str) -> float:
        """The share of published records whose value does not stand for the true one: noise, swapping, redrawing."""


def after_counts(
    ds: Dataset, published: Published, columns: Sequence[str]
) -> AbstractContextManager[AfterCounts]:
    """The counts of both, by Spark if both are there, else here; what is kept for them goes when the block ends."""
    if folder_of(ds, published.data) == "spark":
        from sudare.engine.spark.after import SparkAfter

        return SparkAfter.of(ds, published, columns)
    from sudare.engine.duckdb.after import DuckDBAfter

    return DuckDBAfter.of(ds, published, columns)


class Observed(NamedTuple):
    """How often a true value was published as what, in codes, and the values that may belong together.

    >>> Observed(np.array([[0, 0], [0, 1]]), np.array([3, 1]), np.array([[0, 0], [1, 1]])).changed
    0.25
    """

    pairs: Ints
    counts: Ints
    near: Ints

    @property
    def changed(self) -> float:
        """The share of records whose pair of values is none that may belong together."""
        width = 1 + max(int(part[:, 1].max(initial=0)) for part in (self.pairs, self.near))
        known, near = (part[:, 0] * width + part[:, 1] for part in (self.pairs, self.near))
        return float(self.counts[~np.isin(known, near)].sum() / max(self.counts.sum(), 1))


def values_of(coded: pa.Array, sets: bool) -> list[Any]:
    """The values by code; sets, which are coded by their texts, as lists again."""
    values = coded.to_pylist()
    return [None if text is None else from_text(text) for text in values] if sets else values


@dataclass(frozen=True)
class PublishedCodes:
    """The published records: who (a number per pseudonym), their values, and the true user of each pseudonym."""

    people: Ints
    values: Ints
    owner: Ints


def right_guesses(*, users: Ints, true: Ints, published: PublishedCodes, near: Sequence[Ints]) -> float:
    """The expected number of true records whose user is guessed among the published people consistent with it.

    `near` holds, per column, the (true, published) pairs of values that may belong together.
    """
    known, first = _distinct(true)
    shown, first_shown = _distinct(published.values)
    consistent = reach(true[first], published.values[first_shown], near)
    group, reach_start, reach_values = grouped(*consistent)
    holder_start, holders = _lists(*_unique_pairs(shown, published.people), len(first_shown))
    label, sizes = classes(np.stack([group[known], users], axis=1))
    _, example = np.unique(label, return_index=True)
    owner_group, owner_user = group[known][example], users[example]
    order = np.argsort(owner_group, kind="stable")
    known_start = np.searchsorted(owner_group[order], np.arange(len(reach_start)))
    return float(
        kernel.hits(
            reach_start, reach_values, holder_start, holders, published.owner,
            known_start, owner_user[order], sizes[order], int(max(users.max(), published.owner.max())) + 1,
        )
    )  # fmt: skip


def coarsened(
    true: Ints, near: Sequence[Ints], values: Sequence[Sequence[Any]], coarser: Sequence[Coarser | None]
) -> tuple[Ints, list[Ints]]:
    """The true codes, and what may be published for them, where only something coarser is known of some columns."""
    true, changed = true.copy(), list(near)
    for index, (known, coarse) in enumerate(zip(values, coarser)):
        if coarse is not None:
            code = coarse(known)
            true[:, index] = code[true[:, index]]
            changed[index] = np.unique(np.stack([code[near[index][:, 0]], near[index][:, 1]], axis=1), axis=0)
    return true, changed


def knowledge_of(
    *, users: Ints, true: Ints, published: PublishedCodes, near: Sequence[Ints], people: int
) -> Knowledge:
    """The values of every user, and the published people consistent with each; arguments as in `right_guesses`.

    Values with the same candidates share one list.
    """
    known, first = _distinct(true)
    shown, first_shown = _distinct(published.values)
    group, reach_start, reach_values = grouped(*reach(true[first], published.values[first_shown], near))
    holder_start, holders = _lists(*_unique_pairs(shown, published.people), len(first_shown))
    sizes = np.diff(holder_start)[reach_values]
    if sizes.sum() > MOST_ENTRIES:
        raise UsageError(
            f"known: {int(sizes.sum()):,} pairs of a known value and somebody consistent with it are too many to hold; "
            "name fewer attributes, or measure a sample of people"
        )
    begin = np.repeat(holder_start[:-1][reach_values] - (np.cumsum(sizes) - sizes), sizes)
    found = np.repeat(np.repeat(np.arange(len(reach_start) - 1), np.diff(reach_start)), sizes)
    lists = by_first(found, holders[begin + np.arange(int(sizes.sum()))], len(reach_start) - 1)
    start, mine = by_first(users, known, people)
    named = np.flatnonzero(published.owner >= 0)
    own = by_first(published.owner[named], named, people)
    return Knowledge(start, group[mine], *lists, len(published.owner), *own)


def _distinct(matrix: Ints) -> tuple[Ints, Ints]:
    """The number of every row's vector, and an example row of each vector."""
    label, _ = classes(matrix)
    _, example = np.unique(label, return_index=True)
    return label, example.astype(np.int64)


def reach(true: Ints, shown: Ints, near: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Per true vector the published vectors consistent in every column, as start and list."""
    if not near:
        pairs = np.stack([np.zeros(len(shown), np.int64), np.arange(len(shown))], axis=1)
        return _lists(pairs[:, 0], pairs[:, 1], len(true))
    values = 1 + max(int(matrix.max(initial=0)) for matrix in (true, shown, *near))
    near_lists = [_lists(pairs[:, 0], pairs[:, 1], values) for pairs in near]
    holder_lists = [_lists(column, np.arange(len(shown)), values) for column in shown.T]
    return kernel.consistent(true, shown, *_joined(near_lists), *_joined(holder_lists))


def grouped(start: Ints, values: Ints) -> tuple[Ints, Ints, Ints]:
    """Vectors with the same candidates are one group: after recoding there are few of them."""
    seen: dict[bytes, int] = {}
    group, kept = np.empty(len(start) - 1, np.int64), []
    for row in range(len(start) - 1):
        mine = values[start[row] : start[row + 1]]
        name = mine.tobytes()
        if name not in seen:
            seen[name] = len(seen)
            kept.append(mine)
        group[row] = seen[name]
    ends = np.cumsum([0, *(len(mine) for mine in kept)])
    return group, ends.astype(np.int64), np.concatenate(kept) if kept else np.empty(0, np.int64)


def _unique_pairs(first: Ints, second: Ints) -> tuple[Ints, Ints]:
    pairs = np.unique(first * (int(second.max()) + 1) + second)
    width = int(second.max()) + 1
    return pairs // width, pairs % width


def _lists(first: Ints, second: Ints, size: int) -> tuple[Ints, Ints]:
    """The second numbers by the first: where each list starts, and the lists, ascending, one after another."""
    order = np.lexsort((second, first))
    return np.searchsorted(first[order], np.arange(size + 1)).astype(np.int64), second[order].astype(np.int64)


def _joined(lists: Sequence[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """The lists of all columns one after another: a row of starts per column."""
    before = np.cumsum([0, *(len(found) for _, found in lists[:-1])])
    starts = np.stack([start + offset for (start, _), offset in zip(lists, before)])
    return starts, np.concatenate([found for _, found in lists])
