"""Gower's distance: words and numbers together, and published sets or intervals read for what they allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.base import Candidates
from sudare.attacks.matching import Matching, Scope
from sudare.engine.pair import Pair
from sudare.errors import UsageError
from sudare.registry import attack

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

PAIRS = 25_000_000
MOST_PAIRS = 10**11


@attack
@dataclass(frozen=True, kw_only=True)
class Gower(Matching):
    """Nearest by Gower's distance over all columns with a role, none of which must be equal.

    Each numeric column counts |x - y| / range, each other column 0 if the published value may stand for
    the original one (equal, a set or interval that holds it, suppressed) and 1 if not. All rows are
    compared, so the work grows with the product of the tables' lengths.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="age")
    >>> release = sudare.anonymize(patients, sudare.methods.Round(column="age", to=5), key=bytes(range(32)))
    >>> sudare.attack(patients, release, Gower()).rows[0]["rate"]
    1.0
    """

    priority: ClassVar[int] = 90
    scope: ClassVar[Scope] = "row"
    columns: tuple[str, ...] | None = None

    def match(self, pair: Pair) -> Candidates:
        columns = tuple(self.columns) if self.columns is not None else _all_columns(pair)
        if not columns:
            raise UsageError("gower: no column to compare; give columns=")
        if pair.originals * pair.releases > MOST_PAIRS:
            raise UsageError(
                "gower: too many pairs of rows to compare; use standardized-euclid for large tables"
            )
        mixed = _mixed(pair, columns)
        return _nearest(mixed)

    @classmethod
    def suited(cls, pair: Pair) -> Sequence[Self]:
        return [cls()] if _all_columns(pair) and pair.originals * pair.releases <= PAIRS else []


class _Mixed(NamedTuple):
    numbers: Floats
    codes: Codes
    others: Floats
    labels: Codes
    apart: Floats
    begins: Ints


def _all_columns(pair: Pair) -> tuple[str, ...]:
    import pyarrow as pa

    known = [c for c in (*pair.roles.quasi, *pair.roles.sensitive) if c in pair.release.columns]
    schema = pair.release.schema
    return tuple(c for c in known if not pa.types.is_nested(schema.field(c).type))


def _mixed(pair: Pair, columns: Sequence[str]) -> _Mixed:
    numeric = pair.numeric_columns(columns)
    words = [c for c in columns if c not in numeric]
    numbers, others = (
        pair.numbers(numeric) if numeric else (np.empty((pair.originals, 0)), np.empty((pair.releases, 0)))
    )
    spans = [np.ptp(x[~np.isnan(x)]) if (~np.isnan(x)).any() else 0.0 for x in numbers.T]
    scale = np.array([1.0 / span if span > 0 else 1.0 for span in spans])
    tables = [_words(pair, name) for name in words]
    width = max((apart.shape[1] for _, _, apart in tables), default=0)
    begins = np.cumsum([0, *(len(apart) for _, _, apart in tables)]).astype(np.int64)
    together = np.ones((int(begins[-1]), width))
    for begin, (_, _, apart) in zip(begins, tables):
        together[begin : begin + len(apart), : apart.shape[1]] = apart
    return _Mixed(
        numbers * scale,
        _stacked([codes for codes, _, _ in tables], pair.originals),
        others * scale,
        _stacked([labels for _, labels, _ in tables], pair.releases),
        together,
        begins,
    )


def _words(pair: Pair, name: str) -> tuple[Codes, Codes, Floats]:
    """A column's codes in the original and in the release, and which published value excludes which
    original one.
    """
    from sudare.data.values.originals import consistency
    from sudare.engine.codes import codes

    first, second = pair.tables([name])
    matrix, (values,) = codes(first, [name])
    labels, (published,) = codes(second, [name])
    apart = 1.0 - consistency(published.to_pylist(), values.to_pylist()).astype(np.float64)
    return matrix[:, 0], labels[:, 0], apart


def _stacked(columns: list[Codes], rows: int) -> Codes:
    return (
        np.ascontiguousarray(np.column_stack(columns), np.int32) if columns else np.empty((rows, 0), np.int32)
    )


def _nearest(mixed: _Mixed) -> Candidates:
    """Equal original rows are searched once, and so are equal release rows."""
    from sudare.engine.kernels.gower import nearest

    of_original, first = _distinct(mixed.numbers, mixed.codes)
    of_release, shown = _distinct(mixed.others, mixed.labels)
    work = (
        mixed.numbers[first],
        mixed.codes[first],
        mixed.others[shown],
        mixed.labels[shown],
        mixed.apart,
        mixed.begins,
    )
    offsets, found = nearest(*work)
    members = np.argsort(of_original, kind="stable").astype(np.int64)
    ends = np.cumsum(np.bincount(of_original)).astype(np.int64)
    starts = np.concatenate([[0], ends[:-1]])
    return Candidates(members, of_release, offsets, starts[found], ends[found])


def _distinct(numbers: Floats, codes: Codes) -> tuple[Ints, Ints]:
    """The class of equal rows of every row, and the first row of every class."""
    bits = np.where(np.isnan(numbers), np.nan, numbers + 0.0).view(np.int64)
    rows = np.ascontiguousarray(np.hstack([bits, codes.astype(np.int64)]))
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, of = np.unique(keys, return_index=True, return_inverse=True)
    return of.ravel().astype(np.int64), first.astype(np.int64)
