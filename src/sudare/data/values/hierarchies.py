"""Generalisation hierarchies: for every value of a column its path from the value itself to "anything"."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sudare.data.values.recoded import plain
from sudare.errors import DataError, UsageError

ROOT = "*"

Label = str | None


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """The generalisations of a column's values, level by level.

    ``labels[0]`` are the leaves, ``labels[-1]`` is the single root "*"; ``up[level, leaf]`` is the code of
    the leaf's label on that level. Kernels work on codes alone: leaf codes in, codes of a level out. A
    missing value is a leaf of its own (label ``None`` up to the root) where the hierarchy holds one.

    >>> h = Hierarchy.from_paths([("Bachelors", "higher"), ("Masters", "higher"), ("11th", "school")])
    >>> h.levels, h.leaves, h.labels[1]
    (3, ('Bachelors', 'Masters', '11th'), ('higher', 'school'))
    >>> h.ncp(["Masters", "higher", "*"]).tolist()
    [0.0, 0.5, 1.0]
    """

    labels: tuple[tuple[Label, ...], ...]
    up: NDArray[np.int32]

    @classmethod
    def from_paths(cls, paths: Iterable[Sequence[Label]]) -> Hierarchy:
        """Build from one path per leaf, the leaf first; a root "*" is added where the paths do not meet."""
        rows = [tuple(path) for path in paths]
        _check_paths(rows)
        if len({row[-1] for row in rows}) > 1 or (len(rows[0]) == 1):
            rows = [(*row, ROOT) for row in rows]
        labels, up = [], np.empty((len(rows[0]), len(rows)), np.int32)
        for level, column in enumerate(zip(*rows, strict=True)):
            seen: dict[Label, int] = {}
            up[level] = [seen.setdefault(label, len(seen)) for label in column]
            labels.append(tuple(seen))
        hierarchy = cls(tuple(labels), up)
        hierarchy._check_nesting()
        return hierarchy

    @classmethod
    def from_csv(cls, path: str | Path) -> Hierarchy:
        """Read ARX's format: a line per leaf, `;` between levels, leaf first, no header, empty = missing."""
        try:
            with Path(path).open(encoding="utf-8-sig", newline="") as file:
                lines = csv.reader(file, delimiter=";", strict=True)
                rows = [tuple(cell or None for cell in line) for line in lines if line]
        except (OSError, UnicodeDecodeError, csv.Error) as fault:
            raise DataError(
                f"hierarchy file {path} cannot be read; give a UTF-8 CSV with ; between levels"
            ) from fault
        return cls.from_paths(rows)

    @classmethod
    def flat(cls, leaves: Iterable[Label]) -> Hierarchy:
        """Every value directly under the root: publish it or nothing.

        >>> Hierarchy.flat(["m", "f"]).levels
        2
        """
        return cls.from_paths([(leaf, ROOT) for leaf in leaves])

    def to_csv(self, path: str | Path) -> None:
        """Write ARX's format."""
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=";", lineterminator="\n").writerows(self.paths())

    def paths(self) -> list[tuple[Label, ...]]:
        """One tuple per leaf: the leaf, then its label on every level."""
        return [tuple(self.labels[level][code] for level, code in enumerate(codes)) for codes in self.up.T]

    @property
    def levels(self) -> int:
        """Number of levels, the leaves and the root included."""
        return len(self.labels)

    @property
    def leaves(self) -> tuple[Label, ...]:
        """The values of level 0, in code order."""
        return self.labels[0]

    @cached_property
    def sizes(self) -> tuple[NDArray[np.int64], ...]:
        """Per level: how many leaves lie under each of its labels."""
        pairs = zip(self.up, self.labels, strict=True)
        return tuple(np.bincount(codes, minlength=len(labels)) for codes, labels in pairs)

    @cached_property
    def loss(self) -> tuple[NDArray[np.float64], ...]:
        """Per level: NCP of each label = (leaves under it - 1) / (all leaves - 1)."""
        return tuple((sizes - 1) / max(len(self.leaves) - 1, 1) for sizes in self.sizes)

    def codes(self, values: pa.Array | pa.ChunkedArray | Sequence[Any]) -> NDArray[np.int32]:
        """Leaf codes of a column; values that the hierarchy does not hold are an error that counts them.

        >>> Hierarchy.flat(["m", "f"]).codes(["f", "m", "f"]).tolist()
        [1, 0, 1]
        """
        text = as_text(values)
        found = pc.index_in(text, pa.array(self.leaves, pa.string()))
        lost = found.null_count
        if lost:
            raise DataError(f"{lost} of {len(text)} values are not in the hierarchy; add them to its file")
        return np.asarray(found, np.int32)

    def generalize(self, codes: NDArray[np.integer[Any]], level: int) -> NDArray[np.int32]:
        """Codes of the leaves' labels on a level (codes of level 0 in)."""
        return np.asarray(self.up[self.check_level(level)][codes], np.int32)

    def decode(self, codes: NDArray[np.integer[Any]], level: int) -> pa.Array:
        """The labels of codes of a level, as text.

        >>> h = Hierarchy.from_paths([("1", "low"), ("2", "low"), ("9", "high")])
        >>> h.decode(h.generalize(h.codes([9, 1]), 1), 1).to_pylist()
        ['high', 'low']
        """
        return pa.array(self.labels[level], pa.string()).take(pa.array(codes))

    def leaves_under(self, label: Label) -> int:
        """How many leaves a published label stands for; of a label's several levels the widest counts."""
        return self._widest[label] if label in self._widest else self._unknown()

    def ncp(self, published: pa.Array | pa.ChunkedArray | Sequence[Any]) -> NDArray[np.float64]:
        """NCP of each published value; a missing value that is no leaf says nothing, so it costs 1."""
        widest = {None: len(self.leaves), **self._widest}
        encoded = pc.dictionary_encode(as_text(published), null_encoding="encode")
        chunk = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
        counts = [widest[v] if v in widest else self._unknown() for v in chunk.dictionary.to_pylist()]
        loss = (np.asarray(counts, np.float64) - 1) / max(len(self.leaves) - 1, 1)
        return np.asarray(loss[chunk.indices.to_numpy()], np.float64)

    def lowest_common(self, codes: NDArray[np.integer[Any]]) -> int:
        """The lowest level on which all the given leaves carry one label.

        >>> Hierarchy.from_paths([("1", "low"), ("2", "low"), ("9", "high")]).lowest_common([0, 1])
        1
        """
        rows = self.up[:, np.asarray(codes)]
        return int(np.argmax((rows == rows[:, :1]).all(axis=1)))

    def with_missing(self) -> Hierarchy:
        """The same hierarchy with a leaf for missing values, which stay missing below the root."""
        if None in self.leaves:
            return self
        return Hierarchy.from_paths([*self.paths(), (*[None] * (self.levels - 1), self.labels[-1][0])])

    def restrict(self, values: Iterable[Label]) -> Hierarchy:
        """Only the leaves that occur, so that NCP counts no value the data cannot have."""
        keep = set(values)
        return Hierarchy.from_paths([path for path in self.paths() if path[0] in keep])

    def __repr__(self) -> str:
        """No value of the data, but a mark by which two hierarchies differ."""
        mark = hashlib.sha256(repr(self.paths()).encode()).hexdigest()[:8]
        return f"Hierarchy({self.levels} levels, {len(self.leaves)} values, {mark})"

    def check_level(self, level: int) -> int:
        """The level itself, or an error that names the range."""
        if not 0 <= level < self.levels:
            raise UsageError(
                f"level {level} is not in the hierarchy; use 0 (the value) to {self.levels - 1} (the root)"
            )
        return level

    @cached_property
    def _widest(self) -> dict[Label, int]:
        widest: dict[Label, int] = {}
        for labels, sizes in zip(self.labels, self.sizes, strict=True):
            widest.update(
                {label: max(widest.get(label, 0), int(n)) for label, n in zip(labels, sizes, strict=True)}
            )
        return widest

    def _unknown(self) -> int:
        raise DataError("a published value is no value of the hierarchy; publish labels of one of its levels")

    def _check_nesting(self) -> None:
        """A label must lie under one label of the next level: otherwise coarser would not mean less known."""
        for level in range(self.levels - 1):
            pairs = np.unique(self.up[level : level + 2], axis=1).shape[1]
            if pairs != len(self.labels[level]):
                raise UsageError(
                    f"hierarchy level {level} is not nested in level {level + 1}: a label has two parents; "
                    "rename one of them"
                )


