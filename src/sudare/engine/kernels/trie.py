"""Distinct rows as a trie: the nearest rows to a group are found without looking at most of them."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from sudare.engine.kernels.recoding import Codes, Floats, Ints, Model, begin, cost, cost_with, extra, join

TINY = 1e-12


class Trie(NamedTuple):
    """Nodes by depth; the children of a node are child[node] to last[node] - 1. The last depth is the rows."""

    value: Codes
    child: Ints
    last: Ints
    parent: Ints
    depth: Ints  # nodes of depth d: depth[d] to depth[d + 1]


@njit(cache=True)
def plant(rows: Codes) -> tuple[Codes, Ints, Ints, Ints, Ints]:
    """The fields of the trie of distinct rows in lexicographic order."""
    n, q = rows.shape
    depth = np.zeros(q + 1, np.int64)
    fork = np.zeros(n, np.int64)
    for i in range(n):
        d = 0
        while i > 0 and rows[i, d] == rows[i - 1, d]:
            d += 1
        fork[i] = d
        depth[d + 1 :] += 1
    depth = np.cumsum(depth)
    nodes = depth[q]
    value = np.empty(nodes, np.int32)
    child, last = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    parent = np.full(nodes, -1)
    free = depth.copy()
    for i in range(n):
        for d in range(fork[i], q):
            node = free[d]
            free[d] += 1
            value[node] = rows[i, d]
            if d + 1 < q:
                child[node] = free[d + 1]
            if d > 0:
                parent[node] = free[d - 1] - 1
                last[parent[node]] = node + 1
    return value, child, last, parent, depth


@njit(cache=True)
def nearest(model: Model, trie: Trie, alive: Ints, extras: Floats, sums: Floats, turn: Ints) -> int:
    """The row with rows left that adds least to a group (`extras`), the first found among equals; -1 for none."""
    value, child, last, depth, offset = trie.value, trie.child, trie.last, trie.depth, model.offset
    q = offset.shape[0] - 1
    best, at = _descend(value, child, last, depth, offset, alive, extras, q)
    d = 0
    sums[0] = 0.0
    turn[0, 0], turn[0, 1] = 0, depth[1]
    while d >= 0:
        node = turn[d, 0]
        if node >= turn[d, 1]:
            d -= 1
            continue
        turn[d, 0] = node + 1
        if alive[node] <= 0:
            continue
        total = sums[d] + extras[offset[d] + value[node]]
        if total > best - TINY:
            continue
        if d == q - 1:
            best, at = total, node
        else:
            d += 1
            sums[d] = total
            turn[d, 0], turn[d, 1] = child[node], last[node]
    return at - depth[q - 1] if at >= 0 else -1


@njit(cache=True)
def _descend(
    value: Codes, child: Ints, last: Ints, depth: Ints, offset: Ints, alive: Ints, extras: Floats, q: int
) -> tuple[float, int]:
    """A good first guess: the cheapest child at every depth."""
    total = 0.0
    a, b, chosen = 0, depth[1], -1
    for d in range(q):
        least, chosen = np.inf, -1
        for node in range(a, b):
            more = extras[offset[d] + value[node]]
            if alive[node] > 0 and more < least:
                least, chosen = more, node
                if least <= 0.0:
                    break
        if chosen < 0:
            return np.inf, -1
        total += least
        a, b = child[chosen], last[chosen]
    return total, chosen


@njit(cache=True)
def neighbours(model: Model, trie: Trie, rows: Codes, count: int) -> tuple[Ints, Floats]:
    """For every distinct row its nearest other ones by the cost of a group of the two, nearest first."""
    value, child, last, depth, offset = trie.value, trie.child, trie.last, trie.depth, model.offset
    n, q = rows.shape
    near, far = np.full((n, count), -1), np.full((n, count), np.inf)
    state = np.zeros((1, model.at[q]), np.int64)
    extras, sums, turn = np.empty(offset[q]), np.empty(q), np.empty((q, 2), np.int64)
    for i in range(n):
        begin(model, state, 0, rows, i)
        extra(model, state, 0, extras)
        worst = _first_bound(rows, i, extras, offset, count) + TINY
        held, d = 0, 0
        sums[0] = 0.0
        turn[0, 0], turn[0, 1] = 0, depth[1]
        while d >= 0:
            node = turn[d, 0]
            if node >= turn[d, 1]:
                d -= 1
                continue
            turn[d, 0] = node + 1
            total = sums[d] + extras[offset[d] + value[node]]
            if total >= worst:
                continue
            if d < q - 1:
                d += 1
                sums[d] = total
                turn[d, 0], turn[d, 1] = child[node], last[node]
            elif node - depth[q - 1] != i:
                j = min(held, count - 1)
                while j > 0 and far[i, j - 1] > total:
                    far[i, j], near[i, j] = far[i, j - 1], near[i, j - 1]
                    j -= 1
                far[i, j], near[i, j] = total, node - depth[q - 1]
                held = min(held + 1, count)
                if held == count:
                    worst = min(worst, far[i, count - 1])
    return near, far


@njit(cache=True)
def _first_bound(rows: Codes, i: int, extras: Floats, offset: Ints, count: int) -> float:
    """A distance within which `count` other rows lie: those beside it in the order."""
    a = max(0, min(i - count // 2, rows.shape[0] - count - 1))
    b = a + count + 1
    if b > rows.shape[0]:
        return np.inf
    worst = 0.0
    for j in range(a, b):
        total = 0.0
        for c in range(rows.shape[1]):
            total += extras[offset[c] + rows[j, c]]
        worst = max(worst, total)
    return worst


@njit(cache=True)
def grow(model: Model, trie: Trie, rows: Codes, counts: Ints, order: Ints, k: int) -> tuple[Ints, int]:
    """Groups of k rows (rows of one value of `counts` follow each other); -1 for rows left over.

    Values that occur k times are groups of their own and spare the rest. In the given order every
    value that has rows left begins a group, which takes the row that adds least until it has k.
    """
    n, q = rows.shape
    depth, parent, leaf = trie.depth, trie.parent, trie.depth[q - 1]
    start = np.zeros(n + 1, np.int64)
    start[1:] = np.cumsum(counts)
    group_of = np.full(start[n], -1)
    spare, alive = counts.copy(), np.zeros(depth[q], np.int64)
    groups = 0
    for i in range(n):
        if counts[i] >= k:
            spare[i] -= k
            group_of[start[i] + spare[i] : start[i + 1]] = groups
            groups += 1
        node = leaf + i
        while node >= 0:
            alive[node] += spare[i]
            node = parent[node]
    left = spare.sum()
    state = np.zeros((1, model.at[q]), np.int64)
    extras, sums, turn = np.empty(model.offset[q]), np.empty(q), np.empty((q, 2), np.int64)
    for i in order:
        while counts[i] < k and spare[i] > 0 and left >= k:
            begin(model, state, 0, rows, i)
            need, row = k, i
            while True:
                free = cost_with(model, state, 0, rows, row) <= cost(model, state, 0) + TINY
                take = min(need, spare[row]) if free else 1
                join(model, state, 0, rows, row)
                spare[row] -= take
                group_of[start[row] + spare[row] : start[row] + spare[row] + take] = groups
                node = leaf + row
                while node >= 0:
                    alive[node] -= take
                    node = parent[node]
                need, left = need - take, left - take
                if need == 0:
                    break
                extra(model, state, 0, extras)
                row = nearest(model, trie, alive, extras, sums, turn)
            groups += 1
    _return_spare(group_of, start, counts, spare, k)
    return group_of, groups


@njit(cache=True)
def _return_spare(group_of: Ints, start: Ints, counts: Ints, spare: Ints, k: int) -> None:
    """Spare rows that nobody took stay with their own value."""
    for i in range(counts.shape[0]):
        if counts[i] >= k and spare[i] > 0:
            group_of[start[i] : start[i] + spare[i]] = group_of[start[i + 1] - 1]
