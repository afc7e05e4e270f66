"""Numbers about people with noise of 10%, for the attacks by nearest neighbours."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sudare.data import Dataset, Roles

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
COLUMNS = [f"s{i}" for i in range(12)]


class Sides:
    """An original, its noisy release in another order, who is who, and the quasi-identifier of both."""

    def __init__(self, records: int, quasi: Ints, release_quasi: Ints | None = None) -> None:
        random = np.random.default_rng(0)
        self.original = random.lognormal(8, 1, (records, len(COLUMNS))).round()
        noise = 0.1 * self.original.std(axis=0) * random.normal(size=self.original.shape)
        self.truth = np.random.default_rng(1).permutation(records)
        self.release = np.ascontiguousarray((self.original + noise)[self.truth])
        self.groups = quasi
        self.release_groups = quasi[self.truth] if release_quasi is None else release_quasi

    @cached_property
    def datasets(self) -> tuple[Dataset, Dataset]:
        return dataset(self.original, self.groups), dataset(self.release, self.release_groups)


def unmatched(records: int) -> Sides:
    """No row of the release has the quasi-identifier of a row of the original."""
    groups = np.arange(records) % 97
    return Sides(records, groups, 1000 + groups)


def in_blocks(records: int, *, block: int) -> Sides:
    """About so many rows share a quasi-identifier."""
    return Sides(records, np.random.default_rng(2).integers(0, max(records // block, 1), records))


def dataset(points: Floats, quasi: Ints) -> Dataset:
    columns = {"q": quasi, **{name: np.ascontiguousarray(c) for name, c in zip(COLUMNS, points.T)}}
    return Dataset.from_arrow(pa.table(columns), Roles.of(quasi="q", sensitive=COLUMNS))