def as_text(values: pa.Array | pa.ChunkedArray | Sequence[Any]) -> pa.Array:
    """Any column as text, the form in which hierarchies hold leaves and in which plain values are published.

    >>> as_text([1.0, 2.5, None]).to_pylist()
    ['1', '2.5', None]
    """
    array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    if (
        pa.types.is_integer(array.type)
        or pa.types.is_string(array.type)
        or pa.types.is_large_string(array.type)
    ):
        return array.cast(pa.string())
    if pa.types.is_nested(array.type):
        raise UsageError("a column of sets has no hierarchy; generalise before values are put into sets")
    coded = array if pa.types.is_dictionary(array.type) else pc.dictionary_encode(array)
    known = [plain(value) for value in coded.dictionary.to_pylist()]
    return pa.array(known, pa.string()).take(coded.indices)


def _check_paths(rows: Sequence[tuple[Label, ...]]) -> None:
    if not rows:
        raise DataError("a hierarchy without values; give one line per value")
    lengths = [len(row) for row in rows]
    ragged = next((n for n, length in enumerate(lengths) if length != lengths[0]), None)
    if ragged is not None:
        raise DataError(
            f"hierarchy line {ragged + 1} has {lengths[ragged]} levels, the first has {lengths[0]}"
        )
    if len({row[0] for row in rows}) < len(rows):
        raise DataError(
            f"{len(rows) - len({row[0] for row in rows})} values occur twice in the hierarchy; keep one"
        )
