"""Dummy records: nothing lost, at least k of every set, dm as counted, nothing that gives a dummy away."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.cli.main import run
from sudare.engine.rows import Draft
from sudare.errors import DataError, UsageError
from sudare.keys import Key
from sudare.methods import DummyRecords


def history(table, user="user", value="goods"):
    found: dict[str, Counter] = {}
    for name, item in zip(table[user].to_pylist(), table[value].to_pylist()):
        found.setdefault(name, Counter())[item] += 1
    return found


def shared_by(table, keep, **names):
    """How many users share each history."""
    as_key = (lambda c: frozenset(c)) if keep == "set" else (lambda c: frozenset(c.items()))
    return Counter(as_key(c) for c in history(table, **names).values())


@pytest.fixture(scope="module")
def shop():
    return sudare.open("example:histories:60", user="user", identifier="invoice")


@pytest.mark.parametrize("keep", ["set", "multiset"])
@pytest.mark.parametrize("k", [1, 2, 3, 7, 60])
def test_every_history_is_shared_by_at_least_k_users(shop, key, k, keep):
    release = sudare.anonymize(shop, DummyRecords(value="goods", k=k, keep=keep, effort="trial"), key=key)
    published = release.data.to_pyarrow()
    assert min(shared_by(published, keep).values()) >= k
    real = [row for row in release.truth if row is not None]
    assert sorted(real) == list(range(shop.rows))
    details = release.steps[0]["details"]
    assert len(release.truth) - len(real) == details["dummies"]
    assert details["lower_bound"] <= details["dummies"]


def test_real_records_are_published_as_they_were(shop, key):
    release = sudare.anonymize(shop, DummyRecords(value="goods", k=4, effort="trial"), key=key)
    before, after = shop.to_pyarrow(), release.data.to_pyarrow()
    rows = np.array([-1 if row is None else row for row in release.truth])
    for name in ("date", "time", "goods", "price", "number"):
        real = after[name].take(np.flatnonzero(rows >= 0))
        assert real.to_pylist() == before[name].take(rows[rows >= 0]).to_pylist()


def test_a_dummy_is_a_copy_of_a_real_record_of_its_cluster(shop, key):
    draft = Draft.of(shop, key)
    grown = DummyRecords(value="goods", k=3, effort="trial").apply(draft, key)
    columns = ["date", "time", "goods", "price", "number"]
    rows = [tuple(row.values()) for row in grown.table.select(["user", *columns]).to_pylist()]
    members: dict[frozenset, set] = {}
    for user, counted in history(grown.table).items():
        members.setdefault(frozenset(counted), set()).add(user)
    cluster_of = {user: users for users in members.values() for user in users}
    real = {(row[0], row[1:]) for row in rows[: draft.rows]}
    for row in rows[draft.rows :]:
        assert any((user, row[1:]) in real for user in cluster_of[row[0]])
    assert (grown.truth[draft.rows :] == -1).all()


def test_dummies_of_one_user_are_different_records_of_others(key):
    draw = np.random.default_rng(3)
    users, goods = draw.integers(0, 12, 900), draw.integers(0, 6, 900)
    table = pa.table({"user": users, "goods": goods, "number": np.arange(900)})  # no two records are equal
    ds = sudare.open(table, user="user")
    method = DummyRecords(value="goods", k=4, keep="multiset", effort="trial")
    grown = method.apply(Draft.of(ds, key), key).table
    assert grown.num_rows > 950
    assert max(Counter(zip(*(grown[name].to_pylist() for name in grown.column_names))).values()) == 1


def test_the_same_key_gives_the_same_release_in_any_row_order(shop, key):
    method = DummyRecords(value="goods", k=4, effort="trial")
    table = shop.to_pyarrow()
    mixed = sudare.Dataset.from_arrow(
        table.take(np.random.default_rng(1).permutation(table.num_rows)), shop.roles
    )
    first, second = (sudare.anonymize(ds, method, key=key).data.to_pyarrow() for ds in (shop, mixed))
    assert first.equals(second)
    assert not first.equals(sudare.anonymize(shop, method, key=Key.demo(2)).data.to_pyarrow())


def test_ids_of_dummies_are_unique(shop, key):
    for keep in ("set", "multiset"):
        grown = DummyRecords(value="goods", k=5, keep=keep, effort="trial").apply(Draft.of(shop, key), key)
        assert len(np.unique(grown.ids, axis=0)) == grown.rows


def test_a_column_of_the_person_keeps_the_persons_value(key):
    table = pa.table(
        {
            "user": ["a", "a", "b", "b", "c", "c"],
            "sex": ["F", "F", "M", "M", "F", "F"],
            "goods": ["x", "y", "y", "z", "z", "w"],
        }
    )
    ds = sudare.open(table, user="user")
    grown = DummyRecords(value="goods", k=3).apply(Draft.of(ds, key), key)
    sexes = {}
    for row in grown.table.to_pylist():
        sexes.setdefault(row["user"], set()).add(row["sex"])
    assert sexes == {"a": {"F"}, "b": {"M"}, "c": {"F"}}


def test_a_missing_value_is_a_value_of_its_own(key):
    table = pa.table({"user": ["a", "b", "c", "d"], "goods": ["x", None, "x", None]})
    ds = sudare.open(table, user="user")
    grown = DummyRecords(value="goods", k=2).apply(Draft.of(ds, key), key)
    assert grown.details["dummies"] == 0
    assert DummyRecords(value="goods", k=4).apply(Draft.of(ds, key), key).details["dummies"] == 4


def test_k_1_adds_nothing(shop, key):
    draft = Draft.of(shop, key)
    assert DummyRecords(value="goods", k=1).apply(draft, key).table.equals(draft.table)


def test_the_recipient_learns_that_there_are_dummies(shop, key):
    release = sudare.anonymize(shop, DummyRecords(value="goods", k=2, effort="trial"), key=key)
    assert release.data.published["schema"]["dummies"] == {"goods": {"k": 2, "keep": "set"}}


def test_more_k_than_users_is_refused(shop, key):
    with pytest.raises(UsageError, match="larger than the number of users"):
        sudare.anonymize(shop, DummyRecords(value="goods", k=61), key=key)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"k": 0}, "at least 1"),
        ({"k": 2.5}, "whole number"),
        ({"keep": "bag"}, "keep"),
        ({"effort": "x"}, "effort"),
    ],
)
def test_wrong_parameters_are_refused(wrong, words):
    with pytest.raises(UsageError, match=words):
        DummyRecords(**{"value": "goods", "k": 2, **wrong})


def test_an_unknown_column_and_a_table_without_users_are_refused(shop, key):
    with pytest.raises(UsageError, match="did you mean 'goods'"):
        sudare.anonymize(shop, DummyRecords(value="godos", k=2), key=key)
    with pytest.raises(UsageError, match="user="):
        sudare.anonymize(sudare.open("example:patients"), DummyRecords(value="disease", k=2), key=key)


def test_a_record_without_a_user_is_refused(key):
    table = pa.table({"user": ["a", None], "goods": ["x", "y"]})
    ds = sudare.Dataset.from_arrow(table, sudare.Roles.of(user="user"))
    with pytest.raises(DataError, match="1 records have no user"):
        DummyRecords(value="goods", k=1).apply(Draft.of(ds, key), key)


def test_in_a_recipe_file(tmp_path, shop, key):
    path = tmp_path / "recipe.toml"
    path.write_text('[[step]]\nmethod = "dummy-records"\nvalue = "goods"\nk = 3\neffort = "low"\n')
    release = sudare.anonymize(shop, path, key=key)
    assert min(shared_by(release.data.to_pyarrow(), "set").values()) >= 3


def test_the_command_line_may_change_the_effort(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("recipe.toml").write_text('[[step]]\nmethod = "dummy-records"\nvalue = "goods"\nk = 2\n')
    Path("t.csv").write_text("person,goods\na,x\na,y\nb,y\nc,x\nc,z\nd,z\n")
    made = "anonymize t.csv --user person --sensitive goods -r recipe.toml -o out.csv --demo --effort".split()
    assert run([*made, "low"]) == 0
    assert json.loads(Path("out.csv.sudare.json").read_text())["recipe"][0]["effort"] == "low"
    assert run([*made, "some"]) == 2
    assert "there are: trial, low, default, high" in capsys.readouterr().err
