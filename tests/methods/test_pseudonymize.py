"""Pseudonymize: keyed, stable, without names."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest

from sudare.data import Dataset, Roles
from sudare.engine.rows import Draft
from sudare.errors import DataError, UsageError
from sudare.keys import Key
from sudare.methods.plugins.pseudonymize import Pseudonymize, pseudonyms

KEY, OTHER = Key.demo(1), Key.demo(2)
TABLE = pa.table(
    {
        "user": ["ann", "bob", "ann"],
        "ssn": ["1", "2", "1"],
        "card": [7, 8, 7],
        "day": [1, 2, 3],
        "goods": ["x", "y", "z"],
    }
)
ROLES = Roles.of(user="user", identifier=["ssn", "card"], quasi="day", sensitive="goods")


def draft(table: pa.Table = TABLE, roles: Roles = ROLES, key: Key = KEY) -> Draft:
    return Draft.of(Dataset.from_arrow(table, roles), key)


def test_the_user_column_keeps_its_name_and_identifiers_go() -> None:
    out = Pseudonymize().apply(draft(), KEY)
    assert out.table.column_names == ["user", "day", "goods"]
    assert out.pseudonymised
    assert out.roles.user == "user"
    assert out.roles.identifier == ()
    first, second, third = out.table["user"].to_pylist()
    assert first == third != second
    assert all(re.fullmatch(r"[a-p][a-z2-7]{15}", name) for name in (first, second))
    assert out.details == {"pseudonyms": 1, "dropped": 2}


def test_pseudonyms_depend_on_key_recipient_and_column_alone() -> None:
    names = pa.chunked_array([["ann", "bob"]])
    base = pseudonyms(names, KEY, "user").to_pylist()
    assert pseudonyms(pa.chunked_array([["bob"], ["ann"]]), KEY, "user").to_pylist() == base[::-1]
    others = [
        pseudonyms(names, OTHER, "user"),
        pseudonyms(names, KEY, "user", "lab"),
        pseudonyms(names, KEY, "card"),
    ]
    assert all(set(other.to_pylist()).isdisjoint(base) for other in others)


def test_numbers_and_dictionaries_get_the_pseudonym_of_their_text() -> None:
    plain = pseudonyms(pa.chunked_array([["7", "8"]]), KEY, "u").to_pylist()
    assert (
        pseudonyms(pa.chunked_array([pa.array(["7", "8"]).dictionary_encode()]), KEY, "u").to_pylist()
        == plain
    )


def test_ids_above_2_to_the_53_stay_apart() -> None:
    ids = pa.chunked_array([[2**53, 2**53 + 1, 2**53 + 2]])
    assert len(set(pseudonyms(ids, KEY, "u").to_pylist())) == 3


def test_many_people_get_different_pseudonyms() -> None:
    ids = pa.chunked_array([np.arange(200_000)])
    assert len(set(pseudonyms(ids, KEY, "u").to_pylist())) == 200_000


def test_kept_identifiers_become_pseudonyms_of_role_other() -> None:
    out = Pseudonymize(keep="card").apply(draft(), KEY)
    assert out.table.column_names == ["user", "card", "day", "goods"]
    assert out.roles.other == ("card",)
    assert out.table["card"].to_pylist()[0] == out.table["card"].to_pylist()[2] != 7
    with pytest.raises(UsageError, match="no identifier"):
        Pseudonymize(keep="day").apply(draft(), KEY)


def test_records_without_a_person_are_counted_not_named() -> None:
    with pytest.raises(DataError, match="1 records without a person"):
        pseudonyms(pa.chunked_array([["canary", None]]), KEY, "user")
    with pytest.raises(UsageError):
        Pseudonymize(recipient=3)  # type: ignore[arg-type]


def test_a_table_without_users_only_loses_its_identifiers() -> None:
    out = Pseudonymize().apply(draft(roles=Roles.of(identifier=["ssn", "user"], quasi="day")), KEY)
    assert out.table.column_names == ["card", "day", "goods"]
