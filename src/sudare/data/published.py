"""Published: what a measure gets to see of a release, however it was handed over."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sudare.data.dataset import Dataset
from sudare.data.release import Release
from sudare.data.truth import ROW, Ints, checked_truth, read_release_digest, read_truth
from sudare.errors import DataError, UsageError, warn

Truth = Iterable[int | None] | str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class Published:
    """A published table and, where it is known, which original row every row of it is about.

    `release` is the Release as it was made, None for a table that was read back; `given` the truth that came with it.
    """

    data: Dataset
    release: Release | None = None
    given: Truth | None = None

    @classmethod
    def of(
        cls, release: Release | Dataset | Published, truth: Truth | None = None, *, verb: str = "release"
    ) -> Published:
        """From a Release, or from the published Dataset and its truth: row numbers, or the path of their file."""
        if isinstance(release, Published):
            if truth is None:
                return release
            published = replace(release, given=truth)
        elif isinstance(release, Release):
            published = cls(release.data, release, truth)
        elif isinstance(release, Dataset):
            published = cls(release, None, truth)
        else:
            raise UsageError(f"{verb}: give a Release, or a Dataset with truth=")
        published._check_belongs()
        return published

    def _check_belongs(self) -> None:
        """Refuse a card or a truth file that names another release; what names none is taken at its word."""
        card = self.data.published.get("sha256")
        path = self.given if isinstance(self.given, (str, os.PathLike)) else None
        named = None if path is None else read_release_digest(path)
        if card is None and named is None:
            return
        if (digest := self.data.digest) is None:
            warn(
                "S-UNIT", f"{self.data.name}: read elsewhere, so its card and truth were not compared with it"
            )
            return
        if card is not None and card != digest:
            raise DataError(
                f"{self.data.name}: the card beside it belongs to another release, or the release was changed; get "
                "release and card again"
            )
        if named is not None and named != digest:
            raise UsageError(
                f"{path}: this truth belongs to another release than {self.data.name}; give the truth file that was "
                "written with it"
            )

    @property
    def schema(self) -> Mapping[str, Any]:
        """What the release says of its columns."""
        schema = self.data.published.get("schema", {})
        return schema if isinstance(schema, Mapping) else {}

    @property
    def files(self) -> tuple[str | os.PathLike[str], ...]:
        """The files that are read: no output may take their place."""
        path = (self.given,) if isinstance(self.given, (str, os.PathLike)) else ()
        return (*self.data.files, *path)

    @property
    def has_truth(self) -> bool:
        """Whether anybody knows which row is about which; asking costs nothing."""
        return self.given is not None or self.release is not None

    @cached_property
    def rows(self) -> Ints | None:
        """The original row of every published one, -1 for a dummy; None if nobody knows. It comes to this process."""
        if self.given is not None:
            given = read_truth(self.given) if isinstance(self.given, (str, os.PathLike)) else self.given
            return checked_truth(given, self.data.rows)
        return self.release.rows if self.release is not None else None

    def rows_among(self, originals: int) -> Ints | None:
        """The same, checked against the number of rows that the original has."""
        rows = self.rows
        if rows is not None and ((rows < -1) | (rows >= originals)).any():
            raise UsageError(
                f"truth names rows that the original does not have; it has {originals:,} (0 is the first)"
            )
        return rows

    @cached_property
    def fate(self) -> tuple[int, int]:
        """How many rows are dummies, and how many original rows are published; counted where the table is."""
        if self.data.view is not None and (rows := self.rows) is not None:
            return int((rows < 0).sum()), len(np.unique(rows[rows >= 0]))
        row = self.linked.table[ROW]
        counts = {"dummies": (row < 0).sum(), "kept": row.nunique(where=row >= 0)}
        found = self.linked.table.aggregate(**counts).to_pyarrow().to_pylist()[0]
        return int(found["dummies"] or 0), int(found["kept"])

    @cached_property
    def linked(self) -> Dataset:
        """The table with the original row beside every row (`truth.ROW`), where the table is."""
        if self.given is None and self.release is not None:
            return self.release.linked
        if self.given is None:
            raise UsageError("a Dataset needs truth= (for every row its row number in the original)")
        return self.data.linked(self.given)


def original_and_published(
    original: Any, release: Any, truth: Truth | None, verb: str
) -> tuple[Dataset, Published]:
    """Both sides at the door of a verb; two tables whose columns do not belong together are refused."""
    if not isinstance(original, Dataset) or not isinstance(release, (Dataset, Release, Published)):
        raise UsageError(f"{verb}: give a Dataset and a Release, or two Datasets and truth=")
    published = Published.of(release, truth, verb=verb)
    if published.release is None and not published.data.published:  # nobody said what was done to it
        _check_same_columns(original, published.data)
    return original, published


def _check_same_columns(original: Dataset, release: Dataset) -> None:
    unpublished = (*original.roles.identifier, *original.roles.records_only)
    lacks = [c for c in original.columns if c not in release.columns and c not in unpublished]
    extra = [c for c in release.columns if c not in original.columns]
    if lacks or extra:
        words = ([f"lacks {', '.join(lacks)}"] if lacks else []) + (
            [f"adds {', '.join(extra)}"] if extra else []
        )
        raise UsageError(f"original and release have different columns: the release {' and '.join(words)}")
