"""Groups made cheaper: rows move to, or change places with rows of, groups of their neighbours."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from sudare.engine.kernels.recoding import Codes, Floats, Ints, Model, begin, cost, cost_with, join

LESS = 1e-9


class Groups(NamedTuple):
    """Groups as lists of rows, linked both ways, with sizes, states and costs."""

    of: Ints
    head: Ints
    following: Ints
    before: Ints
    size: Ints
    states: Ints
    cost: Floats


@njit(cache=True)
def gather(model: Model, rows: Codes, value_of: Ints, of: Ints, groups: int) -> Groups:
    """The lists, states and costs of groups given as a number per row."""
    n = of.shape[0]
    head, size = np.full(groups, -1), np.zeros(groups, np.int64)
    following, before = np.full(n, -1), np.full(n, -1)
    states = np.zeros((groups, model.at[-1]), np.int64)
    costs = np.empty(groups)
    out = Groups(of, head, following, before, size, states, costs)
    for row in range(n - 1, -1, -1):
        _link(out, row, of[row])
    for group in range(groups):
        costs[group] = _gather_state(model, rows, value_of, out, group)
    return out


@njit(cache=True)
def refine(
    model: Model, rows: Codes, value_of: Ints, start: Ints, near: Ints, groups: Groups, k: int, sweeps: int
) -> int:
    """Sweep over the rows of groups that cost something; returns how many changes were made.

    A row moves when its group keeps k rows, and changes places otherwise, to where the sum over all
    rows falls most; candidates are the groups of the rows of its nearest values (`near`).
    """
    of, size, costs = groups.of, groups.size, groups.cost
    scratch = np.zeros((2, model.at[-1]), np.int64)
    seen = np.full(groups.head.shape[0], -1)
    changes = 0
    for sweep in range(sweeps):
        changed = 0
        for x in range(of.shape[0]):
            a = of[x]
            if costs[a] <= LESS:
                continue
            less = _without(model, rows, value_of, groups, a, x, scratch, 0)
            best, into, partner = -LESS, -1, -1
            for j in range(near.shape[1]):
                value = near[value_of[x], j]
                if value < 0:
                    break
                for y in range(start[value], min(start[value + 1], start[value] + 4)):
                    b = of[y]
                    if b == a or seen[b] == x + sweep * of.shape[0]:
                        continue
                    seen[b] = x + sweep * of.shape[0]
                    if size[a] > k:
                        delta = (size[a] - 1) * less - size[a] * costs[a] - size[b] * costs[b]
                        delta += (size[b] + 1) * cost_with(model, groups.states, b, rows, value_of[x])
                        if delta < best:
                            best, into, partner = delta, b, -1
                    if size[b] < 2 * k:
                        delta, z = _exchange(model, rows, value_of, groups, scratch, x, b, best)
                        if z >= 0:
                            best, into, partner = delta, b, z
            if into >= 0:
                _apply(model, rows, value_of, groups, x, a, into, partner)
                changed += 1
        changes += changed
        if changed == 0:
            break
    return changes


@njit(cache=True)
def _exchange(
    model: Model, rows: Codes, value_of: Ints, groups: Groups, scratch: Ints, x: int, b: int, best: float
) -> tuple[float, int]:
    """The row of b that x (whose group without it is scratch[0]) had best change places with, if any."""
    size, costs, following = groups.size, groups.cost, groups.following
    a, found = groups.of[x], -1
    now = size[a] * costs[a] + size[b] * costs[b]
    z = groups.head[b]
    while z >= 0:
        if value_of[z] != value_of[x]:
            delta = size[a] * cost_with(model, scratch, 0, rows, value_of[z]) - now
            if delta < best:
                _without(model, rows, value_of, groups, b, z, scratch, 1)
                delta += size[b] * cost_with(model, scratch, 1, rows, value_of[x])
                if delta < best:
                    best, found = delta, z
        z = following[z]
    return best, found


@njit(cache=True)
def _without(
    model: Model, rows: Codes, value_of: Ints, groups: Groups, group: int, x: int, scratch: Ints, place: int
) -> float:
    """The state of a group without the row x, into scratch; returns its cost."""
    states, following = groups.states, groups.following
    words = states.shape[1]
    begun = False
    row = groups.head[group]
    while row >= 0:
        if row != x:
            if begun:
                join(model, scratch, place, rows, value_of[row])
            else:
                begin(model, scratch, place, rows, value_of[row])
                begun = True
            same = True
            for w in range(words):
                if scratch[place, w] != states[group, w]:
                    same = False
                    break
            if same:
                return groups.cost[group]
        row = following[row]
    return cost(model, scratch, place) if begun else 0.0


@njit(cache=True)
def _apply(
    model: Model, rows: Codes, value_of: Ints, groups: Groups, x: int, a: int, b: int, partner: int
) -> None:
    _unlink(groups, x)
    _link(groups, x, b)
    if partner >= 0:
        _unlink(groups, partner)
        _link(groups, partner, a)
    for group in (a, b):
        groups.cost[group] = _gather_state(model, rows, value_of, groups, group)


@njit(cache=True)
def _gather_state(model: Model, rows: Codes, value_of: Ints, groups: Groups, group: int) -> float:
    states, following = groups.states, groups.following
    row = groups.head[group]
    begin(model, states, group, rows, value_of[row])
    while following[row] >= 0:
        row = following[row]
        join(model, states, group, rows, value_of[row])
    return cost(model, states, group)


@njit(cache=True)
def _link(groups: Groups, row: int, group: int) -> None:
    head = groups.head[group]
    groups.following[row], groups.before[row] = head, -1
    if head >= 0:
        groups.before[head] = row
    groups.head[group] = row
    groups.of[row] = group
    groups.size[group] += 1


@njit(cache=True)
def _unlink(groups: Groups, row: int) -> None:
    group, after, before = groups.of[row], groups.following[row], groups.before[row]
    if before >= 0:
        groups.following[before] = after
    else:
        groups.head[group] = after
    if after >= 0:
        groups.before[after] = before
    groups.size[group] -= 1
