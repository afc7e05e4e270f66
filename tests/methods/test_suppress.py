"""Suppression of columns, records and cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.data import Dataset, Roles
from sudare.disclosure.measure import disclosure
from sudare.engine.codes import classes
from sudare.engine.rows import Draft
from sudare.errors import UsageError
from sudare.keys import Key
from sudare.methods.plugins.suppress import LocalSuppression, Suppress, SuppressRecords, starred_cells

KEY = Key.demo(1)
TABLE = pa.table(
    {"sex": ["m", "m", "m", "f", "f"], "age": [20, 20, 30, 40, 41], "zip": ["1", "1", "1", "1", "1"]}
)


def draft(table: pa.Table = TABLE, **roles: Any) -> Draft:
    return Draft.of(Dataset.from_arrow(table, Roles.of(**(roles or {"quasi": table.column_names}))), KEY)


def smallest(table: pa.Table) -> int:
    columns = table.column_names
    found = disclosure(Dataset.from_arrow(table, Roles.of(quasi=columns)), measures=["k"]).k
    assert found is not None
    return found


def test_suppressed_columns_are_gone_from_table_and_roles() -> None:
    out = Suppress(columns=["age"]).apply(draft(), KEY)
    assert out.table.column_names == ["sex", "zip"]
    assert out.roles.quasi == ("sex", "zip")


def test_columns_that_cannot_go_are_named() -> None:
    with pytest.raises(UsageError, match="unknown column 'agee'"):
        Suppress(columns="agee").apply(draft(), KEY)
    with pytest.raises(UsageError, match="no column would be left"):
        Suppress(columns=TABLE.column_names).apply(draft(), KEY)
    with pytest.raises(UsageError, match="pseudonyms"):
        Suppress(columns="zip").apply(draft(user="zip", quasi="age"), KEY)
    with pytest.raises(UsageError):
        Suppress(columns=[])


def test_records_of_small_classes_go() -> None:
    out = SuppressRecords(k=2).apply(draft(), KEY)
    assert out.truth.tolist() == [0, 1]
    assert out.details == {"suppressed": 3, "share": 0.6}
    with pytest.raises(UsageError, match="nothing is left"):
        SuppressRecords(k=3).apply(draft(), KEY)
    with pytest.raises(UsageError, match="more than"):
        SuppressRecords(k=99).apply(draft(), KEY)


def test_cells_are_starred_until_every_combination_has_k_records() -> None:
    out = LocalSuppression(k=2).apply(draft(), KEY)
    assert smallest(out.table) >= 2
    assert out.table.num_rows == 5
    assert out.table["zip"].to_pylist() == TABLE["zip"].to_pylist()
    assert out.table["age"].to_pylist().count("*") == out.details["cells"]["age"]


def test_important_columns_keep_their_cells() -> None:
    table = pa.table({"a": ["x", "y"] * 10, "b": [str(n % 20) for n in range(20)]})
    by_default = LocalSuppression(k=2).apply(draft(table), KEY).details["cells"]
    kept = LocalSuppression(k=2, importance={"b": 5}).apply(draft(table), KEY).details["cells"]
    assert by_default["a"] == 0
    assert kept["a"] >= by_default["a"]


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda w: st.lists(st.tuples(*[st.integers(0, 3)] * w), min_size=2, max_size=40)
    ),
    st.data(),
)
def test_any_table_of_k_rows_reaches_k(rows: list[tuple[int, ...]], data: st.DataObject) -> None:
    k = data.draw(st.integers(2, len(rows)))
    matrix = np.array(rows, np.int32)
    stars = starred_cells(matrix, k, [1.0] * matrix.shape[1])
    _, sizes = classes(np.where(stars, -1, matrix) + 1)
    assert sizes.min() >= k
    _, before = classes(matrix)
    if before.min() >= k:
        assert not stars.any()


def test_row_order_does_not_decide_which_cells_go() -> None:
    rng = np.random.default_rng(5)
    table = pa.table(
        {"id": [str(n) for n in range(60)], "a": rng.integers(0, 5, 60), "b": rng.integers(0, 5, 60)}
    )
    turn = rng.permutation(60)
    roles = {"identifier": "id", "quasi": ["a", "b"]}
    first = LocalSuppression(k=3).apply(draft(table, **roles), KEY).table.take(turn)
    assert LocalSuppression(k=3).apply(draft(table.take(turn), **roles), KEY).table.equals(first)


def test_missing_values_are_values_and_stay_missing() -> None:
    table = pa.table({"a": pa.array([1, None, None, 2, 2]), "b": ["x"] * 5})
    out = LocalSuppression(k=2).apply(draft(table), KEY).table
    assert smallest(out) >= 2
    assert out["a"].null_count <= 2


def test_parameters_that_mean_nothing_are_refused() -> None:
    for options in ({"k": 1}, {"k": True}, {"k": 2.5}, {"k": 2, "importance": {"a": 0}}):
        with pytest.raises(UsageError):
            LocalSuppression(**options)  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        SuppressRecords(k=0)


def test_adult_becomes_5_anonymous_with_every_row_kept(data_dir: Path) -> None:
    adult = pq.read_table(data_dir / "adult_arx.parquet").select(
        ["sex", "age", "race", "marital-status", "education"]
    )
    out = LocalSuppression(k=5, importance={"age": 2}).apply(draft(adult), KEY)
    assert out.table.num_rows == adult.num_rows
    assert smallest(out.table) >= 5
    assert out.details["share"] < 0.2
