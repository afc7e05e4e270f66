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
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


class Forest(NamedTuple):
    """The state: `top` is the outermost blossom of a vertex, `from_u`/`from_v` the best edge between two."""

    weight: Longs
    from_u: Ints
    from_v: Ints
    dual: Longs
    mate: Ints
    slack: Ints
    top: Ints
    parent: Ints
    inside: Ints
    kind: Ints
    seen: Ints
    petals: Ints
    length: Ints
    queue: Ints
    stack: Ints
    count: Longs  # vertices, vertices and blossoms, head of the queue, end of the queue, search number


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
    return forest.mate[1 : n + 1].astype(np.int64) - 1


def _forest(weight: Longs) -> Forest:
    n = len(weight) - 1
    size = n + n // 2 + 2
    from_u, from_v = np.zeros((size, size), np.int32), np.zeros((size, size), np.int32)
    vertices = np.arange(1, n + 1, dtype=np.int32)
    from_u[1 : n + 1, 1 : n + 1] = vertices[:, None]
    from_v[1 : n + 1, 1 : n + 1] = vertices[None, :]
    np.fill_diagonal(from_u, 0)
    dual = np.zeros(size, np.int64)
    dual[1 : n + 1] = weight[1:, 1:].max(axis=1)
    inside = np.zeros((size, n + 1), np.int32)
    inside[vertices, vertices] = vertices
    top = np.zeros(size, np.int32)
    top[vertices] = vertices

    def blank() -> Ints:
        return np.zeros(size, np.int32)

    return Forest(
        weight, from_u, from_v, dual, blank(), blank(), top, blank(), inside, blank(), blank(),
        np.zeros((size, n + 1), np.int32), blank(), np.zeros(64 * size, np.int32), np.zeros(4 * size, np.int32),
        np.array([n, n, 0, 0, 0], np.int64),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _match_all(f: Forest) -> None:
    n = f.count[0]
    for u in range(1, n + 1):  # a greedy start on tight edges
        if f.mate[u] == 0:
            for v in range(1, n + 1):
                if v != u and f.mate[v] == 0 and f.dual[u] + f.dual[v] == 2 * f.weight[u, v]:
                    f.mate[u], f.mate[v] = v, u
                    break
    while _grow(f):
        pass


@njit(cache=True, nogil=True)
def _excess(f: Forest, a: int, b: int) -> Any:
    """How far the best edge between a and b is from tight."""
    u, v = f.from_u[a, b], f.from_v[a, b]
    return f.dual[u] + f.dual[v] - 2 * f.weight[u, v]


@njit(cache=True, nogil=True)
def _update_slack(f: Forest, u: int, x: int) -> None:
    if f.slack[x] == 0 or _excess(f, u, x) < _excess(f, f.slack[x], x):
        f.slack[x] = u


@njit(cache=True, nogil=True)
def _set_slack(f: Forest, x: int) -> None:
    f.slack[x] = 0
    for u in range(1, f.count[0] + 1):
        if f.from_u[u, x] > 0 and f.top[u] != x and f.kind[f.top[u]] == OUTER:
            _update_slack(f, u, x)


@njit(cache=True, nogil=True)
def _push(f: Forest, x: int) -> None:
    """Queue the vertices of x."""
    f.stack[0], depth = x, 1
    while depth > 0:
        depth -= 1
        y = f.stack[depth]
        if y <= f.count[0]:
            f.queue[f.count[3] % f.queue.size] = y
            f.count[3] += 1
        else:
            for i in range(f.length[y] - 1, -1, -1):
                f.stack[depth] = f.petals[y, i]
                depth += 1


@njit(cache=True, nogil=True)
def _set_top(f: Forest, x: int, blossom: int) -> None:
    """Everything within x belongs to `blossom`."""
    f.stack[0], depth = x, 1
    while depth > 0:
        depth -= 1
        y = f.stack[depth]
        f.top[y] = blossom
        if y > f.count[0]:
            for i in range(f.length[y]):
                f.stack[depth] = f.petals[y, i]
                depth += 1


@njit(cache=True, nogil=True)
def _reverse(row: Ints, start: int, end: int) -> None:
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
        _reverse(f.petals[b], 1, f.length[b])
        return f.length[b] - place
    return place


@njit(cache=True, nogil=True)
def _set_mate(f: Forest, u: int, v: int) -> None:
    """Match u to v and, inside the blossom u, everything else along it."""
    f.stack[0], f.stack[1], depth = u, v, 2
    while depth > 0:
        depth -= 2
        u, v = f.stack[depth], f.stack[depth + 1]
        f.mate[u] = f.from_v[u, v]
        if u <= f.count[0]:
            continue
        petal = f.inside[u, f.from_u[u, v]]
        place = _even_place(f, u, petal)
        for i in range(place):
            f.stack[depth], f.stack[depth + 1] = f.petals[u, i], f.petals[u, i ^ 1]
            depth += 2
        f.stack[depth], f.stack[depth + 1] = petal, v
        depth += 2
        _rotate(f.petals[u], place, f.length[u])


@njit(cache=True, nogil=True)
def _rotate(row: Ints, places: int, length: int) -> None:
    turned = np.empty(length, np.int32)
    for i in range(length):
        turned[i] = row[(i + places) % length]
    row[:length] = turned


@njit(cache=True, nogil=True)
def _augment(f: Forest, u: int, v: int) -> None:
    while True:
        before = f.top[f.mate[u]]
        _set_mate(f, u, v)
        if before == 0:
            return
        above = f.top[f.parent[before]]
        _set_mate(f, before, above)
        u, v = above, before


@njit(cache=True, nogil=True)
def _meeting(f: Forest, u: int, v: int) -> Any:
    """The first common ancestor in the trees, 0 when u and v are in different trees."""
    f.count[4] += 1
    while u != 0 or v != 0:
        if u != 0:
            if f.seen[u] == f.count[4]:
                return u
            f.seen[u] = f.count[4]
            u = f.top[f.mate[u]]
            if u != 0:
                u = f.top[f.parent[u]]
        u, v = v, u
    return 0


@njit(cache=True, nogil=True)
def _climb(f: Forest, b: int, x: int, root: int) -> None:
    """Add to blossom b what lies between x and the root of the cycle."""
    while x != root:
        y = f.top[f.mate[x]]
        f.petals[b, f.length[b]] = x
        f.petals[b, f.length[b] + 1] = y
        f.length[b] += 2
        _push(f, y)
        x = f.top[f.parent[y]]


@njit(cache=True, nogil=True)
def _shrink(f: Forest, u: int, root: int, v: int) -> None:
    n = f.count[0]
    b = n + 1
    while b <= f.count[1] and f.top[b] != 0:
        b += 1
    f.count[1] = max(f.count[1], b)
    f.dual[b], f.kind[b], f.mate[b] = 0, OUTER, f.mate[root]
    f.petals[b, 0], f.length[b] = root, 1
    _climb(f, b, u, root)
    _reverse(f.petals[b], 1, f.length[b])
    _climb(f, b, v, root)
    _set_top(f, b, b)
    f.from_u[b, :], f.from_u[:, b], f.inside[b, :] = 0, 0, 0
    for i in range(f.length[b]):
        petal = f.petals[b, i]
        for x in range(1, f.count[1] + 1):
            if f.from_u[petal, x] > 0 and (f.from_u[b, x] == 0 or _excess(f, petal, x) < _excess(f, b, x)):
                f.from_u[b, x], f.from_v[b, x] = f.from_u[petal, x], f.from_v[petal, x]
                f.from_u[x, b], f.from_v[x, b] = f.from_v[petal, x], f.from_u[petal, x]
        for x in range(1, n + 1):
            if f.inside[petal, x] > 0:
                f.inside[b, x] = petal
    _set_slack(f, b)


@njit(cache=True, nogil=True)
def _expand(f: Forest, b: int) -> None:
    for i in range(f.length[b]):
        _set_top(f, f.petals[b, i], f.petals[b, i])
    entry = f.inside[b, f.from_u[b, f.parent[b]]]
    place = _even_place(f, b, entry)
    for i in range(0, place, 2):
        inner, outer = f.petals[b, i], f.petals[b, i + 1]
        f.parent[inner] = f.from_u[outer, inner]
        f.kind[inner], f.kind[outer] = INNER, OUTER
        f.slack[inner] = 0
        _set_slack(f, outer)
        _push(f, outer)
    f.kind[entry], f.parent[entry] = INNER, f.parent[b]
    for i in range(place + 1, f.length[b]):
        f.kind[f.petals[b, i]] = FREE
        _set_slack(f, f.petals[b, i])
    f.top[b] = 0


@njit(cache=True, nogil=True)
def _tight(f: Forest, a: int, b: int) -> Any:
    """Use a tight edge: grow a tree, shrink a cycle or augment (then True)."""
    end = f.from_u[a, b]
    u, v = f.top[end], f.top[f.from_v[a, b]]
    if f.kind[v] == FREE:
        f.parent[v], f.kind[v] = end, INNER
        partner = f.top[f.mate[v]]
        f.slack[v], f.slack[partner] = 0, 0
        f.kind[partner] = OUTER
        _push(f, partner)
    elif f.kind[v] == OUTER:
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
    f.count[2], f.count[3] = 0, 0
    for x in range(1, f.count[1] + 1):
        f.kind[x], f.slack[x] = FREE, 0
    for x in range(1, f.count[1] + 1):
        if f.top[x] == x and f.mate[x] == 0:
            f.parent[x], f.kind[x] = 0, OUTER
            _push(f, x)
    return bool(f.count[3] > 0)


@njit(cache=True, nogil=True)
def _scan(f: Forest) -> Any:
    n = f.count[0]
    while f.count[2] < f.count[3]:
        u = f.queue[f.count[2] % f.queue.size]
        f.count[2] += 1
        if f.kind[f.top[u]] == INNER:
            continue
        for v in range(1, n + 1):
            if v != u and f.top[u] != f.top[v]:
                if _excess(f, u, v) == 0:
                    if _tight(f, u, v):
                        return True
                else:
                    _update_slack(f, u, f.top[v])
    return False


@njit(cache=True, nogil=True)
def _shift(f: Forest) -> None:
    """Change the duals by the largest step that keeps them feasible."""
    n, last = f.count[0], f.count[1]
    step = np.int64(1) << 60
    for x in range(1, last + 1):
        if f.top[x] != x:
            continue
        if x > n and f.kind[x] == INNER:
            step = min(step, f.dual[x] // 2)
        if f.slack[x] > 0 and f.kind[x] == FREE:
            step = min(step, _excess(f, f.slack[x], x))
        elif f.slack[x] > 0 and f.kind[x] == OUTER:
            step = min(step, _excess(f, f.slack[x], x) // 2)
    for u in range(1, n + 1):
        kind = f.kind[f.top[u]]
        f.dual[u] += step if kind == INNER else (-step if kind == OUTER else 0)
    for b in range(n + 1, last + 1):
        if f.top[b] == b:
            f.dual[b] += 2 * step if f.kind[b] == OUTER else (-2 * step if f.kind[b] == INNER else 0)


@njit(cache=True, nogil=True)
def _grow(f: Forest) -> Any:
    """Grow the trees until a path is augmented; False when everybody is matched."""
    if not _plant(f):
        return False
    while True:
        if _scan(f):
            return True
        _shift(f)
        f.count[2], f.count[3] = 0, 0
        for x in range(1, f.count[1] + 1):
            s = f.slack[x]
            if f.top[x] == x and s > 0 and f.top[s] != x and _excess(f, s, x) == 0 and _tight(f, s, x):
                return True
        for b in range(f.count[0] + 1, f.count[1] + 1):
            if f.top[b] == b and f.kind[b] == INNER and f.dual[b] == 0:
                _expand(f, b)
