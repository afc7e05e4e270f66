"""DummyRecords: users with equal sets of values, at least k of each, by adding records and losing none (P3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.constraints import AtLeast
from sudare.cost.clusterings import Keep
from sudare.cost.optimise import EffortName
from sudare.data.truth import DUMMY
from sudare.engine.rows import Draft, Together
from sudare.errors import DataError, UsageError
from sudare.keys import Key, Words, by_words, generator, hash_column, uniform, words
from sudare.registry import method

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.cost.itemsets import ItemSets
    from sudare.engine.summary import Summary

Longs = NDArray[np.int64]
PEOPLE = 50_000  # at most in one part, where not everybody fits in one place
PERSONAL = 0.95  # share of users with one value in a column from which the column describes the person


@method
@dataclass(frozen=True, kw_only=True)
class DummyRecords:
    """Add dummy records until every user shares the set of values with at least k - 1 others (P3, section 3).

    Users are clustered so that few dummies are needed. A dummy is a copy of a real record of the same value
    and cluster under another user; columns that describe the person (one value for nearly every user) keep
    the value of that user. With keep="multiset" users share how often they have each value, too.
    `effort` is low, default or high.

    >>> import sudare
    >>> shop = sudare.open("example:purchases", user="user", quasi=["date", "goods"], sensitive="price")
    >>> release = sudare.anonymize(shop, DummyRecords(value="goods", k=3), key=bytes(range(32)))
    >>> release.data.rows, release.steps[0]["details"]["dummies"]
    (14, 4)
    """

    value: str
    k: Annotated[int, AtLeast(1)]
    keep: Keep = "set"
    effort: EffortName = "default"

    scope: ClassVar[str] = "group"
    technique: ClassVar[str] = "k-anonymity by dummy records"
    family: ClassVar[str] = "Histories"
    details: ClassVar[Mapping[str, str]] = {
        "users": "total",
        "clusters": "total",
        "dummies": "total",
        "lower_bound": "total",
        "*": "fact",
    }

    def together(self, shape: Draft) -> Together:
        """All records of a person; everybody together where that can be, else people with similar sets."""
        shape.require(_user_of(shape), self.value)
        return Together((_user_of(shape),), alike=self.value, most=max(PEOPLE, 2 * self.k))

    def fit(self, summary: Summary) -> DummyRecords | InParts:
        """In parts, what one clustering of everybody would need is estimated by the plan's pilot."""
        from sudare.cost.optimise import check_k
        from sudare.cost.plan import plan

        user, people = _user_of(summary.shape), summary.people()
        check_k(self.k, people)
        parts = summary.parts(people, max(PEOPLE, 2 * self.k))
        if parts == 1:
            return self
        pairs = summary.dataset([user, self.value]).with_roles(user=user)
        pilot = plan(pairs, self.value, k=[self.k]).rows[0]["pilot"]
        return InParts(self, parts, None if pilot is None else round(pilot))

    def apply(self, draft: Draft, key: Key) -> Draft:
        from sudare.cost.bound import lower_bound
        from sudare.cost.itemsets import ItemSets
        from sudare.cost.optimise import check_k, cluster

        published = {**draft.schema, "dummies": {self.value: {"k": self.k, "keep": self.keep}}}
        histories = _histories(draft, self.value)
        if not draft.rows:
            return draft.replace(schema=published)
        people, values = len(histories.people), len(histories.values)
        check_k(self.k, people)
        sets = ItemSets.of(histories.user, histories.item, people, values, self.keep)
        seed = int(generator(key, "dummies", self.value).integers(2**63))
        labels = cluster(sets, self.k, effort=self.effort, seed=seed)
        owner, item = missing_items(sets, labels)
        grown = _with_dummies(draft, key, histories, labels, owner, item, sets.value_of)
        facts = {
            "k": self.k,
            "users": people,
            "clusters": int(labels.max()) + 1,
            "dummies": len(owner),
            "lower_bound": lower_bound(sets, self.k, target=len(owner), effort=self.effort),
        }
        return grown.replace(details=facts, schema=published)


@dataclass(frozen=True)
class InParts:
    """Each part of the people clustered on its own.

    A part costs more dummies than everybody together would, for a person may have a better partner in another part.
    How many more is said: `without_parts`.
    """

    method: DummyRecords
    parts: int
    without_parts: int | None

    def apply(self, draft: Draft, key: Key) -> Draft:
        done = self.method.apply(draft, key)
        known = {"parts": self.parts, "without_parts": self.without_parts, "lower_bound": None}
        return done.replace(details={**done.details, **known})


class Histories(NamedTuple):
    """The user and the value of every record, as numbers and by name."""

    columns: tuple[str, str]
    user: Longs
    item: Longs
    people: pa.Array
    values: pa.Array


def _histories(draft: Draft, value: str) -> Histories:
    from sudare.engine.codes import codes

    columns = _user_column(draft), draft.require(value)[0]
    coded, (people, values) = codes(draft.table, columns)
    user, item = coded.astype(np.int64).T
    return Histories(columns, user, item, people, values)


def missing_items(sets: ItemSets, labels: Longs) -> tuple[Longs, Longs]:
    """The (user, item) pairs that users lack of the union of their cluster's sets: one dummy each."""
    from sudare.cost.itemsets import distinct

    l = max(1, sets.values)
    covered = distinct(labels[sets.user_of_pair] * l + sets.items)
    by_cluster = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    cluster, item = covered // l, covered % l
    times = sizes[cluster]
    within = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    member = by_cluster[np.repeat(starts[cluster], times) + within]
    wanted = member * l + np.repeat(item, times)
    owned = sets.user_of_pair * l + sets.items  # sorted, as users and their items are
    place = np.minimum(np.searchsorted(owned, wanted), max(0, len(owned) - 1))
    lacking = np.sort(wanted[owned[place] != wanted]) if len(owned) else wanted[:0]
    return lacking // l, lacking % l


