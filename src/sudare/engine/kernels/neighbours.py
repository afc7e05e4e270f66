"""Exact nearest neighbours within blocks, ties included: brute force in small blocks, a k-d tree in large
ones.

Equal points of a larger block are stored once, so that a thousand equal rows are one candidate run and not a
thousand ties. Memory grows with the rows and with the ties between unequal points, never with pairs.
"""

from __future__ import annotations

import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sudare.engine.kernels import kdtree
from sudare.engine.kernels.groups import mix, sort_into_groups

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SMALL = 300
TINY = 12
PARALLEL = 20_000
NO_ROWS = np.empty(0, np.int64)


class Runs(NamedTuple):
    """Nearest rows as runs of `members`: query q owns the runs `offsets[set_of[q]]` up to the next; -1 =
    no block.
    """

    members: Ints
    set_of: Ints
    offsets: Ints
    starts: Ints
    stops: Ints


class Distinct(NamedTuple):
    """The distinct points of every block: point p stands for the rows `members[starts[p]:starts[p + 1]]`, and
    its coordinates are those of the first of them.
    """

    members: Ints
    starts: Ints
    blocks: Ints


def nearest_rows(
    points: Floats,
    block_of: Ints,
    queries: Floats,
    query_block: Ints,
    blocks: int,
    weights: Floats,
    tol: float = 0.0,
) -> Runs:
    """For every query the rows of its block at the least weighted Euclidean distance, all of them.

    A query whose block is -1 or empty has no set.

    >>> one = np.zeros(3, np.int64)
    >>> runs = nearest_rows(np.array([[0.0], [2.0], [2.0]]), one, np.array([[1.0]]), one[:1], 1, np.ones(1))
    >>> runs.members[runs.starts[0] : runs.stops[-1]].tolist()
    [0, 1, 2]
    """
    points, queries = np.ascontiguousarray(points), np.ascontiguousarray(queries)
    distinct = Distinct(*_distinct(points, block_of, blocks))
    asked, asked_from = sort_into_groups(query_block, blocks)
    search = _Search(points, distinct, queries, asked, asked_from, weights, tol)
    listed = [search.small_blocks()]
    large = (np.diff(distinct.blocks) >= SMALL) & (np.diff(asked_from) > 0)
    listed += [search.large_block(int(block)) for block in np.flatnonzero(large)]
    offsets, nearest = _listed_by_query(search.found, search.tied, listed)
    set_of = np.full(len(queries), -1, np.int64)
    set_of[asked] = np.where(search.found >= 0, np.arange(len(asked)), -1)
    return Runs(distinct.members, set_of, offsets, distinct.starts[nearest], distinct.starts[nearest + 1])


class _Search:
    """The state of one search: for every query (ordered by block) its nearest point and whether it is
    alone.
    """

    def __init__(
        self,
        points: Floats,
        distinct: Distinct,
        queries: Floats,
        asked: Ints,
        asked_from: Ints,
        weights: Floats,
        tol: float,
    ) -> None:
        self.points, self.distinct = points, distinct
        self.queries, self.asked, self.asked_from = queries, asked, asked_from
        self.weights, self.tol = weights, tol
        self.best = np.zeros(len(asked))
        self.found = np.full(len(asked), -1, np.int64)
        self.tied = np.zeros(len(asked), np.bool_)

    def small_blocks(self) -> tuple[Ints, Ints]:
        """Search all small blocks; the pairs (query, point) of the queries that tie."""
        work = (self.points, *self.distinct, self.queries, self.asked, self.asked_from, self.weights)
        _brute(*work, self.tol, SMALL, self.best, self.found, self.tied)
        tied, limits = np.flatnonzero(self.tied), self.best * (1.0 + self.tol)
        block = np.searchsorted(self.asked_from, tied, side="right") - 1
        counts = _brute_within(*work, tied, block, limits, NO_ROWS, NO_ROWS)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        points = np.empty(offsets[-1], np.int64)
        if len(points):
            _brute_within(*work, tied, block, limits, offsets, points)
        return np.repeat(tied, counts), points

    def large_block(self, block: int) -> tuple[Ints, Ints]:
        """Search one large block; the pairs (query, point) of the queries that tie."""
        members, starts, blocks = self.distinct
        begin, end = blocks[block], blocks[block + 1]
        part = slice(self.asked_from[block], self.asked_from[block + 1])
        tree = kdtree.build(self.points[members[starts[begin:end]]], self.weights)
        filled = (self.best[part], self.found[part], self.tied[part])
        _in_threads(tree, self.queries[self.asked[part]], self.weights, self.tol, *filled)
        self.found[part] += begin
        tied = self.asked_from[block] + np.flatnonzero(self.tied[part])
        queries, limits = self.queries[self.asked[tied]], self.best[tied] * (1.0 + self.tol)
        counts = kdtree.within(tree, queries, self.weights, limits, NO_ROWS, NO_ROWS)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        points = np.empty(offsets[-1], np.int64)
        if len(points):
            kdtree.within(tree, queries, self.weights, limits, offsets, points)
        return np.repeat(tied, counts), points + begin


