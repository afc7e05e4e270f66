"""Columns that can be recoded, and what groups of rows publish of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sudare.engine.kernels.recoding import Model

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


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


def places(columns: Sequence[Column]) -> tuple[Floats, Ints]:
    """The place of every code of every column from 0 to 1, one after another, and where columns begin."""
    points = [
        column.point if isinstance(column, Line) else np.linspace(0, 1, max(column.width, 1))
        for column in columns
    ]
    return np.concatenate(points), np.concatenate([[0], np.cumsum([len(p) for p in points])]).astype(np.int64)


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
