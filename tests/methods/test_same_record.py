"""S-RECORD: a recipe that randomises records says where a second release may take them for others."""

from __future__ import annotations

import warnings
from typing import Any

import pyarrow as pa
import pytest

import sudare
from sudare.errors import SudareWarning
from sudare.keys import Key
from sudare.methods import CorrelatedNoise, Noise, Pram, RandomizedAddition, Round

KEY = Key.demo(1)
TABLE = pa.table(
    {
        "who": ["a", "a", "b", "c"],
        "visit": [1, 2, 1, 1],
        "age": [30, 30, 41, 52],
        "pay": [1.0, 2.0, 3.0, 4.0],
        "ill": list("xyzx"),
    }
)


def released(step: Any, **roles: Any) -> tuple[sudare.Release, list[str]]:
    ds = sudare.open(TABLE.drop_columns([c for c in ("visit",) if "record" not in roles]), **roles)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        release = sudare.anonymize(ds, step, key=KEY)
    return release, [w.message.code for w in found if isinstance(w.message, SudareWarning)]


@pytest.mark.parametrize(
    "step",
    [
        Noise(columns="pay"),
        CorrelatedNoise(columns=["age", "pay"]),
        Pram(column="ill"),
        RandomizedAddition(l=2, column="ill"),
    ],
    ids=lambda step: type(step).__name__,
)
def test_several_records_of_a_person_that_nothing_tells_apart_are_named(step):
    release, codes = released(step, user="who", quasi="age", sensitive=["pay", "ill"])
    assert codes == ["S-RECORD"]
    assert "several records" in release.card["warnings"]["S-RECORD"]
    release, codes = released(step, user="who", record="visit", quasi="age", sensitive=["pay", "ill"])
    assert codes == []
    assert "warnings" not in release.card
    assert "visit" not in release.data.columns


def test_people_without_names_and_records_with_the_same_number_are_named():
    release, _ = released(Noise(columns="pay"), quasi="age", sensitive=["pay", "ill"])
    assert "no column names the people" in release.warnings["S-RECORD"]
    release, _ = released(
        Noise(columns="pay"), user="who", record="age", sensitive=["pay", "ill"], other="visit"
    )
    assert "order in the table" in release.warnings["S-RECORD"]
    assert "age" not in release.data.columns


def test_nothing_is_said_where_nothing_is_drawn_or_everybody_has_one_record():
    assert released(Round(column="pay", to=2), user="who", quasi="age", sensitive=["pay", "ill"])[1] == []
    ds = sudare.open(
        TABLE.slice(1).drop_columns(["visit"]), user="who", sensitive=["pay"], other=["age", "ill"]
    )
    assert sudare.anonymize(ds, Noise(), key=KEY).warnings == {}


def test_a_record_column_with_another_role_is_published():
    release, _ = released(
        Noise(columns="pay"), user="who", record="visit", quasi=["age", "visit"], sensitive=["pay", "ill"]
    )
    assert "visit" in release.data.columns
    assert release.data.roles.to_dict() == {
        "user": "who",
        "quasi": ["age", "visit"],
        "sensitive": ["pay", "ill"],
    }
