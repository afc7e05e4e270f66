"""The lattice of generalisation levels: which vectors reach k, and which of them loses least."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sudare.engine.recoding import distinct

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

UNKNOWN, ANONYMOUS, OPEN = 0, 1, 2


@dataclass(eq=False)
class Lattice:
    """Global recoding: one level per column for the whole table; rows in classes below k are suppressed.

    up[c][level, code] and loss[c][level, code] describe the columns. A vector is anonymous when it suppresses
    at most `most` rows. Coarser vectors of an anonymous one are anonymous too (classes only grow), which spares
    most checks (Kohlmayer et al. 2012, Flash; El Emam et al. 2009, OLA).
    """

    codes: Codes
    up: Sequence[Codes]
    loss: Sequence[Floats]
    k: int
    most: int
    checks: int = 0
    values: Codes = field(init=False)
    counts: Ints = field(init=False)
    shape: tuple[int, ...] = field(init=False)
    status: NDArray[np.int8] = field(init=False)
    suppressed: Ints = field(init=False)

    def __post_init__(self) -> None:
        self.values, _, self.counts = distinct(self.codes)
        self.shape = tuple(len(levels) for levels in self.up)
        self.status = np.zeros(self.shape, np.int8)
        self.suppressed = np.full(self.shape, -1, np.int64)
        self._first = np.concatenate([[0], np.cumsum(self.shape)])[:-1].astype(np.int64)
        width = max(levels.shape[1] for levels in self.up)
        self._nodes = np.zeros((sum(self.shape), width), np.int32)
        for c, levels in enumerate(self.up):
            self._nodes[self._first[c] : self._first[c] + len(levels), : levels.shape[1]] = levels
        cells = [loss[:, self.values[:, c]] for c, loss in enumerate(self.loss)]
        self._row_loss = cells
        self._level_loss = [np.asarray(cell @ self.counts / self.counts.sum()) for cell in cells]

    def explore(self) -> None:
        """Classify every vector: along chains of ever coarser vectors by bisection, tagging what follows."""
        for vector in self._by_height():
            if self.status[vector] == UNKNOWN:
                self._bisect(self._chain(vector))

    def best(self) -> tuple[tuple[int, ...], float] | None:
        """The anonymous vector of least loss: NCP, a suppressed row counting 1 in every column.

        Suppression only adds to the loss of a vector without it, which is known without looking at rows: vectors
        are visited by that bound and the search ends when it passes the best loss found.
        """
        bound = self.bounds()
        found: tuple[tuple[int, ...], float] | None = None
        for index in np.argsort(bound, axis=None, kind="stable"):
            vector = tuple(int(level) for level in np.unravel_index(index, self.shape))
            if found is not None and bound[vector] >= found[1]:
                break
            if self.status[vector] == ANONYMOUS:
                loss = self.loss_of(vector)
                if found is None or loss < found[1]:
                    found = (vector, loss)
        return found

    def bounds(self) -> Floats:
        """NCP of every vector without suppression."""
        total = np.zeros(self.shape)
        for c, loss in enumerate(self._level_loss):
            total += loss.reshape([-1 if d == c else 1 for d in range(len(self.shape))])
        return total / len(self.shape)

    def loss_of(self, vector: tuple[int, ...]) -> float:
        """NCP of a vector with its suppressed rows."""
        gone = self.marked(vector)
        rows = np.mean([cell[level] for cell, level in zip(self._row_loss, vector)], axis=0)
        return float(np.where(gone, 1.0, rows) @ self.counts / self.counts.sum())

    def marked(self, vector: tuple[int, ...]) -> NDArray[np.bool_]:
        """Which distinct rows a vector suppresses."""
        from sudare.engine.kernels.lattice import small_classes

        out = np.empty(len(self.values), np.bool_)
        levels = np.array(vector, np.int64)
        self.checks += 1
        self.suppressed[vector] = small_classes(
            self._nodes, self._first, levels, self.values, self.counts, self.k, out
        )
        return out

    def minimal(self) -> list[tuple[int, ...]]:
        """Anonymous vectors of which nothing finer is anonymous."""
        fine = self.status == ANONYMOUS
        for c in range(len(self.shape)):
            finer = np.roll(self.status, 1, axis=c) == ANONYMOUS
            finer[(slice(None),) * c + (0,)] = False
            fine &= ~finer
        return [tuple(int(level) for level in vector) for vector in np.argwhere(fine)]

    def _bisect(self, chain: list[tuple[int, ...]]) -> None:
        low, high = 0, len(chain) - 1
        while low <= high:
            middle = (low + high) // 2
            if self._is_anonymous(chain[middle]):
                high = middle - 1
            else:
                low = middle + 1

    def _is_anonymous(self, vector: tuple[int, ...]) -> bool:
        if self.status[vector] == UNKNOWN:
            self.marked(vector)
            if self.suppressed[vector] <= self.most:
                self.status[tuple(slice(level, None) for level in vector)] = ANONYMOUS
            else:
                self.status[tuple(slice(None, level + 1) for level in vector)] = OPEN
        return bool(self.status[vector] == ANONYMOUS)

    def _chain(self, vector: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Unknown vectors upwards from one, each a step coarser, the cheapest step first."""
        chain = [vector]
        while True:
            steps = []
            for c, level in enumerate(vector):
                if level + 1 < self.shape[c]:
                    above = (*vector[:c], level + 1, *vector[c + 1 :])
                    if self.status[above] == UNKNOWN:
                        steps.append((self._level_loss[c][level + 1] - self._level_loss[c][level], above))
            if not steps:
                return chain
            vector = min(steps)[1]
            chain.append(vector)

    def _by_height(self) -> Iterator[tuple[int, ...]]:
        heights = np.indices(self.shape).sum(axis=0)
        for index in np.argsort(heights, axis=None, kind="stable"):
            yield tuple(int(level) for level in np.unravel_index(index, self.shape))
