"""Purchases of any size for the risk benchmarks: users as skewed as Zipf's, five attributes of 100 to 1M values."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import sudare
from sudare.data import Dataset
from sudare.data.connection import connect, literal

ATTRIBUTES = {"a": 100, "b": 1_000, "c": 10_000, "d": 100_000, "e": 1_000_000}


@functools.cache
def parquet(size: int, *, text: bool = False, by: str | None = None) -> Path:
    """A Parquet file of so many rows; as text columns, or in the order of an attribute, on request."""
    path = Path(tempfile.mkdtemp(prefix="sudare-bench-")) / f"purchases-{size}.parquet"
    if by is not None:
        query = f"SELECT * FROM {literal(str(parquet(size, text=text)))} ORDER BY {by}"
    else:
        query = f"SELECT {', '.join(_columns(size, text))} FROM range({size})"
    connect().execute("SELECT setseed(0.5)")
    groups = ", ROW_GROUP_SIZE 16384" if by is not None else ""  # small blocks, so that other values can be skipped
    connect().execute(f"COPY ({query}) TO {literal(str(path))} (FORMAT parquet{groups})")
    return path


def _columns(size: int, text: bool) -> list[str]:
    columns = [f"CAST(floor(pow(random(), 3) * {max(size // 20, 10)}) AS INTEGER) AS u"]
    for name, width in ATTRIBUTES.items():
        value = f"CAST(floor(pow(random(), 2) * {width}) AS INTEGER)"
        columns.append(f"'value ' || {value} AS {name}" if text else f"{value} AS {name}")
    return columns


@functools.cache
def dataset(size: int, *, text: bool = False, by: str | None = None) -> Dataset:
    return sudare.open(parquet(size, text=text, by=by), user="u")


def bare(size: int, columns: list[str], *, text: bool = False, by: str | None = None) -> float:
    """The query anyone would write by hand, for one set of attributes."""
    file = literal(str(parquet(size, text=text, by=by)))
    counts = f"SELECT count(*) AS r, count(DISTINCT u) AS k FROM {file} GROUP BY {', '.join(columns)}"
    return float(connect().sql(f"SELECT sum(r / k) / {size} FROM ({counts})").fetchall()[0][0])
