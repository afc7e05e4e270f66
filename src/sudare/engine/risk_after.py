"""How many true records an attacker links with a release: candidates by consistent values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudare.engine.codes import classes
from sudare.engine.kernels import risk_cross as kernel

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Published:
    """The published records: who (a number per pseudonym), their values, and the true user of each pseudonym."""

    people: Ints
    values: Ints
    owner: Ints


def right_guesses(*, users: Ints, true: Ints, published: Published, near: Sequence[Ints]) -> float:
    """The expected number of true records whose user is guessed among the published people consistent with it.

    `near` holds, per column, the (true, published) pairs of values that may belong together.
    """
    known, first = _distinct(true)
    shown, first_shown = _distinct(published.values)
    consistent = reach(true[first], published.values[first_shown], near)
    group, reach_start, reach_values = grouped(*consistent)
    holder_start, holders = _lists(*_unique_pairs(shown, published.people), len(first_shown))
    label, sizes = classes(np.stack([group[known], users], axis=1))
    _, example = np.unique(label, return_index=True)
    owner_group, owner_user = group[known][example], users[example]
    order = np.argsort(owner_group, kind="stable")
    known_start = np.searchsorted(owner_group[order], np.arange(len(reach_start)))
    return float(
        kernel.hits(
            reach_start, reach_values, holder_start, holders, published.owner,
            known_start, owner_user[order], sizes[order], int(max(users.max(), published.owner.max())) + 1,
        )
    )  # fmt: skip


def _distinct(matrix: Ints) -> tuple[Ints, Ints]:
    """The number of every row's vector, and an example row of each vector."""
    label, _ = classes(matrix)
    _, example = np.unique(label, return_index=True)
    return label, example.astype(np.int64)


def reach(true: Ints, shown: Ints, near: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Per true vector the published vectors consistent in every column, as start and list."""
    if not near:
        pairs = np.stack([np.zeros(len(shown), np.int64), np.arange(len(shown))], axis=1)
        return _lists(pairs[:, 0], pairs[:, 1], len(true))
    start, found = _lists(near[0][:, 0], near[0][:, 1], int(true[:, 0].max()) + 1)
    by_first = np.argsort(shown[:, 0], kind="stable")
    first_start = np.searchsorted(shown[by_first, 0], np.arange(int(shown[:, 0].max()) + 2))
    allowed = [_matrix(pairs, true[:, c + 1], shown[:, c + 1]) for c, pairs in enumerate(near[1:])]
    sizes, parts = np.zeros(len(true) + 1, np.int64), []
    for row, vector in enumerate(true):
        values = found[start[vector[0]] : start[vector[0] + 1]]
        parts_of_row = [by_first[first_start[v] : first_start[v + 1]] for v in values]
        candidates = np.concatenate(parts_of_row) if parts_of_row else np.empty(0, np.int64)
        for column, matrix in enumerate(allowed, 1):
            candidates = candidates[matrix[vector[column], shown[candidates, column]]]
        sizes[row + 1] = len(candidates)
        parts.append(np.sort(candidates))
    return np.cumsum(sizes), np.concatenate(parts) if parts else np.empty(0, np.int64)


def _matrix(pairs: Ints, true: Ints, shown: Ints) -> NDArray[np.bool_]:
    matrix = np.zeros((int(true.max()) + 1, int(shown.max()) + 1), np.bool_)
    inside = (pairs[:, 0] < matrix.shape[0]) & (pairs[:, 1] < matrix.shape[1])
    matrix[pairs[inside, 0], pairs[inside, 1]] = True
    return matrix


def grouped(start: Ints, values: Ints) -> tuple[Ints, Ints, Ints]:
    """Vectors with the same candidates are one group: after recoding there are few of them."""
    seen: dict[bytes, int] = {}
    group, kept = np.empty(len(start) - 1, np.int64), []
    for row in range(len(start) - 1):
        mine = values[start[row] : start[row + 1]]
        name = mine.tobytes()
        if name not in seen:
            seen[name] = len(seen)
            kept.append(mine)
        group[row] = seen[name]
    ends = np.cumsum([0, *(len(mine) for mine in kept)])
    return group, ends.astype(np.int64), np.concatenate(kept) if kept else np.empty(0, np.int64)


def _unique_pairs(first: Ints, second: Ints) -> tuple[Ints, Ints]:
    pairs = np.unique(first * (int(second.max()) + 1) + second)
    width = int(second.max()) + 1
    return pairs // width, pairs % width


def _lists(first: Ints, second: Ints, size: int) -> tuple[Ints, Ints]:
    """The second numbers by the first: where each list starts, and the lists one after another."""
    order = np.argsort(first, kind="stable")
    return np.searchsorted(first[order], np.arange(size + 1)).astype(np.int64), second[order].astype(np.int64)
