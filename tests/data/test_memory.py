"""Tables in memory: whatever type a column has there, its values survive or the error says what to do."""

from __future__ import annotations

import datetime as dt
import decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.errors import DataError, SudareError, UsageError


def values(source: Any, name: str = "a") -> list[Any]:
    return sudare.open(source).to_pyarrow()[name].to_pylist()


def test_intervals_and_periods_of_pandas_are_text() -> None:
    cut = pd.DataFrame({"a": pd.cut(pd.Series([1, 2, 9]), [0, 5, 10])})
    assert values(cut) == ["(0, 5]", "(0, 5]", "(5, 10]"]
    assert values(pd.DataFrame({"a": pd.interval_range(0, 2)})) == ["(0, 1]", "(1, 2]"]
    months = pd.DataFrame({"a": pd.period_range("2020-01", periods=2, freq="M")})
    assert values(months) == ["2020-01", "2020-02"]


@pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning")
@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([1, "x", pd.NA, None, np.nan], ["1", "x", None, None, None]),
        ([2**70, 1], [str(2**70), "1"]),
        ([1 + 2j], ["(1+2j)"]),
        ([np.array([1, 2]), "x"], ["[1 2]", "x"]),
    ],
)
def test_what_has_no_one_type_is_compared_as_text(column: list[Any], expected: list[str | None]) -> None:
    assert values(pd.DataFrame({"a": pd.Series(column)})) == expected


def test_narrow_and_wide_numbers_are_read() -> None:
    assert values(pa.table({"a": pa.array([np.float16(1.5)], pa.float16())})) == [1.5]
    exact = decimal.Decimal("12345678901234567890.12")
    assert values(pa.table({"a": pa.array([exact], pa.decimal256(50, 2))})) == [exact]
    long = decimal.Decimal("1" * 45)
    assert values(pa.table({"a": pa.array([long], pa.decimal256(50, 0))})) == ["1" * 45]
    assert values(pl.DataFrame({"a": [2**64 - 1]}, schema={"a": pl.UInt64})) == [2**64 - 1]


def test_categories_and_columns_without_a_value_are_plain() -> None:
    table = pa.table({"a": pa.array(["x", None]).dictionary_encode(), "b": pa.nulls(2)})
    assert sudare.open(table).schema.types == [pa.string(), pa.string()]
    assert values(pl.DataFrame({"a": ["x", "y"]}, schema={"a": pl.Categorical})) == ["x", "y"]


def test_structures_bytes_and_durations_are_text_in_memory_and_in_files(tmp_path: Path) -> None:
    table = pa.table(
        {
            "s": [{"k": 1}],
            "b": [b"\xffx"],
            "m": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
            "n": [[[1], [2]]],
            "l": [["x", "y"]],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    expected = [{"s": "{'k': 1}", "b": "\\xFFx", "m": "{k=1}", "n": "[[1], [2]]", "l": ["x", "y"]}]
    assert sudare.open(table).to_pyarrow().to_pylist() == expected
    assert sudare.open(tmp_path / "t.parquet").to_pyarrow().to_pylist() == expected
    assert values(pa.table({"a": [dt.timedelta(hours=30)]})) == ["30:00:00"]


def test_moments_keep_their_instant() -> None:
    moment = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    frame = pd.DataFrame({"a": pd.to_datetime([moment]).tz_convert("Asia/Tokyo")})
    assert values(frame) == [moment]


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (pd.Series([1]), UsageError),
        (pl.Series([1]), UsageError),
        ({"a": [1]}, UsageError),
        (pl.DataFrame({"a": [object()]}), DataError),
        (pl.DataFrame({"a": [2**100]}, schema={"a": pl.Int128}), UsageError),
        (pd.DataFrame({"": [1]}), DataError),
        (pa.table([[1], [2]], names=["a", "A"]), DataError),
        (pd.DataFrame({"a": []}), DataError),
        (pd.DataFrame(index=[1]), DataError),
    ],
)
def test_what_is_no_table_is_refused(source: Any, kind: type[SudareError]) -> None:
    with pytest.raises(kind):
        sudare.open(source)
