"""Microaggregate: groups of at least k near rows publish their mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sudare.constraints import AtLeast
from sudare.engine.numbers import as_numbers, is_number
from sudare.errors import DataError, UsageError
from sudare.keys import Key
from sudare.methods.numeric import like, numeric_columns
from sudare.methods.quasi import check_k
from sudare.registry import method

if TYPE_CHECKING:
    from sudare.engine.rows import Draft

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@method
@dataclass(frozen=True, kw_only=True)
class Microaggregate:
    """MDAV (Domingo-Ferrer & Torra 2005): every row publishes the mean of its group in the chosen columns.

    Numbers are standardised before distances are taken. With a column of categories among `columns` the
    distance is Gower's and the group's commonest category is published. `variant="mdav"` is the published
    algorithm, whose time grows with the square of the rows; `variant="tree"` orders the rows once and finds
    neighbours in a tree: a million rows in seconds, at a loss within 3% of MDAV's on the tables of the
    literature. Information loss is SSE/SST, the part of the standardised columns' variance that is gone (with
    categories: the mean distance from the group's centre over that from the table's).

    >>> import pyarrow as pa, sudare
    >>> ds = sudare.open(pa.table({"pay": [1.0, 2.0, 9.0, 11.0]}), sensitive=["pay"])
    >>> release = sudare.anonymize(ds, Microaggregate(k=2, columns=["pay"]), key=bytes(range(32)))
    >>> sorted(release.data.to_pyarrow()["pay"].to_pylist())
    [1.5, 1.5, 10.0, 10.0]
    """

    k: Annotated[int, AtLeast(2)]
    columns: Sequence[str] | None = None
    variant: Literal["mdav", "tree"] = "mdav"

    scope: ClassVar[str] = "table"
    instead: ClassVar[str] = "use average within groups instead"
    technique: ClassVar[str] = "microaggregation"
    family: ClassVar[str] = "k-anonymity"
    details: ClassVar[Mapping[str, str]] = {
        "k": "fact",
        "groups": "total",
        "smallest": "fact",
        "largest": "fact",
        "information_loss": "mean",
    }

    def apply(self, draft: Draft, key: Key) -> Draft:
        """Group the rows in the order of their ids, so that the order they came in does not matter."""
        if self.columns is None:
            names = numeric_columns(draft, None, "microaggregate")
        else:
            names = draft.require(*((self.columns,) if isinstance(self.columns, str) else self.columns))
        check_k(draft, self.k, "microaggregate")
        numeric = [name for name in names if is_number(draft.table.schema.field(name).type)]
        turn = np.lexsort((draft.ids[:, 1], draft.ids[:, 0]))
        numbers = _numbers(draft, numeric)[turn]
        if len(numeric) == len(names):
            draft, group_of, loss = self._plain(draft, numbers, numeric, turn)
        else:
            draft, group_of, loss = self._mixed(draft, numbers, numeric, names, turn)
        sizes = np.bincount(group_of)
        found = {"groups": len(sizes), "smallest": int(sizes.min()), "largest": int(sizes.max())}
        return draft.replace(details={"k": self.k, **found, "information_loss": loss})

    def _plain(
        self, draft: Draft, numbers: Floats, names: list[str], turn: Ints
    ) -> tuple[Draft, Ints, float]:
        from sudare.engine.kernels.mdav import mdav
        from sudare.engine.kernels.mdav_tree import mdav_tree

        standard = standardise(numbers)
        group_of = (mdav if self.variant == "mdav" else mdav_tree)(standard, self.k)
        draft = _publish_means(draft, numbers, names, group_of, turn)
        return draft, group_of, information_loss(standard, group_of)

    def _mixed(
        self, draft: Draft, numbers: Floats, numeric: list[str], names: Sequence[str], turn: Ints
    ) -> tuple[Draft, Ints, float]:
        import pyarrow as pa

        from sudare.engine.codes import codes
        from sudare.engine.kernels.mdav_mixed import mdav_mixed

        if self.variant != "mdav":
            raise UsageError(
                "microaggregate: the tree takes numbers only; use variant='mdav' with categories"
            )
        categories = [name for name in names if name not in numeric]
        matrix, values = codes(draft.table, categories)
        matrix = matrix[turn]
        span = np.ptp(numbers, axis=0) if numeric else np.ones(0)
        scaled = (numbers - numbers.min(axis=0, initial=np.inf)) / np.where(span > 0, span, 1.0)
        widths = np.array([len(known) for known in values], np.int64)
        group_of = mdav_mixed(scaled, matrix, widths, self.k)
        commonest = np.stack([_commonest(column, group_of) for column in matrix.T], axis=1)[group_of]
        for c, name in enumerate(categories):
            cells = np.empty(draft.rows, np.int64)
            cells[turn] = commonest[:, c]
            draft = draft.with_column(name, values[c].take(pa.array(cells)))
        draft = _publish_means(draft, numbers, numeric, group_of, turn)
        return draft, group_of, _mixed_loss(scaled, matrix, group_of, commonest)


def standardise(numbers: Floats) -> Floats:
    """Columns with mean 0 and standard deviation 1 (a constant column stays 0)."""
    deviation = numbers.std(axis=0, ddof=1)
    return np.ascontiguousarray((numbers - numbers.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0))


def group_means(numbers: Floats, group_of: Ints) -> Floats:
    """For every row the mean of its group.

    >>> group_means(np.array([[1.0], [3.0], [8.0]]), np.array([0, 0, 1])).ravel().tolist()
    [2.0, 2.0, 8.0]
    """
    sizes = np.bincount(group_of)
    sums = [np.bincount(group_of, column) / sizes for column in numbers.T]
    return np.stack(sums, axis=1)[group_of] if sums else np.empty((len(group_of), 0))


def information_loss(standard: Floats, group_of: Ints) -> float:
    """SSE/SST: squared distances from the group's mean over squared distances from the table's.

    >>> information_loss(np.array([[0.0], [2.0], [10.0], [12.0]]), np.array([0, 0, 1, 1]))
    0.038461538461538464
    """
    whole = float(((standard - standard.mean(axis=0)) ** 2).sum())
    return float(((standard - group_means(standard, group_of)) ** 2).sum()) / whole if whole else 0.0


def _numbers(draft: Draft, names: list[str]) -> Floats:
    for name in names:
        missing = draft.table[name].null_count
        if missing:
            raise DataError(
                f"column '{name}': {missing} cells are missing; fill them or leave the column out"
            )
    columns = [as_numbers(draft.table[name], name) for name in names]
    return np.stack(columns, axis=1) if columns else np.empty((draft.rows, 0))


def _commonest(codes: NDArray[np.int32], group_of: Ints) -> NDArray[np.int64]:
    """The commonest code of every group, the smallest among equals."""
    width = int(codes.max()) + 1
    pairs, counts = np.unique(group_of * width + codes, return_counts=True)
    best = np.lexsort((pairs, -counts, pairs // width))
    first = np.concatenate([[True], np.diff(pairs[best] // width) > 0])
    return np.asarray(pairs[best][first] % width, np.int64)


def _mixed_loss(
    scaled: Floats, matrix: NDArray[np.int32], group_of: Ints, commonest: NDArray[np.int64]
) -> float:
    """Gower's distances from the group's centre over those from the table's."""
    apart = np.abs(scaled - group_means(scaled, group_of)).sum() + (matrix != commonest).sum()
    centre = np.array([np.bincount(column).argmax() for column in matrix.T])
    spread = np.abs(scaled - scaled.mean(axis=0)).sum() + (matrix != centre).sum()
    return float(apart / spread) if spread else 0.0


def _publish_means(draft: Draft, numbers: Floats, names: list[str], group_of: Ints, turn: Ints) -> Draft:
    means = np.empty_like(numbers)
    means[turn] = group_means(numbers, group_of)
    for c, name in enumerate(names):
        draft = draft.with_column(name, like(means[:, c], draft.table[name]))
    return draft
