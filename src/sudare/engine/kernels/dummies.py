"""Annealing of a clustering of sets towards the fewest dummy records, on bitsets.

The cost of a cluster is its size times the size of the union of its sets. A cluster carries the bits of its
union and of the items that exactly one member holds, so that the effect of swapping two members, or of moving
one, is counted without touching the other members.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sudare.engine.kernels.bitsets import popcount

Words = NDArray[np.uint64]
Longs = NDArray[np.int64]
STRIDE = 1024  # moves at one temperature


class Clusters(NamedTuple):
    """`alone[u]` counts items that only u holds: they need no bits. `width` is the size of each union."""

    bits: Words
    alone: Longs
    label: Longs
    place: Longs
    members: Longs
    size: Longs
    union: Words
    once: Words
    width: Longs


def anneal(
    bits: Words,
    alone: Longs,
    label: Longs,
    *,
    k: int,
    moves: int,
    hot: float,
    cold: float,
    span: int,
    seed: int,
) -> tuple[int, Longs]:
    """The best clustering seen in `moves` random moves, and the sum of size times union over its clusters.

    The temperature falls geometrically from `hot` to `cold` dummy records. Partners of a move are at most
    `span` places apart in the order of the rows (span 0: anywhere). No cluster falls below k members.
    The same seed gives the same answer.
    """
    clusters = _clusters(bits, alone, label, k)
    best = label.copy()
    cost = _anneal(clusters, best, k, moves, hot, cold, span, np.array([seed], np.uint64))
    return int(cost), best


def descend(bits: Words, alone: Longs, label: Longs, *, k: int, sweeps: int) -> Longs:
    """The clustering after local search: no move or swap that helps is left, unless the sweeps ran out."""
    clusters = _clusters(bits, alone, label, k)
    _descend(clusters, k, sweeps)
    return clusters.label


def typical_change(bits: Words, alone: Longs, label: Longs, *, k: int, span: int, seed: int) -> float:
    """The median rise of the cost under a random swap: the scale of temperatures."""
    changes = _changes(_clusters(bits, alone, label, k), 4096, span, np.array([seed], np.uint64))
    rises = changes[changes > 0]
    return float(np.median(rises)) if len(rises) else 1.0


def _clusters(bits: Words, alone: Longs, label: Longs, k: int) -> Clusters:
    n, words = bits.shape
    count = int(label.max()) + 1
    size = np.bincount(label, minlength=count)
    room = max(2 * k, int(size.max()) + 1)
    order = np.argsort(label, kind="stable")
    start = np.cumsum(size) - size
    place = np.empty(n, np.int64)
    place[order] = np.arange(n) - np.repeat(start, size)
    members = np.full((count, room), -1, np.int64)
    members[label, place] = np.arange(n)
    blank = np.zeros((count, words), np.uint64)
    return Clusters(
        bits, alone, label.copy(), place, members, size, blank, blank.copy(), np.zeros(count, np.int64)
    )


@njit(cache=True, nogil=True, inline="always")
def _draw(state: Words) -> Any:
    """SplitMix64."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True, inline="always")
