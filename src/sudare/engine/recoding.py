"""Rows into groups of at least k that publish as little more than the truth as possible."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sudare.engine.kernels.conditions import Conditions
    from sudare.engine.kernels.recoding import Model

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

VECTORS = 50_000
NEIGHBOURS = 12


@dataclass(frozen=True, eq=False)
class Tree:
    """A column with a hierarchy: up[level, code] for codes in an order in which every label is a run."""

    up: NDArray[np.int32]

    @property
    def width(self) -> int:
        return int(self.up.shape[1])


@dataclass(frozen=True, eq=False)
class Line:
    """An ordered column: the place of every code from 0 to 1; a missing value is the last code, at 2."""

    point: Floats

    @property
    def width(self) -> int:
        return len(self.point)


@dataclass(frozen=True)
class Bag:
    """A column without an order: so many values."""

    width: int


Column = Tree | Line | Bag


@dataclass(frozen=True, eq=False)
class Grouping:
    """The group of every row; per column the state of every group; costs per group and column."""

    group_of: Ints
    states: tuple[Ints, ...]
    costs: Floats

    @classmethod
    def of(cls, codes: Codes, columns: Sequence[Column], group_of: Ints, groups: int) -> Grouping:
        """What groups of rows publish."""
        from sudare.engine.kernels.recoding import group_costs, group_states

        states, costs = [], np.empty((groups, len(columns)))
        for c, column in enumerate(columns):
            model = make_model([column])
            states.append(group_states(model, np.ascontiguousarray(codes[:, c : c + 1]), group_of, groups))
            costs[:, c] = group_costs(model, states[-1])
        return cls(group_of, tuple(states), costs)

    @property
    def sizes(self) -> Ints:
        """Rows per group."""
        return np.bincount(self.group_of, minlength=len(self.costs)).astype(np.int64)

    @property
    def loss(self) -> Floats:
        """NCP per column: the mean over its cells of what the published value costs."""
        share = self.sizes / len(self.group_of)
        return np.asarray(share @ self.costs)


def group_rows(
    codes: Codes, columns: Sequence[Column], k: int, ids: NDArray[np.uint64] | None = None, sweeps: int = 2
) -> Grouping:
    """Group rows by their codes so that every group has k rows and the mean cost is low.

    Where all columns have hierarchies, cheap boxes first (`fill_boxes`); otherwise groups that grow by their
    nearest rows (`grow`). Then rows move between neighbouring groups (`refine`). Equal rows are told apart by
    their ids alone, so that the order of rows does not matter.
    """
    from sudare.engine.kernels.refine import gather, refine

    turn = np.argsort([-_mean_cost(codes[:, c], column) for c, column in enumerate(columns)], kind="stable")
    model = make_model([columns[c] for c in turn])
    values, value_of, counts = distinct(codes[:, turn])
    order = (
        np.argsort(value_of, kind="stable") if ids is None else np.lexsort((ids[:, 1], ids[:, 0], value_of))
    )
    near, far = _neighbours(model, values)
    group_of, groups = _first_groups(model, values, counts, far, [columns[c] for c in turn], k)
    start = np.concatenate([[0], np.cumsum(counts)])
    owner = np.repeat(np.arange(len(counts)), counts)
    lists = gather(model, values, owner, group_of, groups)
    refine(model, values, owner, start, near, lists, k, sweeps)
    out = np.empty_like(group_of)
    out[order] = lists.of
    return Grouping.of(codes, columns, out, groups)


def make_model(columns: Sequence[Column]) -> Model:
    """The kernels' description of the columns."""
    from sudare.engine.kernels.recoding import INTERVAL, SET, TREE, Model

    kind, words, first, nodes, step = [], [0], [], [], []
    point: list[float] = []
    node_count = 0
    for column in columns:
        first.append(node_count if isinstance(column, Tree) else len(point))
        step.append(0.0)
        if isinstance(column, Tree):
            kind.append(TREE)
            words.append(1)
            nodes.append(_nodes(column, node_count))
            node_count += nodes[-1].shape[1]
        elif isinstance(column, Line):
            kind.append(INTERVAL)
            words.append(2)
            point.extend(column.point)
        else:
            kind.append(SET)
            words.append(1 + (column.width + 63) // 64)
            step[-1] = 1 / max(column.width - 1, 1)
    parent, low, high, cost = np.concatenate(nodes, axis=1) if nodes else np.zeros((4, 1))
    return Model(
        np.array(kind, np.int8),
        np.cumsum(words, dtype=np.int64),
        np.array(first, np.int64),
        parent.astype(np.int64),
        low.astype(np.int64),
        high.astype(np.int64),
        np.ascontiguousarray(cost),
        np.array([*point, 0.0]),
        np.array(step),
        np.concatenate([[0], np.cumsum([column.width for column in columns])]).astype(np.int64),
    )


def distinct(codes: Codes) -> tuple[Codes, Ints, Ints]:
    """The distinct rows in lexicographic order, which of them every row is, and how often each occurs."""
    from sudare.engine.codes import classes

    value_of, counts = classes(codes)
    first = np.empty(len(counts), np.int64)
    first[value_of[::-1]] = np.arange(len(value_of))[::-1]
    return np.ascontiguousarray(codes[first]), value_of, counts


def _nodes(column: Tree, first: int) -> Floats:
    """Parent, low, high and cost of the nodes of a tree, leaves first, level by level."""
    up, width = column.up, column.width
    low, high, parent = [], [], []
    base = first
    for level in range(len(up)):
        starts = np.flatnonzero(np.concatenate([[True], up[level, 1:] != up[level, :-1]]))
        low.append(starts)
        high.append(np.append(starts[1:], width))
        if level:
            run = np.cumsum(np.concatenate([[0], up[level, 1:] != up[level, :-1]]))
            parent.append(base + run[low[level - 1]])
        base += len(starts)
    parent.append(np.full(len(low[-1]), -1))
    lows, highs = np.concatenate(low), np.concatenate(high)
    cost = (highs - lows - 1) / max(width - 1, 1)
    return np.stack([np.concatenate(parent), lows, highs, cost]).astype(np.float64)


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


def _neighbours(model: Model, values: Codes) -> tuple[Ints, Floats]:
    from sudare.engine.kernels.trie import Trie, neighbours, plant

    return neighbours(model, Trie(*plant(values)), values, NEIGHBOURS)  # type: ignore[no-any-return]


def _first_groups(
    model: Model, values: Codes, counts: Ints, far: Floats, columns: Sequence[Column], k: int
) -> tuple[Ints, int]:
    """The groups before refinement, per row in the order of the distinct rows; rows left over join the cheapest."""
    from sudare.engine.kernels.boxes import fill_boxes
    from sudare.engine.kernels.recoding import cost_with, group_states
    from sudare.engine.kernels.trie import Trie, grow, plant

    owner = np.repeat(np.arange(len(counts)), counts)
    trees = [column for column in columns if isinstance(column, Tree)]
    if len(trees) == len(columns) and prod(len(tree.up) for tree in trees) <= VECTORS:
        nodes, first, vectors = _vectors(trees, values, counts)
        by_value, groups = fill_boxes(nodes, first, vectors, values, counts, k)
        group_of = by_value[owner]
    else:
        dense_first = np.argsort(far[:, min(max(k - 2, 0), far.shape[1] - 1)], kind="stable")
        group_of, groups = grow(model, Trie(*plant(values)), values, counts, dense_first, k)
    left = np.flatnonzero(group_of < 0)
    if len(left):
        kept = group_of >= 0
        states = group_states(model, np.ascontiguousarray(values[owner[kept]]), group_of[kept], groups)
        for row in left:
            costs = [cost_with(model, states, group, values, owner[row]) for group in range(groups)]
            group_of[row] = int(np.argmin(costs))
    return group_of, groups


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


def merge_groups(
    codes: Codes, columns: Sequence[Column], grouping: Grouping, sensitive: Codes, conditions: Conditions
) -> Grouping:
    """The same groups, joined until each of them meets the conditions on its sensitive values."""
    from sudare.engine.kernels.merging import merge_until
    from sudare.engine.kernels.recoding import group_states

    model = make_model(columns)
    group_of = grouping.group_of.copy()
    states = group_states(model, codes, group_of, len(grouping.costs))
    order = np.lexsort(states.T[::-1]).astype(np.int64)
    groups = merge_until(model, states, group_of, order, sensitive, conditions)
    return Grouping.of(codes, columns, group_of, groups)
