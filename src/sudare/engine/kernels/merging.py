"""Groups that miss a further condition (l, t) join the cheapest other group until they meet it."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import numpy as np
from numba import njit

from sudare.engine.kernels.conditions import Conditions, holds
from sudare.engine.kernels.recoding import Codes, Ints, Model, cost, merge

WINDOW = 2000


@njit(cache=True)
def merge_until(
    model: Model, states: Ints, group_of: Ints, order: Ints, sensitive: Codes, conditions: Conditions
) -> int:
    """Renumber group_of so that every group meets the conditions; returns the number of groups.

    `order` puts similar groups beside each other; a group looks among the 2,000 on each side of it.
    """
    groups = states.shape[0]
    counts = np.zeros((groups, conditions.overall.shape[0]), np.int64)
    for row in range(group_of.shape[0]):
        counts[group_of[row], sensitive[row]] += 1
    into, place = np.arange(groups), np.empty(groups, np.int64)
    place[order] = np.arange(groups)
    sizes = counts.sum(axis=1)
    scratch, union = np.zeros((2, states.shape[1]), np.int64), np.zeros(counts.shape[1], np.int64)
    for group in order:
        while into[group] == group and not holds(conditions, counts[group], sizes[group]):
            other = _partner(
                model, states, sizes, into, order, place[group], scratch, counts, conditions, union
            )
            if other < 0:
                break
            merge(model, states, other, group)
            into[group] = other
            counts[other] += counts[group]
            sizes[other] += sizes[group]
            group = other
    return _renumber(group_of, into)


@njit(cache=True)
def _partner(
    model: Model,
    states: Ints,
    sizes: Ints,
    into: Ints,
    order: Ints,
    at: int,
    scratch: Ints,
    counts: Ints,
    conditions: Conditions,
    union: Ints,
) -> int:
    """The live group whose union with the one at this place adds least, of those that meet the conditions with
    it if there are any; the nearest places are asked first.
    """
    group, found, least = order[at], -1, np.inf
    meeting, least_meeting = -1, np.inf
    asked = 0
    for step in range(1, order.shape[0]):
        for place in (at - step, at + step):
            if place < 0 or place >= order.shape[0] or into[order[place]] != order[place]:
                continue
            other = order[place]
            scratch[0] = states[group]
            scratch[1] = states[other]
            merge(model, scratch, 0, 1)
            total = cost(model, scratch, 0) * (sizes[group] + sizes[other])
            more = total - cost(model, states, other) * sizes[other]
            if more < least:
                found, least = other, more
            if more < least_meeting:
                union[:] = counts[group] + counts[other]
                if holds(conditions, union, sizes[group] + sizes[other]):
                    meeting, least_meeting = other, more
            asked += 1
        if asked >= 2 * WINDOW:
            break
    return meeting if meeting >= 0 else found


@njit(cache=True)
def _renumber(group_of: Ints, into: Ints) -> int:
    number = np.full(into.shape[0], -1)
    count = 0
    for row in range(group_of.shape[0]):
        group = group_of[row]
        while into[group] != group:
            group = into[group]
        if number[group] < 0:
            number[group] = count
            count += 1
        group_of[row] = number[group]
    return count