def _with_dummies(
    draft: Draft, key: Key, known: Histories, labels: Longs, owner: Longs, item: Longs, value_of: Longs
) -> Draft:
    """The draft with one dummy for every user and item."""
    import pyarrow as pa

    if len(owner) == 0:
        return draft
    user, value = known.columns
    by_id, l, lacking = by_words(draft.ids), len(known.values), value_of[item]
    start, number = _numbered(owner * l + lacking)
    ids = _dummy_ids(key, known, owner, lacking, number)
    draws = uniform(key, "dummies", value, ids, 2)
    here, wanted = labels[known.user] * l + known.item, labels[owner] * l + lacking
    copied = _draw_others(here, known.user, wanted, owner, by_id, draws[start, 0], number)
    added = draft.table.take(pa.array(copied))
    own = pa.array(_draw_alike(known.user, owner, by_id, draws[:, 1]))
    for name in _personal_columns(draft.table, known.user, len(known.people), known.columns):
        added = _put(added, name, draft.table[name].take(own))
    added = _put(added, user, known.people.take(pa.array(owner)).cast(draft.table[user].type))
    return draft.replace(
        table=pa.concat_tables([draft.table, added]),
        truth=np.concatenate([draft.truth, np.full(len(owner), DUMMY, np.int64)]),
        ids=np.concatenate([draft.ids, ids]),
    )


def _user_of(draft: Draft) -> str:
    if draft.roles.user is None:
        raise UsageError("dummy-records needs to know the person of every record; name the column with user=")
    return draft.roles.user


def _user_column(draft: Draft) -> str:
    user = _user_of(draft)
    absent = draft.table[user].null_count
    if absent:
        raise DataError(f"column '{user}': {absent} records have no user; remove or fill them")
    return user


def _draw_alike(groups: Longs, wanted: Longs, by_id: Longs, draws: NDArray[np.float64]) -> Longs:
    """For every wanted group one of its records, drawn evenly; `by_id` orders records whatever their row."""
    order = by_id[np.argsort(groups[by_id], kind="stable")]
    ranked = groups[order]
    first, last = np.searchsorted(ranked, wanted, "left"), np.searchsorted(ranked, wanted, "right")
    return np.asarray(order[first + (draws * (last - first)).astype(np.int64)])


def _draw_others(
    groups: Longs,
    users: Longs,
    wanted: Longs,
    owner: Longs,
    by_id: Longs,
    draws: NDArray[np.float64],
    number: Longs,
) -> Longs:
    """For every dummy a record of its group (cluster and value) that another user has.

    The dummies that one user needs of a group are different records, as real ones would be: those that follow each
    other from a random one on (`draws`, the same for all of them, and `number`), the user's own left out. There are
    enough, for somebody has as many as are needed.
    """
    known, dense = np.unique(groups, return_inverse=True)
    n = int(users.max()) + 1
    owned, asked = dense * n + users, np.searchsorted(known, wanted) * n
    mixed = by_id[np.argsort(owned[by_id], kind="stable")]
    first, own, after, last = np.searchsorted(
        owned[mixed], np.stack([asked, asked + owner, asked + owner + 1, asked + n])
    )
    others = last - first - (after - own)
    step = ((draws * others).astype(np.int64) + number) % others
    return np.asarray(mixed[first + (after - first + step) % (last - first)])


def _numbered(runs: Longs) -> tuple[Longs, Longs]:
    """For every entry the place of the first one that is equal, and how many equal ones come before it.

    >>> [found.tolist() for found in _numbered(np.array([7, 3, 7, 7]))]
    [[0, 1, 0, 0], [0, 0, 1, 2]]
    """
    order = np.argsort(runs, kind="stable")
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = runs[order][1:] != runs[order][:-1]
    first = np.maximum.accumulate(np.where(fresh, np.arange(len(order)), 0))
    start, number = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    start[order], number[order] = order[first], np.arange(len(order)) - first
    return start, number


def _dummy_ids(key: Key, known: Histories, owner: Longs, lacking: Longs, number: Longs) -> Words:
    """Ids of dummies, from the user, the value and how many of the user's dummies of that value come before."""
    import pyarrow as pa

    who = hash_column(pa.chunked_array([known.people]), key, "dummy-user")[owner]
    what = hash_column(pa.chunked_array([known.values]), key, "dummy-value")[lacking]
    mixed = who ^ (what << np.uint64(1) | what >> np.uint64(63))
    mixed[:, 1] += number.astype(np.uint64)
    return words(key, "dummy-id", known.columns[1], mixed, 2)


def _personal_columns(table: pa.Table, people: Longs, n: int, known: tuple[str, ...]) -> list[str]:
    """Columns that describe the person: one value for nearly every user who has several records."""
    from sudare.engine.codes import codes

    several = np.bincount(people, minlength=n) > 1
    first = np.full(n, len(people))
    np.minimum.at(first, people, np.arange(len(people)))
    found = []
    for name in table.column_names:
        if name in known or not several.any():
            continue
        column = codes(table, [name])[0][:, 0]
        varies = np.bincount(people[column != column[first[people]]], minlength=n) > 0
        if np.mean(~varies[several]) >= PERSONAL:
            found.append(name)
    return found


def _put(table: pa.Table, name: str, column: Any) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, column)