def _below(state: Words, n: int) -> Any:
    return np.int64(((_draw(state) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@njit(cache=True, nogil=True)
def _refresh(c: Clusters, i: int) -> None:
    """Compute union, once and width of a cluster from its members."""
    width = np.int64(0)
    for w in range(c.bits.shape[1]):
        some, twice = np.uint64(0), np.uint64(0)
        for j in range(c.size[i]):
            word = c.bits[c.members[i, j], w]
            twice |= some & word
            some |= word
        c.union[i, w] = some
        c.once[i, w] = some & ~twice
        width += np.int64(popcount(some))
    for j in range(c.size[i]):
        width += c.alone[c.members[i, j]]
    c.width[i] = width


@njit(cache=True, nogil=True)
def _swap_change(c: Clusters, u: int, v: int, a: int, b: int) -> Any:
    """The change of cost when u of cluster a and v of cluster b change places."""
    in_a, in_b = c.alone[v] - c.alone[u], c.alone[u] - c.alone[v]
    for w in range(c.bits.shape[1]):
        only_u = c.bits[u, w] & ~c.bits[v, w]
        only_v = c.bits[v, w] & ~c.bits[u, w]
        in_a += np.int64(popcount(only_v & ~c.union[a, w])) - np.int64(popcount(only_u & c.once[a, w]))
        in_b += np.int64(popcount(only_u & ~c.union[b, w])) - np.int64(popcount(only_v & c.once[b, w]))
    return c.size[a] * in_a + c.size[b] * in_b


@njit(cache=True, nogil=True)
def _move_change(c: Clusters, u: int, a: int, b: int) -> Any:
    """The change of cost when u leaves cluster a for cluster b."""
    lost, gained = c.alone[u], c.alone[u]
    for w in range(c.bits.shape[1]):
        lost += np.int64(popcount(c.bits[u, w] & c.once[a, w]))
        gained += np.int64(popcount(c.bits[u, w] & ~c.union[b, w]))
    return c.width[b] + (c.size[b] + 1) * gained - c.width[a] - (c.size[a] - 1) * lost


@njit(cache=True, nogil=True)
def _swap(c: Clusters, u: int, v: int, a: int, b: int) -> None:
    c.members[a, c.place[u]], c.members[b, c.place[v]] = v, u
    c.place[u], c.place[v] = c.place[v], c.place[u]
    c.label[u], c.label[v] = b, a


@njit(cache=True, nogil=True)
def _move(c: Clusters, u: int, a: int, b: int) -> None:
    c.size[a] -= 1
    last = c.members[a, c.size[a]]
    c.members[a, c.place[u]] = last
    c.place[last] = c.place[u]
    c.members[b, c.size[b]] = u
    c.place[u] = c.size[b]
    c.size[b] += 1
    c.label[u] = b


@njit(cache=True, nogil=True)
def _partner(state: Words, u: int, n: int, span: int) -> Any:
    if span == 0:
        return _below(state, n)
    low, high = max(0, u - span), min(n - 1, u + span)
    return low + _below(state, high - low + 1)


@njit(cache=True, nogil=True)
def _accepted(state: Words, change: np.int64, heat: float) -> Any:
    if change <= 0:
        return True
    chance = np.float64(_draw(state) >> np.uint64(11)) * 2.0**-53
    return chance < np.exp(-change / heat)


@njit(cache=True, nogil=True)
def _copy(source: Longs, target: Longs) -> None:
    for i in range(source.size):
        target[i] = source[i]


@njit(cache=True, nogil=True)
def _anneal(
    c: Clusters, best: Longs, k: int, moves: int, hot: float, cold: float, span: int, state: Words
) -> np.int64:
    cost = np.int64(0)
    for i in range(c.size.size):
        _refresh(c, i)
        cost += c.size[i] * c.width[i]
    n, room, least = c.label.size, c.members.shape[1], cost
    pause = max(STRIDE, n)  # looking for a new best costs n
    cooling = (cold / hot) ** (1.0 / max(1, moves // STRIDE))
    heat = hot
    for step in range(moves):
        if step % STRIDE == STRIDE - 1:
            heat *= cooling
        if cost < least and step % pause == 0:
            least = cost
            _copy(c.label, best)
        u = _below(state, n)
        v = _partner(state, u, n, span)
        a, b = c.label[u], c.label[v]
        if a == b:
            continue
        relocate = c.size[a] > k and c.size[b] < room and _draw(state) & np.uint64(1) == 0
        change = _move_change(c, u, a, b) if relocate else _swap_change(c, u, v, a, b)
        if not _accepted(state, change, heat):
            continue
        if relocate:
            _move(c, u, a, b)
        else:
            _swap(c, u, v, a, b)
        _refresh(c, a)
        _refresh(c, b)
        cost += change
    if cost < least:
        least = cost
        _copy(c.label, best)
    return least


@njit(cache=True, nogil=True)
def _descend(c: Clusters, k: int, sweeps: int) -> np.int64:
    """Take every move and swap that helps, pair by pair, until a whole sweep finds none; the change of cost."""
    n, room, total = c.label.size, c.members.shape[1], np.int64(0)
    for i in range(c.size.size):
        _refresh(c, i)
    for _ in range(sweeps):
        before = total
        for u in range(n):
            for v in range(n):
                a, b = c.label[u], c.label[v]
                if a == b:
                    continue
                if c.size[a] > k and c.size[b] < room:
                    change = _move_change(c, u, a, b)
                    if change < 0:
                        _move(c, u, a, b)
                        _refresh(c, a)
                        _refresh(c, b)
                        total += change
                        continue
                if v <= u:
                    continue
                change = _swap_change(c, u, v, a, b)
                if change < 0:
                    _swap(c, u, v, a, b)
                    _refresh(c, a)
                    _refresh(c, b)
                    total += change
        if total == before:
            break
    return total


@njit(cache=True, nogil=True)
def _changes(c: Clusters, count: int, span: int, state: Words) -> Longs:
    for i in range(c.size.size):
        _refresh(c, i)
    found = np.zeros(count, np.int64)
    for i in range(count):
        u = _below(state, c.label.size)
        v = _partner(state, u, c.label.size, span)
        if c.label[u] != c.label[v]:
            found[i] = _swap_change(c, u, v, c.label[u], c.label[v])
    return found
