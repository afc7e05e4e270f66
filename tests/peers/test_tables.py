"""Where other tools go wrong on plain tables: labels, order, missing cells, duplicates, odd text, mixed types."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sudare
from sudare.errors import SudareWarning

KEY = bytes(range(32))
ROWS = 60
TABLE = pd.DataFrame(
    {
        "user": [f"u{i % 17}" for i in range(ROWS)],
        "zip": [f"{i % 5:03d}" for i in range(ROWS)],
        "age": [20 + i % 7 for i in range(ROWS)],
        "disease": ["flu", "cold", "gout"] * (ROWS // 3),
    }
)
ROLES: dict[str, Any] = {"user": "user", "quasi": ["zip", "age"], "sensitive": ["disease"]}


def numbers(source: Any, roles: dict[str, Any] = ROLES) -> tuple[Any, ...]:
    """Every number that must not depend on how the same rows are given."""
    ds = sudare.open(source, **roles)
    risks = sorted(
        ("+".join(sorted(r["attributes"])), round(r["risk"], 12)) for r in sudare.risk(ds, combine=2).rows
    )
    held = sorted(
        (r["measure"], r["variant"], str(sorted(r["attributes"])), round(r["value"], 9))
        for r in sudare.disclosure(ds).rows
        if r["value"] is not None
    )
    return tuple(risks), tuple(held)


def shuffled(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sample(frac=1, random_state=3)


@pytest.mark.parametrize(
    "same",
    [
        TABLE.set_axis(range(1000, 1000 + ROWS)),
        TABLE.set_axis(list(reversed(range(ROWS)))),
        TABLE.set_axis([0] * ROWS),
        TABLE.set_axis([f"row {i}" for i in range(ROWS)]),
        TABLE.set_axis(pd.MultiIndex.from_arrays([range(ROWS), range(ROWS)])),
        shuffled(TABLE),
        shuffled(TABLE).reset_index(drop=True),
        TABLE[["disease", "age", "user", "zip"]],
        TABLE.astype({"zip": "category", "disease": "category"}),
    ],
    ids=["offset", "reversed", "all equal", "text", "multi", "shuffled", "renumbered", "columns", "category"],
)
def test_labels_order_of_rows_and_columns_and_types_change_nothing(same: pd.DataFrame) -> None:
    assert numbers(same) == numbers(TABLE)


def test_a_release_does_not_depend_on_labels_or_order_of_rows() -> None:
    recipe = sudare.methods.Noise(columns=["age"], sd=0.3)
    named = {**ROLES, "quasi": ["zip", "age"]}
    once, again = (
        sudare.anonymize(sudare.open(frame, **named), recipe, key=KEY).data.to_pyarrow().to_pylist()
        for frame in (TABLE, shuffled(TABLE).set_axis(range(7, 7 + ROWS)))
    )
    order = sorted(map(str, once))
    assert order == sorted(map(str, again))


def test_missing_cells_are_counted_and_never_dropped() -> None:
    frame = TABLE.copy()
    frame.loc[[3, 4, 5], "zip"] = None
    frame.loc[[6], "disease"] = None
    assert sudare.open(frame, **ROLES).rows == ROWS
    ds = sudare.open(frame, identifier="user", quasi=["zip", "age"], sensitive="disease")
    assert {row["records"] for row in sudare.risk(ds).rows} == {ROWS}
    release = sudare.anonymize(ds, sudare.methods.Mondrian(k=2), key=KEY)
    assert release.data.rows == ROWS
    assert sorted(release.truth) == list(range(ROWS))


def test_missing_and_empty_are_two_values() -> None:
    table = pa.table({"user": list("abcd"), "x": [None, "", None, ""]})
    (row,) = sudare.risk(sudare.open(table, user="user")).rows
    assert row["values"] == 2
    assert row["risk"] == pytest.approx(0.5)


def test_missing_numbers_are_one_value() -> None:
    frame = pd.DataFrame({"user": list("abcd"), "x": [np.nan, 1.0, np.nan, 1.0]})
    (row,) = sudare.risk(sudare.open(frame, user="user")).rows
    assert (row["values"], row["risk"]) == (2, pytest.approx(0.5))


def test_duplicated_rows_are_records_of_their_own() -> None:
    twice = pd.concat([TABLE, TABLE])
    ds = sudare.open(twice, **ROLES)
    assert ds.rows == 2 * ROWS
    release = sudare.anonymize(ds, sudare.methods.Suppress(columns=["age"]), key=KEY)
    assert sorted(release.truth) == list(range(2 * ROWS))


def test_the_same_person_twice_in_a_class_does_not_hide_anybody() -> None:
    """Tools that cannot see users count rows: ten rows of one person are a class of ten."""
    ds = sudare.open(pa.table({"user": ["a"] * 10, "zip": ["1"] * 10}), user="user", quasi=["zip"])
    found = {(r["measure"], r["variant"]): r["value"] for r in sudare.disclosure(ds).rows}
    assert found["k", "missing is a value"] == 1
    assert sudare.risk(ds).rows[0]["risk"] == 1


ODD = [
    'say "hi"', "it's", "a,b", "a;b", "a\tb", "two\nlines", "cr\rhere", "\\N", "NULL", "nan", "%s {0}",
    "'; DROP TABLE x; --", "$1", "é", "日本語", "שלום", "👩‍👩‍👧", " ", "x" * 200_000,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning")
@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow", "memory"])
def test_odd_text_is_read_as_it_is(tmp_path: Path, ending: str) -> None:
    table = pa.table({"user": [f"u{i}" for i in range(len(ODD))], "x": ODD})
    source: Any = table
    if ending in ("csv", "tsv"):
        source = tmp_path / f"t.{ending}"
        with source.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter="," if ending == "csv" else "\t", quoting=csv.QUOTE_ALL)
            writer.writerow(table.column_names)
            writer.writerows(zip(*table.to_pydict().values()))
    elif ending != "memory":
        from sudare.data.files.writers import write_table

        source = tmp_path / f"t.{ending}"
        write_table(table, source)
    ds = sudare.open(source, user="user")
    # in a text file every line end is the same, also within quotes
    expected = [text.replace("\r", "\n") for text in ODD] if ending in ("csv", "tsv") else ODD
    assert ds.to_pyarrow(["x"])["x"].to_pylist() == expected
    assert sudare.risk(ds).rows[0]["values"] == len(ODD)


NAMES = ['say "hi"', "it's", "a,b", "two\nlines", "👩‍👩‍👧", "שלום", "SELECT", "x" * 500, "{}", "1", "*"]


@pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning")
@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_columns_of_any_name_go_the_whole_way(tmp_path: Path, name: str) -> None:
    table = pa.table({"user": [f"u{i}" for i in range(20)], name: [i % 4 for i in range(20)]})
    ds = sudare.open(table, user="user", quasi=[name])
    assert sudare.risk(ds, attributes=[name]).rows[0]["attributes"] == [name]
    assert sudare.disclosure(ds).rows
    release = sudare.anonymize(ds, sudare.methods.Mondrian(k=5), key=KEY)
    release.save(tmp_path / "o.parquet")
    back = sudare.open(tmp_path / "o.parquet")
    assert back.columns == ("user", name)
    assert back.roles.quasi == (name,)
    assert str(sudare.risk(ds))


def test_negative_numbers_are_numbers() -> None:
    ages = [-(i % 7) - 0.5 for i in range(ROWS)]
    ds = sudare.open(TABLE.assign(age=ages), identifier="user", quasi=["zip", "age"], sensitive="disease")
    for step in (
        sudare.methods.Round(column="age", to=2),
        sudare.methods.Microaggregate(k=3, columns=["age"]),
    ):
        made = sudare.anonymize(ds, step, key=KEY).data.to_pyarrow()["age"].to_pylist()
        assert all(-8 <= value <= 0 for value in made)
    assert numbers(TABLE.assign(age=ages)) == numbers(TABLE.assign(age=[-a for a in ages]))


def test_mixed_types_are_compared_as_text_and_said() -> None:
    frame = TABLE.assign(zip=[i if i % 2 else str(i) for i in range(ROWS)])
    with pytest.warns(SudareWarning, match="zip"):
        ds = sudare.open(frame, **ROLES)
    assert {r["values"] for r in sudare.risk(ds, attributes=["zip"]).rows} == {ROWS}


def test_a_shuffled_file_gives_the_same_numbers_as_the_file(tmp_path: Path) -> None:
    lines = TABLE.to_csv(index=False).splitlines()
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    rest = lines[1:]
    random.Random(1).shuffle(rest)
    (tmp_path / "b.csv").write_text("\n".join([lines[0], *rest]) + "\n")
    assert numbers(tmp_path / "a.csv") == numbers(tmp_path / "b.csv")
