"""Rows into groups of at least k that publish as little more than the truth as possible."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sudare.engine.recoding import (
    Bag,
    Codes,
    Column,
    Grouping,
    Ints,
    Line,
    Tree,
    distinct,
    make_model,
    places,
)

if TYPE_CHECKING:
    from sudare.engine.kernels.conditions import Conditions
    from sudare.engine.kernels.recoding import Model

VECTORS = 50_000
NEIGHBOURS = 12


def group_rows(
    codes: Codes,
    columns: Sequence[Column],
    k: int,
    sensitive: Codes,
    conditions: Conditions,
    ids: NDArray[np.uint64],
    sweeps: int = 2,
) -> Grouping:
    """Group rows by their codes so that every group has k rows, meets the conditions, and the mean cost is low.

    Where all columns have hierarchies, cheap boxes first (`fill_boxes`); otherwise groups that grow by their
    nearest rows (`grow`). Then rows move between neighbouring groups (`refine`), and groups that miss the
    conditions are joined; where these are so hard that Mondrian's cuts lose less, its groups are taken. Equal rows are
    told apart by their ids alone, so that the order of rows does not matter.
    """
    from sudare.engine.kernels.refine import gather, refine
    from sudare.engine.kernels.trie import Trie, neighbours, plant

    turn = np.argsort([-_mean_cost(codes[:, c], column) for c, column in enumerate(columns)], kind="stable")
    ordered = [columns[c] for c in turn]
    model = make_model(ordered)
    values, value_of, counts = distinct(codes[:, turn])
    order = np.lexsort((ids[:, 1], ids[:, 0], value_of))
    start = np.concatenate([[0], np.cumsum(counts)])
    owner = np.repeat(np.arange(len(counts)), counts)
    trie = Trie(*plant(values))
    near, far = neighbours(model, trie, values, NEIGHBOURS)
    if _boxes_fit(ordered):
        group_of, groups = _boxes(ordered, values, counts, k)
    else:
        from sudare.engine.kernels.trie import grow

        dense_first = np.argsort(far[:, min(k - 2, NEIGHBOURS - 1)], kind="stable")
        group_of, groups = grow(model, trie, values, counts, dense_first, k)
    groups = _join_leftovers(model, values, owner, group_of, groups)
    lists = gather(model, values, owner, group_of, groups)
    refine(model, values, owner, start, near, lists, k, sweeps)
    out = np.empty_like(group_of)
    out[order] = lists.of
    if conditions.l == 1 and conditions.t == 1:
        return Grouping.of(codes, columns, out, groups)
    meeting = (
        _merge(codes, columns, out, groups, sensitive, conditions),
        _cut(codes, columns, k, sensitive, conditions),
    )
    return min(
        (Grouping.of(codes, columns, *found) for found in meeting), key=lambda found: found.loss.mean()
    )


def _mean_cost(codes: Codes, column: Column) -> float:
    """What two different values of a column cost together on average: dear columns go first in the trie."""
    ordered = np.sort(codes)  # the same pairs whatever the order of rows
    pairs = np.random.default_rng(0).integers(0, len(codes), (2, 2000))
    a, b = np.sort(ordered[pairs], axis=0)
    differ = a != b
    if not differ.any():
        return 1.0
    if isinstance(column, Line):
        cost = np.minimum(column.point[b] - column.point[a], 1.0)
    elif isinstance(column, Bag):
        cost = np.where(differ, 1 / max(column.width - 1, 1), 0.0)
    else:
        sizes = np.stack([np.bincount(codes_)[codes_] for codes_ in column.up])
        level = (column.up[:, a] == column.up[:, b]).argmax(axis=0)
        cost = (sizes[level, a] - 1) / max(column.width - 1, 1)
    return float(cost[differ].mean())


def _boxes_fit(columns: Sequence[Column]) -> bool:
    """Whether every column has a hierarchy and the combinations of levels can all be visited."""
    levels = [len(column.up) for column in columns if isinstance(column, Tree)]
    return len(levels) == len(columns) and prod(levels) <= VECTORS


def _boxes(columns: Sequence[Column], values: Codes, counts: Ints, k: int) -> tuple[Ints, int]:
    """Groups by boxes, per row in the order of the distinct rows; -1 for rows left over."""
    from sudare.engine.kernels.boxes import fill_boxes

    trees = [column for column in columns if isinstance(column, Tree)]
    nodes, first, vectors = _vectors(trees, values, counts)
    by_value, groups = fill_boxes(nodes, first, vectors, values, counts, k)
    return np.repeat(by_value, counts), groups


def _vectors(trees: Sequence[Tree], values: Codes, counts: Ints) -> tuple[Ints, Ints, Ints]:
    """Every combination of levels, by the mean cost it would have, and the node of every code on every level."""
    first = np.concatenate([[0], np.cumsum([len(tree.up) for tree in trees])])
    nodes = np.zeros((int(first[-1]), max(tree.width for tree in trees)), np.int64)
    level_cost = []
    for c, tree in enumerate(trees):
        nodes[first[c] : first[c + 1], : tree.width] = tree.up
        sizes = np.stack([np.bincount(codes)[codes] for codes in tree.up])
        cost = (sizes - 1) / max(tree.width - 1, 1)
        level_cost.append((cost[:, values[:, c]] * counts).sum(axis=1) / counts.sum())
    vectors = np.array(list(itertools.product(*[range(len(tree.up)) for tree in trees])), np.int64)
    total = sum(cost[vectors[:, c]] for c, cost in enumerate(level_cost))
    return nodes, first, vectors[np.argsort(total, kind="stable")]


def _join_leftovers(model: Model, values: Codes, owner: Ints, group_of: Ints, groups: int) -> int:
    """Rows left over join a group; where there is no group, they are one."""
    from sudare.engine.kernels.recoding import group_states, join_leftovers

    kept = group_of >= 0
    if groups == 0:
        group_of[:] = 0
    elif not kept.all():
        states = group_states(model, np.ascontiguousarray(values[owner[kept]]), group_of[kept], groups)
        sizes = np.bincount(group_of[kept], minlength=groups)
        join_leftovers(model, states, sizes, values, owner, group_of)
    return max(groups, 1)


def _merge(
    codes: Codes,
    columns: Sequence[Column],
    group_of: Ints,
    groups: int,
    sensitive: Codes,
    conditions: Conditions,
) -> tuple[Ints, int]:
    """The same groups, joined until each of them meets the conditions on its sensitive values."""
    from sudare.engine.kernels.merging import merge_until
    from sudare.engine.kernels.recoding import group_states

    model = make_model(columns)
    states = group_states(model, codes, group_of, groups)
    order = np.lexsort(states.T[::-1]).astype(np.int64)
    merged = group_of.copy()
    return merged, merge_until(model, states, merged, order, sensitive, conditions)


def _cut(
    codes: Codes, columns: Sequence[Column], k: int, sensitive: Codes, conditions: Conditions
) -> tuple[Ints, int]:
    """Groups that meet the conditions from the start: the whole table, cut while both parts do."""
    from sudare.engine.kernels.mondrian import mondrian

    return mondrian(codes, *places(columns), k, False, sensitive, conditions)
