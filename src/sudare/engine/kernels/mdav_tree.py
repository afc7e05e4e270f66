"""MDAV for large tables: the same kind of groups, found with a tree that forgets the rows it has given away."""

from __future__ import annotations

import numpy as np
from numba import njit

from sudare.engine.kernels.mdav import Floats, Ints

LEAF = 16
MANY = 200_000


@njit(cache=True)
def mdav_tree(values: Floats, k: int) -> Ints:
    """The group of every row: from the row furthest from the mean inwards, each with its k-1 nearest rows left.

    MDAV finds the mean of the rows left, and the furthest row, anew for every group; here the order is that
    of the distances from the mean of all rows, found once (of many rows: in a hundred shells). The nearest
    rows are exact (a k-d tree of live rows). The last rows, fewer than 2k, are one group.
    """
    n = values.shape[0]
    data, rows, nodes = _build(values)
    first, last, left, parent, alive, low, high = nodes
    place, leaf_of = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        place[rows[i]] = i
    for node in range(first.shape[0]):
        if left[node] < 0:
            leaf_of[first[node] : last[node]] = node
    out = np.full(n, -1)
    order = _inwards(_squares(values), place, n // 100 if n > MANY else 1)
    near, far = np.empty(k, np.int64), np.empty(k)
    stack, bound = np.empty(256, np.int64), np.empty(256)
    ends = last.copy()
    remaining, group = n, 0
    for row in order:
        while out[row] < 0:  # rows equal to it may be taken before it
            if remaining < 2 * k:
                out[row] = group
                break
            _nearest(data, first, ends, left, alive, low, high, values[row], near, far, stack, bound)
            for j in range(k):
                near[j] = rows[near[j]]
            for j in range(k):
                out[near[j]] = group
                i = place[near[j]]
                node = leaf_of[i]
                ends[node] -= 1
                _swap(data, rows, place, i, ends[node])
                while node >= 0:
                    alive[node] -= 1
                    node = parent[node]
            remaining -= k
            group += 1
    return out


@njit(cache=True)
def _inwards(squares: Floats, place: Ints, shell: int) -> Ints:
    """Rows from the furthest inwards, in shells of so many rows; within a shell neighbours of the tree together."""
    n = squares.shape[0]
    order = np.argsort(squares, kind="mergesort")[::-1].copy()
    for a in range(0, n, shell):
        part = order[a : a + shell].copy()
        order[a : a + shell] = part[np.argsort(place[part], kind="mergesort")]
    return order


@njit(cache=True)
def _squares(values: Floats) -> Floats:
    """Squared distances from the mean."""
    n, q = values.shape
    mean = np.zeros(q)
    for i in range(n):
        for c in range(q):
            mean[c] += values[i, c] / n
    out = np.zeros(n)
    for i in range(n):
        for c in range(q):
            out[i] += (values[i, c] - mean[c]) ** 2
    return out


@njit(cache=True)
def _build(
    values: Floats,
) -> tuple[Floats, Ints, tuple[Ints, Ints, Ints, Ints, Ints, Floats, Floats]]:
    """Rows in the order of a k-d tree (cut at the median of the widest column), and its nodes."""
    n, q = values.shape
    most = 4 * (n // LEAF + 1) + 1
    first, last = np.zeros(most, np.int64), np.zeros(most, np.int64)
    left, parent = np.full(most, -1), np.full(most, -1)
    low, high = np.empty((most, q)), np.empty((most, q))
    rows = np.arange(n)
    last[0] = n
    count, node = 1, 0
    while node < count:
        a, b = first[node], last[node]
        part = rows[a:b]
        widest, span = 0, -1.0
        for c in range(q):
            low[node, c] = high[node, c] = values[part[0], c]
            for i in range(1, b - a):
                low[node, c] = min(low[node, c], values[part[i], c])
                high[node, c] = max(high[node, c], values[part[i], c])
            if high[node, c] - low[node, c] > span:
                widest, span = c, high[node, c] - low[node, c]
        if b - a > LEAF and span > 0.0:
            middle = (a + b) // 2
            _select(values, rows, a, b - 1, middle, widest)
            left[node] = count
            for child in range(2):
                first[count + child] = a if child == 0 else middle
                last[count + child] = middle if child == 0 else b
                parent[count + child] = node
            count += 2
        node += 1
    data = np.empty((n, q))
    for i in range(n):
        for c in range(q):
            data[i, c] = values[rows[i], c]
    alive = last[:count] - first[:count]
    nodes = (first[:count], last[:count], left[:count], parent[:count], alive, low[:count], high[:count])
    return data, rows, nodes


@njit(cache=True)
def _select(values: Floats, rows: Ints, a: int, b: int, middle: int, c: int) -> None:
    """Rows a to b so that those before `middle` are not larger in column c, and those after not smaller."""
    while a < b:
        pivot = values[rows[(a + b) // 2], c]
        i, j = a, b
        while i <= j:
            while values[rows[i], c] < pivot:
                i += 1
            while values[rows[j], c] > pivot:
                j -= 1
            if i <= j:
                rows[i], rows[j] = rows[j], rows[i]
                i += 1
                j -= 1
        if middle <= j:
            b = j
        elif middle >= i:
            a = i
        else:
            return


@njit(cache=True)
def _nearest(
    data: Floats,
    first: Ints,
    ends: Ints,
    left: Ints,
    alive: Ints,
    low: Floats,
    high: Floats,
    point: Floats,
    near: Ints,
    far: Floats,
    stack: Ints,
    bound: Floats,
) -> None:
    """Fill `near` with the places of the nearest live rows (the row itself is one of them)."""
    k = near.shape[0]
    far[:] = np.inf
    stack[0], bound[0] = 0, 0.0
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if bound[depth] >= far[k - 1]:
            continue
        if left[node] >= 0:
            a, b = left[node], left[node] + 1
            da, db = _gap(low, high, a, point), _gap(low, high, b, point)
            if da < db:
                a, b, da, db = b, a, db, da
            if alive[a] > 0 and da < far[k - 1]:
                stack[depth], bound[depth] = a, da
                depth += 1
            if alive[b] > 0 and db < far[k - 1]:
                stack[depth], bound[depth] = b, db
                depth += 1
            continue
        for i in range(first[node], ends[node]):
            d = 0.0
            for c in range(point.shape[0]):
                d += (data[i, c] - point[c]) ** 2
            if d < far[k - 1]:
                j = k - 1
                while j > 0 and far[j - 1] > d:
                    far[j], near[j] = far[j - 1], near[j - 1]
                    j -= 1
                far[j], near[j] = d, i


@njit(cache=True)
def _gap(low: Floats, high: Floats, node: int, point: Floats) -> float:
    """Squared distance of a point from a node's box."""
    total = 0.0
    for c in range(point.shape[0]):
        if point[c] < low[node, c]:
            total += (low[node, c] - point[c]) ** 2
        elif point[c] > high[node, c]:
            total += (point[c] - high[node, c]) ** 2
    return total


@njit(cache=True)
def _swap(data: Floats, rows: Ints, place: Ints, i: int, j: int) -> None:
    for c in range(data.shape[1]):
        data[i, c], data[j, c] = data[j, c], data[i, c]
    rows[i], rows[j] = rows[j], rows[i]
    place[rows[i]], place[rows[j]] = i, j
