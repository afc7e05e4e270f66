"""A k-d tree over weighted Euclidean distance that finds the nearest point and says whether it is alone.

The distance of a query q to a point p is sum_d ((q_d - p_d) w_d)^2, always computed in this form, in this
order and in float64: rows at equal distance compare equal, whichever way they were found. Two distances
tie when they differ by no more than the relative tolerance `tol`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

LEAF = 16
SLACK = 1.0 + 1e-12


class Tree(NamedTuple):
    """Nodes in depth-first order: the left child of node i is i + 1, the right one `right[i]` (0 = a
    leaf).
    """

    points: Floats
    order: Ints
    axis: Ints
    split: Floats
    right: Ints
    start: Ints
    stop: Ints
    depth: int


def build(points: Floats, weights: Floats) -> Tree:
    """A tree over the rows of `points`, split in the middle of the widest weighted side."""
    order = np.arange(len(points), dtype=np.int64)
    return Tree(*_build(np.ascontiguousarray(points), order, weights))


@njit(cache=True, nogil=True)
def _build(
    points: Floats, order: Ints, weights: Floats
) -> tuple[Floats, Ints, Ints, Floats, Ints, Ints, Ints, int]:
    rows = len(points)
    nodes = 2 * rows + 1
    axis, split = np.zeros(nodes, np.int64), np.zeros(nodes)
    right, start, stop = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    stack = np.empty((rows + 2, 4), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, rows, -1, 1
    top, count, depth = 1, 0, 1
    while top > 0:
        top -= 1
        first, last, parent, level = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        depth = max(depth, level)
        node = count
        count += 1
        if parent >= 0:
            right[parent] = node
        start[node], stop[node] = first, last
        if last - first <= LEAF:
            continue
        side, low, high = _widest(points, order, weights, first, last)
        if not high > low:
            continue
        middle = low + (high - low) / 2
        if not middle > low:
            middle = high
        cut = _partition(points, order, first, last, side, middle)
        axis[node], split[node] = side, middle
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = cut, last, node, level + 1
        stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2], stack[top + 1, 3] = first, cut, -1, level + 1
        top += 2
    return (
        points[order],
        order,
        axis[:count].copy(),
        split[:count].copy(),
        right[:count].copy(),
        start[:count].copy(),
        stop[:count].copy(),
        depth,
    )


@njit(cache=True, nogil=True)
def _widest(points: Floats, order: Ints, weights: Floats, first: int, last: int) -> tuple[int, float, float]:
    """The side with the largest weighted extent, and its ends."""
    least, most = points[order[first]].copy(), points[order[first]].copy()
    for i in range(first + 1, last):
        row = order[i]
        for d in range(points.shape[1]):
            value = points[row, d]
            if value < least[d]:
                least[d] = value
            elif value > most[d]:
                most[d] = value
    side = int(np.argmax((most - least) * weights))
    low, high = least[side], most[side]
    return side, low, high


@njit(cache=True, nogil=True)
def _partition(points: Floats, order: Ints, first: int, last: int, side: int, middle: float) -> int:
    """Move the rows below `middle` to the front; both parts are non-empty."""
    left, other = first, last - 1
    while left <= other:
        if points[order[left], side] < middle:
            left += 1
        else:
            order[left], order[other] = order[other], order[left]
            other -= 1
    return left


@njit(cache=True, nogil=True)
def nearest(
    tree: Tree, queries: Floats, weights: Floats, tol: float, best: Floats, found: Ints, tied: Flags
) -> None:
    """Fill, for every query, the squared distance of the nearest point, its row, and whether another
    point ties.
    """
    dims = queries.shape[1]
    points, order, axis, split, right = tree.points, tree.order, tree.axis, tree.split, tree.right
    nodes, bounds, sides = (
        np.empty(tree.depth + 1, np.int64),
        np.empty(tree.depth + 1),
        np.zeros((tree.depth + 1, dims)),
    )
    side = np.empty(dims)
    for q in range(len(queries)):
        near, row, tie = np.inf, -1, False
        nodes[0], bounds[0] = 0, 0.0
        sides[0, :] = 0.0
        top = 1
        while top > 0:
            top -= 1
            node, bound = nodes[top], bounds[top]
            if bound > near * SLACK:
                continue
            side[:] = sides[top]
            while right[node] > 0:
                d = axis[node]
                gap = (queries[q, d] - split[node]) * weights[d]
                far = bound - side[d] + gap * gap
                other, node = (right[node], node + 1) if gap < 0 else (node + 1, right[node])
                if far <= near * SLACK:
                    nodes[top], bounds[top] = other, far
                    sides[top, :] = side
                    sides[top, d] = gap * gap
                    top += 1
            for i in range(tree.start[node], tree.stop[node]):
                total = 0.0
                for d in range(dims):
                    gap = (queries[q, d] - points[i, d]) * weights[d]
                    total += gap * gap
                if total < near * (1.0 - tol):
                    near, row, tie = total, order[i], False
                elif total <= near * (1.0 + tol):
                    tie = True
                    if total < near:
                        near, row = total, order[i]
        best[q], found[q], tied[q] = near, row, tie


@njit(cache=True, nogil=True)
def within(tree: Tree, queries: Floats, weights: Floats, limits: Floats, offsets: Ints, rows: Ints) -> Ints:
    """The rows within the squared distance `limits`: counted, and listed from `offsets` on where `rows`
    has room.
    """
    dims = queries.shape[1]
    points, axis, split, right = tree.points, tree.axis, tree.split, tree.right
    nodes = np.empty(tree.depth + 1, np.int64)
    counts = np.zeros(len(queries), np.int64)
    for q in range(len(queries)):
        nodes[0], top = 0, 1
        while top > 0:
            top -= 1
            node = nodes[top]
            while right[node] > 0:
                gap = (queries[q, axis[node]] - split[node]) * weights[axis[node]]
                other, node = (right[node], node + 1) if gap < 0 else (node + 1, right[node])
                if gap * gap <= limits[q] * SLACK:
                    nodes[top] = other
                    top += 1
            for i in range(tree.start[node], tree.stop[node]):
                total = 0.0
                for d in range(dims):
                    gap = (queries[q, d] - points[i, d]) * weights[d]
                    total += gap * gap
                if total <= limits[q]:
                    if len(rows) > 0:
                        rows[offsets[q] + counts[q]] = tree.order[i]
                    counts[q] += 1
    return counts
