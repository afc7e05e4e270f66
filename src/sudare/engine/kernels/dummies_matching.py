"""Minimum-weight perfect matching of a complete graph: Edmonds' blossom algorithm in its dense O(n^3) form.

The primal-dual method over all trees at once: vertices carry duals, tight edges grow alternating trees from
the free vertices, an odd cycle is shrunk into a blossom (a vertex of its own, numbered above n), two trees that
meet are an augmenting path. Vertices are numbered from 1; 0 means none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

OUTER, INNER, FREE = 0, 1, -1
DUAL, MATE, SLACK, TOP, PARENT, KIND, SEEN, LENGTH = range(8)
Longs = NDArray[np.int64]


class Forest(NamedTuple):
    """The state. Few arrays, for each one costs compile time in every function.

    `edge[:, a, b]` are the ends of the best edge between a and b. Of a vertex or blossom: its dual, whom it is
    matched to, the vertex with the least slack, the outermost blossom around it, its parent in the tree, whether
    it is outer, inner or free, the last search that saw it, and the length of its cycle.
    """

    weight: Longs
    edge: Longs
    vertex: Longs
    inside: Longs  # the petal of a blossom that holds a vertex
    petals: Longs  # the cycle of a blossom
    queue: Longs
    stack: Longs
    numbers: Longs  # vertices, vertices and blossoms, head of the queue, end of the queue, searches


def perfect_matching(cost: Longs) -> Longs:
    """The partner of every vertex in the cheapest perfect matching; `cost` is symmetric, n even.

    >>> perfect_matching(np.array([[0, 9, 1, 9], [9, 0, 9, 1], [1, 9, 0, 9], [9, 1, 9, 0]])).tolist()
    [2, 3, 0, 1]
    """
    n = len(cost)
    if n == 0:
        return np.empty(0, np.int64)
    weight = np.zeros((n + 1, n + 1), np.int64)
    weight[1:, 1:] = 2 * (int(cost.max()) + 1 - cost)  # even, so that duals stay whole
    np.fill_diagonal(weight, 0)
    forest = _forest(weight)
    _match_all(forest)
    return forest.vertex[MATE, 1 : n + 1] - 1


def _forest(weight: Longs) -> Forest:
    n = len(weight) - 1
    size = n + n // 2 + 2
    vertices = np.arange(1, n + 1)
    edge = np.zeros((2, size, size), np.int64)
    edge[0, 1 : n + 1, 1 : n + 1] = vertices[:, None]
    edge[1, 1 : n + 1, 1 : n + 1] = vertices[None, :]
    edge[0, vertices, vertices] = 0
    vertex = np.zeros((8, size), np.int64)
    vertex[DUAL, 1 : n + 1] = weight[1:, 1:].max(axis=1)
    vertex[TOP, vertices] = vertices
    inside = np.zeros((size, n + 1), np.int64)
    inside[vertices, vertices] = vertices
    queue, stack = np.zeros(64 * size, np.int64), np.zeros(4 * size, np.int64)
    return Forest(
        weight, edge, vertex, inside, np.zeros_like(inside), queue, stack, np.array([n, n, 0, 0, 0])
    )


@njit(cache=True, nogil=True)
def _match_all(f: Forest) -> None:
    n = f.numbers[0]
    for u in range(1, n + 1):  # a greedy start on tight edges
        if f.vertex[MATE, u] == 0:
            for v in range(1, n + 1):
                if (
                    v != u
                    and f.vertex[MATE, v] == 0
                    and f.vertex[DUAL, u] + f.vertex[DUAL, v] == 2 * f.weight[u, v]
                ):
                    f.vertex[MATE, u], f.vertex[MATE, v] = v, u
                    break
    while _grow(f):
        pass


@njit(cache=True, nogil=True)
def _excess(f: Forest, a: int, b: int) -> Any:
    """How far the best edge between a and b is from tight."""
    u, v = f.edge[0, a, b], f.edge[1, a, b]
    return f.vertex[DUAL, u] + f.vertex[DUAL, v] - 2 * f.weight[u, v]


@njit(cache=True, nogil=True)
def _update_slack(f: Forest, u: int, x: int) -> None:
    if f.vertex[SLACK, x] == 0 or _excess(f, u, x) < _excess(f, f.vertex[SLACK, x], x):
        f.vertex[SLACK, x] = u


@njit(cache=True, nogil=True)
def _set_slack(f: Forest, x: int) -> None:
    f.vertex[SLACK, x] = 0
    for u in range(1, f.numbers[0] + 1):
        if f.edge[0, u, x] > 0 and f.vertex[TOP, u] != x and f.vertex[KIND, f.vertex[TOP, u]] == OUTER:
            _update_slack(f, u, x)


@njit(cache=True, nogil=True)
def _push(f: Forest, x: int) -> None:
    """Queue the vertices of x."""
    f.stack[0], depth = x, 1
    while depth > 0:
        depth -= 1
        y = f.stack[depth]
        if y <= f.numbers[0]:
            f.queue[f.numbers[3] % f.queue.size] = y
            f.numbers[3] += 1
        else:
            for i in range(f.vertex[LENGTH, y] - 1, -1, -1):
                f.stack[depth] = f.petals[y, i]
                depth += 1


@njit(cache=True, nogil=True)
def _set_top(f: Forest, x: int, blossom: int) -> None:
    """Everything within x belongs to `blossom`."""
    f.stack[0], depth = x, 1
    while depth > 0:
        depth -= 1
        y = f.stack[depth]
        f.vertex[TOP, y] = blossom
        if y > f.numbers[0]:
            for i in range(f.vertex[LENGTH, y]):
                f.stack[depth] = f.petals[y, i]
                depth += 1


@njit(cache=True, nogil=True)
def _reverse(row: Longs, start: int, end: int) -> None:
    while start < end - 1:
        end -= 1
        row[start], row[end] = row[end], row[start]
        start += 1


@njit(cache=True, nogil=True)
def _even_place(f: Forest, b: int, petal: int) -> Any:
    """The place of a petal, walking round the blossom in the direction in which it is even."""
    place = 0
    while f.petals[b, place] != petal:
        place += 1
    if place % 2 == 1:
        _reverse(f.petals[b], 1, f.vertex[LENGTH, b])
        return f.vertex[LENGTH, b] - place
    return place


@njit(cache=True, nogil=True)
def _set_mate(f: Forest, u: int, v: int) -> None:
    """Match u to v and, inside the blossom u, everything else along it."""
    f.stack[0], f.stack[1], depth = u, v, 2
    while depth > 0:
        depth -= 2
        u, v = f.stack[depth], f.stack[depth + 1]
        f.vertex[MATE, u] = f.edge[1, u, v]
        if u <= f.numbers[0]:
            continue
        petal = f.inside[u, f.edge[0, u, v]]
        place = _even_place(f, u, petal)
        for i in range(place):
            f.stack[depth], f.stack[depth + 1] = f.petals[u, i], f.petals[u, i ^ 1]
            depth += 2
        f.stack[depth], f.stack[depth + 1] = petal, v
        depth += 2
        _rotate(f.petals[u], place, f.vertex[LENGTH, u])


@njit(cache=True, nogil=True)
def _rotate(row: Longs, places: int, length: int) -> None:
    """Turn a row to the left, by three reversals."""
    _reverse(row, 0, places)
    _reverse(row, places, length)
    _reverse(row, 0, length)


@njit(cache=True, nogil=True)
def _augment(f: Forest, u: int, v: int) -> None:
    while True:
        before = f.vertex[TOP, f.vertex[MATE, u]]
        _set_mate(f, u, v)
        if before == 0:
            return
        above = f.vertex[TOP, f.vertex[PARENT, before]]
        _set_mate(f, before, above)
        u, v = above, before


@njit(cache=True, nogil=True)
def _meeting(f: Forest, u: int, v: int) -> Any:
    """The first common ancestor in the trees, 0 when u and v are in different trees."""
    f.numbers[4] += 1
    while u != 0 or v != 0:
        if u != 0:
            if f.vertex[SEEN, u] == f.numbers[4]:
                return u
            f.vertex[SEEN, u] = f.numbers[4]
            u = f.vertex[TOP, f.vertex[MATE, u]]
            if u != 0:
                u = f.vertex[TOP, f.vertex[PARENT, u]]
        u, v = v, u
    return 0


@njit(cache=True, nogil=True)
def _climb(f: Forest, b: int, x: int, root: int) -> None:
    """Add to blossom b what lies between x and the root of the cycle."""
    while x != root:
        y = f.vertex[TOP, f.vertex[MATE, x]]
        f.petals[b, f.vertex[LENGTH, b]] = x
        f.petals[b, f.vertex[LENGTH, b] + 1] = y
        f.vertex[LENGTH, b] += 2
        _push(f, y)
        x = f.vertex[TOP, f.vertex[PARENT, y]]


@njit(cache=True, nogil=True)
def _shrink(f: Forest, u: int, root: int, v: int) -> None:
    n = f.numbers[0]
    b = n + 1
    while b <= f.numbers[1] and f.vertex[TOP, b] != 0:
        b += 1
    f.numbers[1] = max(f.numbers[1], b)
    f.vertex[DUAL, b], f.vertex[KIND, b], f.vertex[MATE, b] = 0, OUTER, f.vertex[MATE, root]
    f.petals[b, 0], f.vertex[LENGTH, b] = root, 1
    _climb(f, b, u, root)
    _reverse(f.petals[b], 1, f.vertex[LENGTH, b])
    _climb(f, b, v, root)
    _set_top(f, b, b)
    for x in range(f.vertex.shape[1]):
        f.edge[0, b, x], f.edge[0, x, b] = 0, 0
    for x in range(n + 1):
        f.inside[b, x] = 0
    for i in range(f.vertex[LENGTH, b]):
        petal = f.petals[b, i]
        for x in range(1, f.numbers[1] + 1):
            if f.edge[0, petal, x] > 0 and (f.edge[0, b, x] == 0 or _excess(f, petal, x) < _excess(f, b, x)):
                f.edge[0, b, x], f.edge[1, b, x] = f.edge[0, petal, x], f.edge[1, petal, x]
                f.edge[0, x, b], f.edge[1, x, b] = f.edge[1, petal, x], f.edge[0, petal, x]
        for x in range(1, n + 1):
            if f.inside[petal, x] > 0:
                f.inside[b, x] = petal
    _set_slack(f, b)


@njit(cache=True, nogil=True)
def _expand(f: Forest, b: int) -> None:
    for i in range(f.vertex[LENGTH, b]):
        _set_top(f, f.petals[b, i], f.petals[b, i])
    entry = f.inside[b, f.edge[0, b, f.vertex[PARENT, b]]]
    place = _even_place(f, b, entry)
    for i in range(0, place, 2):
        inner, outer = f.petals[b, i], f.petals[b, i + 1]
        f.vertex[PARENT, inner] = f.edge[0, outer, inner]
        f.vertex[KIND, inner], f.vertex[KIND, outer] = INNER, OUTER
        f.vertex[SLACK, inner] = 0
        _set_slack(f, outer)
        _push(f, outer)
    f.vertex[KIND, entry], f.vertex[PARENT, entry] = INNER, f.vertex[PARENT, b]
    for i in range(place + 1, f.vertex[LENGTH, b]):
        f.vertex[KIND, f.petals[b, i]] = FREE
        _set_slack(f, f.petals[b, i])
    f.vertex[TOP, b] = 0


@njit(cache=True, nogil=True)
def _tight(f: Forest, a: int, b: int) -> Any:
    """Use a tight edge: grow a tree, shrink a cycle or augment (then True)."""
    end = f.edge[0, a, b]
    u, v = f.vertex[TOP, end], f.vertex[TOP, f.edge[1, a, b]]
    if f.vertex[KIND, v] == FREE:
        f.vertex[PARENT, v], f.vertex[KIND, v] = end, INNER
        partner = f.vertex[TOP, f.vertex[MATE, v]]
        f.vertex[SLACK, v], f.vertex[SLACK, partner] = 0, 0
        f.vertex[KIND, partner] = OUTER
        _push(f, partner)
    elif f.vertex[KIND, v] == OUTER:
        root = _meeting(f, u, v)
        if root == 0:
            _augment(f, u, v)
            _augment(f, v, u)
            return True
        _shrink(f, u, root, v)
    return False


@njit(cache=True, nogil=True)
def _plant(f: Forest) -> bool:
    """Every free vertex or blossom becomes the root of a tree; False when there is none."""
    f.numbers[2], f.numbers[3] = 0, 0
    for x in range(1, f.numbers[1] + 1):
        f.vertex[KIND, x], f.vertex[SLACK, x] = FREE, 0
    for x in range(1, f.numbers[1] + 1):
        if f.vertex[TOP, x] == x and f.vertex[MATE, x] == 0:
            f.vertex[PARENT, x], f.vertex[KIND, x] = 0, OUTER
            _push(f, x)
    return bool(f.numbers[3] > 0)


@njit(cache=True, nogil=True)
def _scan(f: Forest) -> Any:
    n = f.numbers[0]
    while f.numbers[2] < f.numbers[3]:
        u = f.queue[f.numbers[2] % f.queue.size]
        f.numbers[2] += 1
        if f.vertex[KIND, f.vertex[TOP, u]] == INNER:
            continue
        for v in range(1, n + 1):
            if v != u and f.vertex[TOP, u] != f.vertex[TOP, v]:
                if _excess(f, u, v) == 0:
                    if _tight(f, u, v):
                        return True
                else:
                    _update_slack(f, u, f.vertex[TOP, v])
    return False


@njit(cache=True, nogil=True)
def _shift(f: Forest) -> None:
    """Change the duals by the largest step that keeps them feasible."""
    n, last = f.numbers[0], f.numbers[1]
    step = np.int64(1) << 60
    for x in range(1, last + 1):
        if f.vertex[TOP, x] != x:
            continue
        if x > n and f.vertex[KIND, x] == INNER:
            step = min(step, f.vertex[DUAL, x] // 2)
        if f.vertex[SLACK, x] > 0 and f.vertex[KIND, x] == FREE:
            step = min(step, _excess(f, f.vertex[SLACK, x], x))
        elif f.vertex[SLACK, x] > 0 and f.vertex[KIND, x] == OUTER:
            step = min(step, _excess(f, f.vertex[SLACK, x], x) // 2)
    for u in range(1, n + 1):
        kind = f.vertex[KIND, f.vertex[TOP, u]]
        f.vertex[DUAL, u] += step if kind == INNER else (-step if kind == OUTER else 0)
    for b in range(n + 1, last + 1):
        if f.vertex[TOP, b] == b:
            f.vertex[DUAL, b] += (
                2 * step if f.vertex[KIND, b] == OUTER else (-2 * step if f.vertex[KIND, b] == INNER else 0)
            )


@njit(cache=True, nogil=True)
def _grow(f: Forest) -> Any:
    """Grow the trees until a path is augmented; False when everybody is matched."""
    if not _plant(f):
        return False
    while True:
        if _scan(f):
            return True
        _shift(f)
        f.numbers[2], f.numbers[3] = 0, 0
        for x in range(1, f.numbers[1] + 1):
            s = f.vertex[SLACK, x]
            if (
                f.vertex[TOP, x] == x
                and s > 0
                and f.vertex[TOP, s] != x
                and _excess(f, s, x) == 0
                and _tight(f, s, x)
            ):
                return True
        for b in range(f.numbers[0] + 1, f.numbers[1] + 1):
            if f.vertex[TOP, b] == b and f.vertex[KIND, b] == INNER and f.vertex[DUAL, b] == 0:
                _expand(f, b)
