"""What a group of rows publishes, column by column, and what it costs.

A column is a tree of values (the group publishes their lowest common node), an ordered list of values
(an interval) or a plain list of values (the set of those that occur). A group's state is a row of
words: the node; the first and the last code; or the number of members and a bit per value.
Costs are per column from 0 (the value itself) to 1 (anything), the NCP of Xu et al. 2006.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

TREE, INTERVAL, SET = 0, 1, 2


class Model(NamedTuple):
    """The columns of a table: kind, words (`at`), and the values' places, trees and costs."""

    kind: NDArray[np.int8]
    at: Ints  # words of column c: at[c] to at[c + 1]
    first: Ints  # leaf node, or point, of code v of column c: first[c] + v
    parent: Ints
    low: Ints  # a node covers the codes low to high - 1
    high: Ints
    cost: Floats
    point: Floats  # places on the scale from 0 to 1; the missing value lies at 2
    step: Floats  # cost of one more member of a set
    offset: Ints  # code v of column c is entry offset[c] + v of a vector over all codes


@njit(cache=True)
def begin(model: Model, states: Ints, group: int, rows: Codes, row: int) -> None:
    """The state of a group of one row."""
    kind, at, first = model.kind, model.at, model.first
    for c in range(kind.shape[0]):
        w, v = at[c], rows[row, c]
        if kind[c] == TREE:
            states[group, w] = first[c] + v
        elif kind[c] == INTERVAL:
            states[group, w] = v
            states[group, w + 1] = v
        else:
            for i in range(w, at[c + 1]):
                states[group, i] = 0
            states[group, w] = 1
            states[group, w + 1 + (v >> 6)] = np.int64(1) << (v & 63)


@njit(cache=True)
def join(model: Model, states: Ints, group: int, rows: Codes, row: int) -> None:
    """A row joins the group."""
    kind, at, parent, low, high = model.kind, model.at, model.parent, model.low, model.high
    for c in range(kind.shape[0]):
        w, v = at[c], rows[row, c]
        if kind[c] == TREE:
            node = states[group, w]
            while v < low[node] or v >= high[node]:
                node = parent[node]
            states[group, w] = node
        elif kind[c] == INTERVAL:
            states[group, w] = min(states[group, w], v)
            states[group, w + 1] = max(states[group, w + 1], v)
        else:
            bit = np.int64(1) << (v & 63)
            if not states[group, w + 1 + (v >> 6)] & bit:
                states[group, w + 1 + (v >> 6)] |= bit
                states[group, w] += 1


@njit(cache=True)
def merge(model: Model, states: Ints, into: int, other: int) -> None:
    """Another group joins the group."""
    kind, at, parent, low, high = model.kind, model.at, model.parent, model.low, model.high
    for c in range(kind.shape[0]):
        w = at[c]
        if kind[c] == TREE:
            node, b = states[into, w], states[other, w]
            while low[b] < low[node] or high[b] > high[node]:
                node = parent[node]
            states[into, w] = node
        elif kind[c] == INTERVAL:
            states[into, w] = min(states[into, w], states[other, w])
            states[into, w + 1] = max(states[into, w + 1], states[other, w + 1])
        else:
            members = 0
            for i in range(w + 1, at[c + 1]):
                states[into, i] |= states[other, i]
                members += _bits(states[into, i])
            states[into, w] = members


@njit(cache=True)
def _bits(word: int) -> int:
    count = 0
    while word:
        word &= word - 1
        count += 1
    return count


@njit(cache=True)
def cost(model: Model, states: Ints, group: int) -> float:
    """Sum over the columns of what the group's published value costs a row."""
    kind, at, first, point, step = model.kind, model.at, model.first, model.point, model.step
    node_cost = model.cost
    total = 0.0
    for c in range(kind.shape[0]):
        w = at[c]
        if kind[c] == TREE:
            total += node_cost[states[group, w]]
        elif kind[c] == INTERVAL:
            gap = point[first[c] + states[group, w + 1]] - point[first[c] + states[group, w]]
            total += min(gap, 1.0)
        else:
            total += (states[group, w] - 1) * step[c]
    return total


