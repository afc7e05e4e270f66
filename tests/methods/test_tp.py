"""TP: both what stays and what is starred is l-diverse, and little is starred."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.data import Dataset, Roles
from sudare.engine.kernels.tp import residue
from sudare.engine.rows import Draft
from sudare.errors import UsageError
from sudare.keys import Key
from sudare.methods.plugins.tp import TP

KEY = Key.demo(1)
RECORDS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=11)


def diverse(values: list[int], l: int) -> bool:
    return not values or max(Counter(values).values()) * l <= len(values)


def is_solution(records: list[tuple[int, int]], gone: tuple[bool, ...], l: int) -> bool:
    parts: dict[int, list[int]] = {}
    for (group, value), away in zip(records, gone):
        parts.setdefault(-1 if away else group, []).append(value)
    return all(diverse(values, l) for values in parts.values())


def smallest_residue(records: list[tuple[int, int]], l: int) -> int:
    for size in range(len(records) + 1):
        for chosen in itertools.combinations(range(len(records)), size):
            if is_solution(records, tuple(i in chosen for i in range(len(records))), l):
                return size
    raise AssertionError


@settings(max_examples=150, deadline=None)
@given(RECORDS, st.integers(2, 3))
def test_the_residue_is_at_most_l_times_the_smallest(records, l):
    if not diverse([v for _, v in records], l):
        return
    gone = residue(*np.array(records).T, l, 4)
    assert is_solution(records, tuple(gone.tolist()), l)
    assert gone.sum() <= l * smallest_residue(records, l)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 9)), min_size=2, max_size=300), st.integers(2, 6)
)
def test_groups_and_residue_are_diverse(records, l):
    if diverse([v for _, v in records], l):
        assert is_solution(records, tuple(residue(*np.array(records).T, l, 10).tolist()), l)


def test_starred_records_keep_their_sensitive_value_and_lose_their_quasi_identifiers():
    table = pa.table(
        {"age": [1, 1, 2, 3], "sex": ["F", "F", "M", "M"], "disease": ["flu", "cut", "flu", "cut"]}
    )
    ds = Dataset.from_arrow(table, Roles.of(quasi=["age", "sex"], sensitive="disease"))
    draft = TP(l=2).apply(Draft.of(ds, KEY), KEY)
    assert draft.table.to_pydict() == {
        "age": ["1", "1", "*", "*"],
        "sex": ["F", "F", "M", "M"],
        "disease": ["flu", "cut", "flu", "cut"],
    }
    assert draft.details["residue"] == 2


def test_a_table_that_is_not_eligible_is_refused():
    table = pa.table({"age": [1, 2, 3], "disease": ["flu", "flu", "cut"]})
    ds = Dataset.from_arrow(table, Roles.of(quasi="age", sensitive="disease"))
    with pytest.raises(UsageError, match="largest possible l is 1"):
        TP(l=2).apply(Draft.of(ds, KEY), KEY)
    with pytest.raises(UsageError, match="no quasi-identifiers"):
        TP(l=2).apply(Draft.of(ds.with_roles(Roles.of(sensitive="disease")), KEY), KEY)


def test_an_escaped_file_answers_as_the_release_does(tmp_path):
    table = pa.table({"=q": list("aabbccdd"), "s": ["=1", "-2", "=1", "x", "-2", "x", "x", "=1"]})
    release = sudare.anonymize(sudare.open(table, quasi="=q", sensitive="s"), TP(l=2), key=KEY)
    with pytest.warns(sudare.SudareWarning, match="S-FORMULA"):
        release.save(tmp_path / "tp.csv", escape_formulas=True)
    read = sudare.open(tmp_path / "tp.csv")
    found, expected = sudare.estimate(read, by="'=q"), sudare.estimate(release, by="=q")
    assert [row["count"] for row in found.rows] == [row["count"] for row in expected.rows]
    assert {row["value"] for row in found.rows} == {"'=1", "'-2", "x"}
