"""One-to-one assignment: nobody is two people, so all rows are matched at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.base import Candidates
from sudare.attacks.matching import Matching
from sudare.attacks.nearest import chosen_columns, chosen_quasi
from sudare.attacks.plugins.euclid import one_over_sd
from sudare.engine.answers import Blocks
from sudare.engine.pair import Pair
from sudare.registry import attack

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DENSE = 1500
NEIGHBOURS = 16
STEP = 1e-3


@attack
@dataclass(frozen=True, kw_only=True)
class Assignment(Matching):
    """Give every release row another original row so that the sum of squared standardised distances is
    least.

    Rows with equal quasi-identifiers are assigned among each other; with `fallback` (the default) those
    without an equal row are assigned among the original rows still free. Up to 1,500 rows the assignment
    is exact; beyond, it is an auction among each row's 16 nearest (within 0.1% of the mean distance per
    row), and a row that loses all of them gives up. Original rows that are equal in everything measured
    are interchangeable and stay tied.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> sudare.attack(patients, release, Assignment()).rows[0]["rate"]
    1.0
    """

    priority: ClassVar[int] = 95
    fallback: bool = True
    quasi: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None

    def match(self, pair: Pair) -> Candidates:
        columns = chosen_columns(pair, self.columns)
        blocks = pair.blocks(chosen_quasi(pair, self.quasi, columns))
        original, release = pair.points(columns)
        scale = one_over_sd(original)
        guesses = _assign_blocks(original * scale, release * scale, blocks)
        if self.fallback:
            _assign_rest(original * scale, release * scale, blocks, guesses)
        return _with_equals(guesses, original, release, blocks)

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        fits = pair.numeric() and max(pair.originals, pair.releases) <= DENSE
        return [cls()] if fits else []


def _assign_blocks(original: Floats, release: Floats, blocks: Blocks) -> Ints:
    from sudare.engine.kernels.groups import sort_into_groups

    rows, row_from = sort_into_groups(blocks.original, blocks.number)
    asked, asked_from = sort_into_groups(blocks.release, blocks.number)
    guesses = np.full(len(release), -1, np.int64)
    for block in np.flatnonzero((np.diff(row_from) > 0) & (np.diff(asked_from) > 0)):
        here = rows[row_from[block] : row_from[block + 1]]
        there = asked[asked_from[block] : asked_from[block + 1]]
        found = assign(original[here], release[there])
        guesses[there] = np.where(found >= 0, here[found], -1)
    return guesses


def _assign_rest(original: Floats, release: Floats, blocks: Blocks, guesses: Ints) -> None:
    """Rows without an equal row take from the original rows that nobody took."""
    known = np.zeros(blocks.number, np.bool_)
    known[blocks.original] = True
    lost = np.flatnonzero(~known[blocks.release])
    free = np.setdiff1d(np.arange(len(original)), guesses[guesses >= 0])
    if len(lost) and len(free):
        found = assign(original[free], release[lost])
        guesses[lost] = np.where(found >= 0, free[found], -1)


def assign(original: Floats, release: Floats) -> Ints:
    """For every release row its original row in the assignment with the least sum of squared distances,
    -1 = none.

    >>> assign(np.array([[0.0], [1.0]]), np.array([[0.9], [2.0]])).tolist()
    [0, 1]
    """
    if len(original) == 1 and len(release) == 1:
        return np.zeros(1, np.int64)
    return (_dense if max(len(original), len(release)) <= DENSE else _sparse)(original, release)


def _dense(original: Floats, release: Floats) -> Ints:
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    rows, columns = linear_sum_assignment(cdist(release, original, "sqeuclidean"))
    found = np.full(len(release), -1, np.int64)
    found[rows] = columns
    return found


def _sparse(original: Floats, release: Floats) -> Ints:
    """An auction among the nearest neighbours; who loses them all to rows that are nearer gives up."""
    from scipy.spatial import cKDTree

    from sudare.engine.kernels.auction import auction

    near = min(NEIGHBOURS, len(original))
    distance, found = cKDTree(original).query(release, k=near)
    costs = np.ascontiguousarray(distance.reshape(len(release), near) ** 2)
    step = STEP * float(costs.mean()) + 1e-12
    targets = np.ascontiguousarray(found.reshape(len(release), near), np.int64)
    chosen: Ints = auction(costs, targets, len(original), 2 * costs[:, -1] + 2 * step, step)
    return chosen


def _with_equals(guesses: Ints, original: Floats, release: Floats, blocks: Blocks) -> Candidates:
    """Equal release rows are as likely at each original row that one of them got, and a guessed original row
    stands for all that are equal to it: the order of rows decides nothing.
    """
    class_of, group_of = _equal(blocks.original, original), _equal(blocks.release, release)
    members = np.argsort(class_of, kind="stable").astype(np.int64)
    ends = np.cumsum(np.bincount(class_of)).astype(np.int64)
    begins = np.concatenate([[0], ends[:-1]])
    made = guesses >= 0
    width = len(ends)
    pairs, counts = np.unique(group_of[made] * width + class_of[guesses[made]], return_counts=True)
    group, found = pairs // width, pairs % width
    sizes = np.bincount(group_of)
    runs = np.bincount(group, minlength=len(sizes))
    offsets = np.concatenate([[0], np.cumsum(runs)]).astype(np.int64)
    set_of = np.where(runs[group_of] > 0, group_of, -1)
    return Candidates(members, set_of, offsets, begins[found], ends[found], counts / sizes[group])


def _equal(block_of: Ints, points: Floats) -> Ints:
    """The class of every row: rows of one block with equal points share it."""
    table = np.ascontiguousarray(np.column_stack([block_of.astype(np.float64), points + 0.0]))
    keys = table.view(np.dtype((np.void, table.dtype.itemsize * table.shape[1]))).ravel()
    return np.unique(keys, return_inverse=True)[1].ravel().astype(np.int64)