@njit(cache=True)
def cost_with(model: Model, states: Ints, group: int, rows: Codes, row: int) -> float:
    """The cost after a row has joined; the state stays."""
    kind, at, first, point, step = model.kind, model.at, model.first, model.point, model.step
    parent, low, high, node_cost = model.parent, model.low, model.high, model.cost
    total = 0.0
    for c in range(kind.shape[0]):
        w, v = at[c], rows[row, c]
        if kind[c] == TREE:
            node = states[group, w]
            while v < low[node] or v >= high[node]:
                node = parent[node]
            total += node_cost[node]
        elif kind[c] == INTERVAL:
            a, b = min(states[group, w], v), max(states[group, w + 1], v)
            total += min(point[first[c] + b] - point[first[c] + a], 1.0)
        else:
            held = (states[group, w + 1 + (v >> 6)] >> (v & 63)) & 1
            total += (states[group, w] - held) * step[c]
    return total


@njit(cache=True)
def extra(model: Model, states: Ints, group: int, out: Floats) -> float:
    """For every code of every column what it would add to the cost; returns the present cost."""
    kind, at, first, point, step = model.kind, model.at, model.first, model.point, model.step
    parent, low, high, node_cost, offset = model.parent, model.low, model.high, model.cost, model.offset
    total = 0.0
    for c in range(kind.shape[0]):
        w, a, width = at[c], offset[c], offset[c + 1] - offset[c]
        if kind[c] == TREE:
            node = states[group, w]
            now = node_cost[node]
            left = right = low[node]
            while node >= 0:
                for v in range(low[node], left):
                    out[a + v] = node_cost[node] - now
                for v in range(right, high[node]):
                    out[a + v] = node_cost[node] - now
                left, right = low[node], high[node]
                node = parent[node]
        elif kind[c] == INTERVAL:
            f, lo, hi = first[c], states[group, w], states[group, w + 1]
            now = min(point[f + hi] - point[f + lo], 1.0)
            for v in range(width):
                out[a + v] = min(point[f + max(hi, v)] - point[f + min(lo, v)], 1.0) - now
        else:
            now = (states[group, w] - 1) * step[c]
            for v in range(width):
                out[a + v] = 0.0 if (states[group, w + 1 + (v >> 6)] >> (v & 63)) & 1 else step[c]
        total += now
    return total


@njit(cache=True)
def group_states(model: Model, rows: Codes, group_of: Ints, groups: int) -> Ints:
    """The states of all groups."""
    states = np.zeros((groups, model.at[-1]), np.int64)
    begun = np.zeros(groups, np.bool_)
    for row in range(rows.shape[0]):
        group = group_of[row]
        if begun[group]:
            join(model, states, group, rows, row)
        else:
            begin(model, states, group, rows, row)
            begun[group] = True
    return states


@njit(cache=True)
def group_costs(model: Model, states: Ints) -> Floats:
    """The cost per row of every group."""
    out = np.empty(states.shape[0])
    for group in range(states.shape[0]):
        out[group] = cost(model, states, group)
    return out


@njit(cache=True)
def join_leftovers(model: Model, states: Ints, sizes: Ints, rows: Codes, owner: Ints, group_of: Ints) -> None:
    """Rows without a group (-1), one after another, join the group in which the sum over all rows rises least."""
    costs = group_costs(model, states)
    for i in range(group_of.shape[0]):
        if group_of[i] >= 0:
            continue
        found, least = 0, np.inf
        for group in range(states.shape[0]):
            now = cost_with(model, states, group, rows, owner[i])
            more = now + sizes[group] * (now - costs[group])
            if more < least:
                found, least = group, more
        join(model, states, found, rows, owner[i])
        costs[found] = cost(model, states, found)
        sizes[found] += 1
        group_of[i] = found
