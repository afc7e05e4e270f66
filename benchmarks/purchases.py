"""Purchases of any size in Parquet: users as skewed as Zipf's, five attributes of 100 to 1M values."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import sudare
from sudare.data import Dataset
from sudare.data.connection import connect, literal

ATTRIBUTES = {"a": 100, "b": 1_000, "c": 10_000, "d": 100_000, "e": 1_000_000}
FOLDER = Path(__file__).parents[1] / "build" / "benchmarks"


class Purchases(NamedTuple):
    """The file, for those who ask it by hand, and the data set."""

    rows: int
    path: Path
    data: Dataset


def purchases(rows: int, *, text: bool = False, by: str | None = None) -> Purchases:
    path = parquet(rows, text=text, by=by)
    return Purchases(rows, path, sudare.open(path, user="u"))


def parquet(rows: int, *, text: bool = False, by: str | None = None) -> Path:
    """A Parquet file of so many rows, made once; as text columns, or in the order of an attribute, on request."""
    name = "-".join(["purchases", str(rows), *(["text"] if text else []), *([f"by-{by}"] if by else [])])
    path = FOLDER / f"{name}.parquet"
    if path.exists():
        return path
    FOLDER.mkdir(parents=True, exist_ok=True)
    query = f"SELECT {', '.join(_columns(rows, text))} FROM range({rows})"
    if by is not None:
        query = f"SELECT * FROM {literal(str(parquet(rows, text=text)))} ORDER BY {by}"
    groups = (
        ", ROW_GROUP_SIZE 16384" if by is not None else ""
    )  # small blocks, so that other values can be skipped
    half = path.with_suffix(".part")
    connect().execute(f"COPY ({query}) TO {literal(str(half))} (FORMAT parquet{groups})")
    return half.rename(path)


def bare(bought: Purchases, columns: list[str]) -> float:
    """The query anyone would write by hand, for one set of attributes."""
    file = literal(str(bought.path))
    counts = f"SELECT count(*) AS r, count(DISTINCT u) AS k FROM {file} GROUP BY {', '.join(columns)}"
    return float(connect().sql(f"SELECT sum(r / k) / {bought.rows} FROM ({counts})").fetchall()[0][0])


def _columns(rows: int, text: bool) -> list[str]:
    columns = [f"CAST(floor(pow(random(), 3) * {max(rows // 20, 10)}) AS INTEGER) AS u"]
    for name, width in ATTRIBUTES.items():
        value = f"CAST(floor(pow(random(), 2) * {width}) AS INTEGER)"
        columns.append(f"'value ' || {value} AS {name}" if text else f"{value} AS {name}")
    return columns
