"""DeleteRecords: some records are not published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

import numpy as np

from sudare.constraints import AtLeast, Below
from sudare.keys import Key, Words, by_words, words
from sudare.registry import method

if TYPE_CHECKING:
    from sudare.engine.rows import Draft
    from sudare.engine.summary import Summary

BUCKET = np.uint64(44)  # binary digits of a draw that do not tell its bucket


@method
@dataclass(frozen=True, kw_only=True)
class DeleteRecords:
    """Leave out a share of the records, drawn at random (P4, method h).

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, DeleteRecords(share=0.5), key=bytes(range(32)))
    >>> release.data.rows
    4
    """

    share: Annotated[float, "a share of the records", AtLeast(0), Below(1)]

    scope: ClassVar[str] = "row"
    technique: ClassVar[str] = "record suppression"
    family: ClassVar[str] = "Generalise and suppress"
    details: ClassVar[Mapping[str, str]] = {"deleted": "total"}

    def apply(self, draft: Draft, key: Key) -> Draft:
        return self.fit(draft.replace(key=key)).apply(draft, key)

    def fit(self, summary: Summary) -> Smallest:
        """The records with the smallest keyed draws go, as many as the share says, found without sorting them all."""
        wanted = round(self.share * summary.size())
        if not wanted:
            return Smallest(None)
        counts: Counter[int] = Counter()
        for part in summary.reduce(_histogram):
            counts.update(part)
        before = 0
        for bucket in sorted(counts):
            if before + counts[bucket] >= wanted:
                break
            before += counts[bucket]
        drawn = np.concatenate(summary.reduce(lambda draft: _in_bucket(draft, bucket)))
        return Smallest(tuple(drawn[by_words(drawn)][wanted - before - 1].tolist()))


class Smallest(NamedTuple):
    """Leave out the records whose draw is not above a limit."""

    limit: tuple[int, int] | None

    def apply(self, draft: Draft, key: Key) -> Draft:
        if self.limit is None:
            return draft.replace(details={"deleted": 0})
        first, second = words(key, "delete", "", draft.ids, 2).T
        low, high = np.array(self.limit, np.uint64)
        gone = (first < low) | ((first == low) & (second <= high))
        return draft.take(~gone).replace(details={"deleted": int(gone.sum())})


def _draws(draft: Draft) -> Words:
    return words(draft.secret, "delete", "", draft.ids, 2)


def _histogram(draft: Draft) -> dict[int, int]:
    """How many draws are in each of a million parts."""
    buckets, counts = np.unique(_draws(draft)[:, 0] >> BUCKET, return_counts=True)
    return dict(zip(buckets.tolist(), counts.tolist()))


def _in_bucket(draft: Draft, bucket: int) -> Words:
    drawn = _draws(draft)
    return drawn[drawn[:, 0] >> BUCKET == np.uint64(bucket)]
