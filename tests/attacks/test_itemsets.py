"""The item-set attacks against their definitions, and against dummy records."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import log, sqrt

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.attacks import Jaccard, TfIdf, Twins
from sudare.data.dataset import Dataset
from sudare.data.published import Published
from sudare.data.roles import Roles
from sudare.engine.pair import pair_of
from sudare.errors import UsageError

ROLES = Roles.of(user="user")
tables = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=25)


def dataset(rows):
    return Dataset.from_arrow(
        pa.table({"user": [f"u{u}" for u, _ in rows], "goods": [f"g{g}" for _, g in rows]}), ROLES
    )


def counted(rows):
    found: dict[int, Counter] = {}
    for u, g in sorted(rows):
        found.setdefault(u, Counter())[g] += 1
    return list(found.values())


def best(likeness):
    top = max(likeness, default=0)
    return [i for i, x in enumerate(likeness) if top > 0 and x >= top * (1 - 1e-12)]


def by_jaccard(original, release):
    return [best([Fraction(len(a & b), len(a | b)) for a in map(set, original)]) for b in map(set, release)]


def by_tfidf(original, release):
    owners = Counter(g for a in original for g in a)
    rarity = {
        g: 1 + log((1 + len(original)) / (1 + owners[g]))
        for g in {g for a in [*original, *release] for g in a}
    }

    def vector(a):
        return {g: (1 + log(times)) * rarity[g] for g, times in a.items()}

    def cosine(a, b):
        top = sum(a[g] * b[g] for g in a.keys() & b.keys())
        return top / sqrt(sum(x * x for x in a.values()) * sum(x * x for x in b.values()))

    return [best([cosine(vector(a), vector(b)) for a in original]) for b in release]


@settings(max_examples=80, deadline=None)
@given(tables, tables)
@pytest.mark.parametrize(("attack", "slow"), [(Jaccard(), by_jaccard), (TfIdf(), by_tfidf)])
def test_candidates_are_those_of_the_definition(attack, slow, original, release):
    found = attack.match(pair_of(dataset(original), Published.of(dataset(release))))
    expected = slow(counted(original), counted(release))
    assert [found.of_row(u).tolist() for u in range(len(expected))] == expected


histories_with_days = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=20
)


def by_twins(original, release):
    owned = {u: {g for v, g, _ in original if v == u} for u, _, _ in original}
    found = []
    for u in sorted({u for u, _, _ in release}):
        has = {g for v, g, _ in release if v == u}
        lone = {
            g
            for v, g, d in release
            if v == u and not any((g, d) == row[1:] and row[0] != u for row in release)
        }
        found.append([place for place, v in enumerate(sorted(owned)) if lone <= owned[v] <= has])
    return found


@settings(max_examples=80, deadline=None)
@given(histories_with_days, histories_with_days)
def test_records_without_a_twin_are_certain(original, release):
    def table(rows):
        names = [f"u{u}" for u, _, _ in rows]
        columns = {"user": names, "goods": [g for _, g, _ in rows], "day": [d for _, _, d in rows]}
        return Dataset.from_arrow(pa.table(columns), ROLES)

    found = Twins(columns=("goods",)).match(pair_of(table(original), Published.of(table(release))))
    expected = by_twins(original, release)
    assert [found.of_row(u).tolist() for u in range(len(expected))] == expected


def test_dummies_do_not_hide_which_records_are_real(shop, key):
    release = sudare.anonymize(shop, sudare.methods.DummyRecords(value="goods", k=4, effort="low"), key=key)
    rates = {row["attack"]: row["rate"] for row in sudare.attack(shop, release, [Jaccard(), Twins()]).rows}
    assert rates["jaccard"] <= 0.25 + 1e-9
    assert rates["twins"] > rates["jaccard"]


@pytest.fixture(scope="module")
def shop():
    return sudare.open("example:histories:60", user="user", identifier="invoice")


def test_a_release_under_pseudonyms_alone_is_wide_open(shop, key):
    release = sudare.anonymize(shop, sudare.methods.Pseudonymize(), key=key)
    result = sudare.attack(shop, release, [Jaccard(), TfIdf()])
    assert [row["rate"] for row in result.rows] == [1.0, 1.0]
    assert result.rows[0]["baseline"] == pytest.approx(1 / 60)


@pytest.mark.parametrize("k", [2, 4])
def test_equal_sets_leave_jaccard_one_in_k(shop, key, k):
    release = sudare.anonymize(shop, sudare.methods.DummyRecords(value="goods", k=k, effort="trial"), key=key)
    rate = sudare.attack(shop, release, Jaccard()).rows[0]["rate"]
    assert rate <= 1 / k + 1e-9


def test_equal_histories_leave_tfidf_one_in_k_too(shop, key):
    method = sudare.methods.DummyRecords(value="goods", k=4, keep="multiset", effort="trial")
    rate = sudare.attack(shop, sudare.anonymize(shop, method, key=key), TfIdf()).rows[0]["rate"]
    assert rate <= 1 / 4 + 1e-9


def test_the_battery_compares_the_dummied_column_and_everything(shop, key):
    method = sudare.methods.DummyRecords(value="goods", k=2, effort="trial")
    names = [row["attack"] for row in sudare.attack(shop, sudare.anonymize(shop, method, key=key)).rows]
    assert {"jaccard", "jaccard(columns=5)", "tf-idf", "tf-idf(columns=5)"} <= set(names)


def test_a_table_without_users_is_refused():
    people = sudare.open("example:patients", quasi=["sex"])
    assert Jaccard.suited(pair_of(people, Published.of(people))) == []
    with pytest.raises(UsageError, match="user"):
        Jaccard().match(pair_of(people, Published.of(people)))


def test_users_who_share_nothing_are_given_up():
    result = sudare.attack(dataset([(0, 0), (1, 1)]), dataset([(1, 1), (0, 5)]), Jaccard(), truth=[1, 0])
    assert result.rows[0]["gave_up"] == 1
    assert result.rows[0]["rate"] == 0.5
