"""The risk that is left after de-identification: the attacker knows true records and matches published ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.dataset import Dataset
from sudare.data.published import Published, Truth
from sudare.data.values.sets import from_text
from sudare.engine import risk as engine
from sudare.engine.codes import classes, codes
from sudare.engine.risk_after import Published as PublishedCodes
from sudare.engine.risk_after import right_guesses
from sudare.errors import UsageError
from sudare.risk import formulas
from sudare.risk.consistent import consistent_pairs
from sudare.risk.knowledge import Subset

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]


def after_rows(
    ds: Dataset,
    sets: Sequence[Subset],
    release: Any,
    truth: Iterable[Any] | None,
    attacker: str,
    missing: str,
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """R' per set of attributes with the risk before beside it, and notes on columns whose values were moved.

    R' = (1/m) sum over the true records of [u in C(x)] / |C(x)|, where C(x) are the published people with a record
    consistent with x. An attribute that is not published helps nobody: every published person stays a candidate.
    """
    if attacker != "uniform" or missing != "value":
        raise UsageError(
            "release: the risk after is measured for the uniform attacker, missing values counted"
        )
    columns = list(dict.fromkeys(name for subset in sets for name in subset))
    with _pair(ds, _published(release, truth, ds), columns) as pair:
        before = engine.profiles(ds, sets)
        return [_row(pair, profile) for profile in before], tuple(
            _moved(pair, name) for name in pair.seen if pair.moved(name)
        )


def _pair(ds: Dataset, release: Published, columns: list[str]) -> AbstractContextManager[Any]:
    if ds.engine == "pyspark" and release.data.engine == "pyspark":
        from sudare.risk.after_spark import SparkPair

        return SparkPair.of(ds, release, columns)
    rows = release.rows_among(ds.rows)
    assert rows is not None
    return nullcontext(Pair.of(ds, release.data, rows, columns))


@dataclass(frozen=True)
class Pair:
    """The codes of the original and of the release, and the truth between them."""

    users: Ints
    people: Ints
    rows: Ints
    true: Mapping[str, tuple[Ints, list[Any]]]
    seen: Mapping[str, tuple[Ints, list[Any]]]

    @classmethod
    def of(cls, ds: Dataset, published: Dataset, rows: Ints, columns: Sequence[str]) -> Pair:
        shown = [name for name in columns if name in published.columns]
        return cls(
            users=_people(ds),
            people=_people(published),
            rows=rows,
            true=_coded(ds, columns),
            seen=_coded(published, shown, sets=published.set_columns - ds.set_columns),
        )

    @cached_property
    def owner(self) -> Ints:
        """The true user of every published person: the one most of their records are about, -1 for nobody."""
        real = self.rows >= 0
        owner = np.full(int(self.people.max()) + 1, -1, np.int64)
        label, sizes = classes(np.stack([self.people[real], self.users[self.rows[real]]], axis=1))
        users = self.users[self.rows[real]]
        order = np.lexsort((users, sizes[label]))  # the most frequent pair is written last
        owner[self.people[real][order]] = users[order]
        return owner

    @property
    def records(self) -> int:
        return len(self.users)

    def right_guesses(self, shown: Sequence[str]) -> float:
        """The expected number of true records whose user is guessed by what is published of these columns."""
        published = PublishedCodes(
            people=self.people, values=_vectors(self.seen, shown, len(self.people)), owner=self.owner
        )
        near = [self.near[name] for name in shown]
        true = _vectors(self.true, shown, len(self.users))
        return right_guesses(users=self.users, true=true, published=published, near=near)

    def moved(self, name: str) -> float:
        """The share of published records whose value does not stand for the true one: noise, swapping, redrawing."""
        (true, _), (seen, shown) = self.true[name], self.seen[name]
        real = self.rows >= 0
        pairs = self.near[name]
        known = set((pairs[:, 0] * len(shown) + pairs[:, 1]).tolist())
        here, counts = np.unique(true[self.rows[real]] * len(shown) + seen[real], return_counts=True)
        return float(
            sum(n for pair, n in zip(here.tolist(), counts.tolist()) if pair not in known)
            / max(real.sum(), 1)
        )

    @cached_property
    def near(self) -> dict[str, Ints]:
        """Per column the (true, published) pairs of values that may belong together."""
        return {name: self._consistent(name) for name in self.seen}

    def _consistent(self, name: str) -> Ints:
        (true, values), (seen, shown) = self.true[name], self.seen[name]
        real = self.rows >= 0
        observed = np.unique(np.stack([true[self.rows[real]], seen[real]], axis=1), axis=0)
        return consistent_pairs(values, shown, observed)


def _moved(pair: Any, name: str) -> str:
    return (
        f"{name}: {pair.moved(name):.0%} of the published records carry another value than the true one; this attacker "
        "matches equal values only, `sudare attack` looks for the nearest."
    )


def _row(pair: Any, profile: Any) -> dict[str, Any]:
    from sudare.risk.measure import row_of

    subset = profile.attributes
    shown = [name for name in subset if name in pair.seen]
    left = pair.right_guesses(shown)
    return row_of(
        subset,
        records=profile.records,
        users=profile.users,
        values=profile.values,
        alpha=None,
        bounded=False,
        risk=left / pair.records,
        attacker="uniform",
        model="after",
        risk_before=formulas.uniform_risk(profile),
    )


def _published(release: Any, truth: Truth | None, ds: Dataset) -> Published:
    """The release with its truth; its people are named by the original's user column if it does not say."""
    published = Published.of(release, truth)
    if not published.has_truth:
        raise UsageError(
            "release: to measure what is left, the truth is needed; give a Release, or truth= with a table"
        )
    user, data = ds.roles.user, published.data
    if data.roles.user is None and user in data.columns and user not in data.roles.assigned:
        return replace(published, data=data.with_roles(user=user))
    return published


def _vectors(coded: Mapping[str, tuple[Ints, list[Any]]], names: Sequence[str], rows: int) -> Ints:
    columns = [coded[name][0] for name in names]
    return np.stack(columns, axis=1) if columns else np.zeros((rows, 0), np.int64)


def _people(ds: Dataset) -> Ints:
    if ds.roles.user is None:
        return np.arange(ds.rows, dtype=np.int64)
    matrix, _ = codes(ds.to_pyarrow([ds.roles.user]), [ds.roles.user])
    return matrix[:, 0].astype(np.int64)


def _coded(
    ds: Dataset, columns: Sequence[str], sets: Collection[str] = ()
) -> dict[str, tuple[Ints, list[Any]]]:
    if not columns:
        return {}
    matrix, values = codes(ds.to_pyarrow(columns), columns)
    return {
        name: (matrix[:, place].astype(np.int64), values_of(values[place], name in sets))
        for place, name in enumerate(columns)
    }


def values_of(coded: pa.Array, sets: bool) -> list[Any]:
    """The values by code; sets, which are coded by their texts, as lists again."""
    values = coded.to_pylist()
    return [None if text is None else from_text(text) for text in values] if sets else values