def _in_threads(
    tree: kdtree.Tree,
    queries: Floats,
    weights: Floats,
    tol: float,
    best: Floats,
    found: Ints,
    tied: NDArray[np.bool_],
) -> None:
    """Search the tree, in as many threads as there are processors when there is enough to do."""
    threads = min(os.cpu_count() or 1, len(queries) // PARALLEL)
    if threads < 2:
        kdtree.nearest(tree, queries, weights, tol, best, found, tied)
        return
    cuts = np.linspace(0, len(queries), 4 * threads + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:
        parts = [slice(a, b) for a, b in itertools.pairwise(cuts)]
        list(
            pool.map(
                lambda part: kdtree.nearest(
                    tree, queries[part], weights, tol, best[part], found[part], tied[part]
                ),
                parts,
            )
        )


def _listed_by_query(
    found: Ints, tied: NDArray[np.bool_], listed: list[tuple[Ints, Ints]]
) -> tuple[Ints, Ints]:
    """The nearest points of every query, ascending: the one found, or all that tie."""
    known = found >= 0
    if not any(len(queries) for queries, _ in listed):
        return np.concatenate([[0], np.cumsum(known)]), found if known.all() else found[known]
    alone = np.flatnonzero(known & ~tied)
    query = np.concatenate([alone, *(q for q, _ in listed)])
    point = np.concatenate([found[alone], *(p for _, p in listed)])
    sort = np.lexsort((point, query))
    query, point = query[sort], point[sort]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(query, minlength=len(found)))])
    return offsets.astype(np.int64), point


@njit(cache=True, nogil=True)
def _distinct(points: Floats, block_of: Ints, blocks: int) -> tuple[Ints, Ints, Ints]:
    """Bring equal points of a block together; in a tiny block every row stays a point of its own."""
    members, offsets = sort_into_groups(block_of, blocks)
    starts = np.empty(len(members) + 1, np.int64)
    begins = np.empty(blocks + 1, np.int64)
    count = 0
    for block in range(blocks):
        begins[block] = count
        part = members[offsets[block] : offsets[block + 1]]
        if len(part) > TINY:
            part[:] = part[np.argsort(_hashes(points, part), kind="mergesort")]
        for i in range(len(part)):
            if i == 0 or len(part) <= TINY or _unequal(points, part[i], part[i - 1]):
                starts[count] = offsets[block] + i
                count += 1
    begins[blocks] = count
    starts[count] = len(members)
    return members, starts[: count + 1], begins


@njit(cache=True, nogil=True)
def _hashes(points: Floats, rows: Ints) -> NDArray[np.uint64]:
    hashes = np.empty(len(rows), np.uint64)
    for i in range(len(rows)):
        word = np.uint64(0)
        for d in range(points.shape[1]):
            bits = np.float64(points[rows[i], d] + 0.0).view(np.uint64)  # -0.0 is 0.0
            word = mix(word * np.uint64(0x9E3779B97F4A7C15) + bits)
        hashes[i] = word
    return hashes


@njit(cache=True, nogil=True)
def _unequal(points: Floats, a: int, b: int) -> bool:
    for d in range(points.shape[1]):  # noqa: SIM110
        if points[a, d] != points[b, d]:
            return True
    return False


@njit(cache=True, nogil=True)
def _brute(
    points: Floats,
    members: Ints,
    starts: Ints,
    blocks: Ints,
    queries: Floats,
    asked: Ints,
    asked_from: Ints,
    weights: Floats,
    tol: float,
    small: int,
    best: Floats,
    found: Ints,
    tied: NDArray[np.bool_],
) -> None:
    """Search every block with fewer than `small` points; those of one block lie side by side meanwhile."""
    dims = queries.shape[1]
    near_by, query = np.empty((small, dims)), np.empty(dims)
    for block in range(len(blocks) - 1):
        begin, end = blocks[block], blocks[block + 1]
        if end - begin >= small or end == begin or asked_from[block] == asked_from[block + 1]:
            continue
        for i in range(end - begin):
            for d in range(dims):
                near_by[i, d] = points[members[starts[begin + i]], d]
        for q in range(asked_from[block], asked_from[block + 1]):
            for d in range(dims):
                query[d] = queries[asked[q], d]
            near, row, tie = np.inf, -1, False
            for i in range(end - begin):
                total = 0.0
                for d in range(dims):
                    gap = (query[d] - near_by[i, d]) * weights[d]
                    total += gap * gap
                if total < near * (1.0 - tol):
                    near, row, tie = total, i, False
                elif total <= near * (1.0 + tol):
                    tie = True
                    if total < near:
                        near, row = total, i
            best[q], found[q], tied[q] = near, (begin + row if row >= 0 else -1), tie


@njit(cache=True, nogil=True)
def _brute_within(
    points: Floats,
    members: Ints,
    starts: Ints,
    blocks: Ints,
    queries: Floats,
    asked: Ints,
    asked_from: Ints,
    weights: Floats,
    chosen: Ints,
    block: Ints,
    limits: Floats,
    offsets: Ints,
    rows: Ints,
) -> Ints:
    """Count, and list where `rows` has room, the points of the block within the squared distance `limits`."""
    counts = np.zeros(len(chosen), np.int64)
    for c in range(len(chosen)):
        q = chosen[c]
        for i in range(blocks[block[c]], blocks[block[c] + 1]):
            total = 0.0
            for d in range(queries.shape[1]):
                gap = (queries[asked[q], d] - points[members[starts[i]], d]) * weights[d]
                total += gap * gap
            if total <= limits[q]:
                if len(rows) > 0:
                    rows[offsets[c] + counts[c]] = i
                counts[c] += 1
    return counts
