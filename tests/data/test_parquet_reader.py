"""Parquet files: several are one table only when their columns are the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.errors import DataError, SudareWarning


def written(folder: Path, *tables: dict[str, Any]) -> str:
    for place, table in enumerate(tables):
        pq.write_table(pa.table(table), folder / f"{place}.parquet")
    return str(folder / "*.parquet")


def test_columns_in_another_order_are_the_same_columns(tmp_path: Path) -> None:
    source = written(tmp_path, {"a": [1], "b": ["x"]}, {"b": ["y"], "a": [2]})
    assert sudare.open(source).to_pyarrow().to_pydict() == {"a": [1, 2], "b": ["x", "y"]}


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ({"a": [1.5], "b": ["x"]}, "'a' has another type"),  # as a whole number it would be 2
        ({"a": [1], "c": ["x"]}, "columns differ"),
        ({"a": [1]}, "columns differ"),
        ({"a": [[1]], "b": ["x"]}, "'a' has another type"),
    ],
)
def test_files_with_other_columns_are_refused(tmp_path: Path, second: dict[str, Any], told: str) -> None:
    with pytest.raises(DataError, match=told):
        sudare.open(written(tmp_path, {"a": [1], "b": ["x"]}, second))


def test_nested_columns_are_no_columns_of_their_own(tmp_path: Path) -> None:
    nested = {"s": [{"a": 1, "b": [1, 2]}], "a": [3], "l": [["x"]]}
    assert sudare.open(written(tmp_path, nested, nested)).columns == ("s", "a", "l")


@pytest.mark.parametrize(
    ("names", "told"), [(["a", "A"], "same name"), (["a", "a"], "same name"), (["", "a"], "no name")]
)
def test_columns_without_a_name_of_their_own_are_refused(tmp_path: Path, names: list[str], told: str) -> None:
    pq.write_table(pa.table([[1], [2]], names=names), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=told):
        sudare.open(tmp_path / "t.parquet")


def test_a_column_without_a_value_is_text(tmp_path: Path) -> None:
    ds = sudare.open(written(tmp_path, {"a": [1, 2], "b": pa.nulls(2)}))
    assert ds.to_pyarrow().schema.field("b").type == pa.string()


def test_a_partition_named_by_a_code_keeps_its_zeros(tmp_path: Path) -> None:
    (tmp_path / "zip=007").mkdir()
    source = written(tmp_path / "zip=007", {"a": [1]})
    assert sudare.open(source, partitions=True).to_pyarrow().to_pydict() == {"a": [1], "zip": ["007"]}
    with pytest.warns(SudareWarning, match="S-PARTITION") as caught:
        assert sudare.open(source).columns == ("a",)
    assert "007" not in str(caught[0].message)


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    for name, value in (("t[1].parquet", 1), ("t1.parquet", 2)):
        pq.write_table(pa.table({"a": [value]}), tmp_path / name)
    assert sudare.open(tmp_path / "t[1].parquet").to_pyarrow()["a"].to_pylist() == [1]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"hello"])
def test_what_is_no_parquet_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.parquet").write_bytes(content)
    with pytest.raises(DataError, match="Parquet"):
        sudare.open(tmp_path / "t.parquet")
