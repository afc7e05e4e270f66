"""Whole numbers above 2^53, which a double does not keep apart."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sudare
from sudare.methods import Generalize, Round, Swap

KEY = bytes(range(32))


@pytest.mark.parametrize("start", [2**53, -(2**60), 2**62])
def test_a_column_of_large_numbers_is_published_attacked_and_compared(start: int) -> None:
    table = pa.table({"q": [str(i % 3) for i in range(12)], "n": [start + i % 5 for i in range(12)]})
    for roles in ({"quasi": ["q", "n"]}, {"quasi": ["q"], "sensitive": ["n"]}):
        ds = sudare.open(table, **roles)
        assert {tuple(r["attributes"]): r["values"] for r in sudare.risk(ds).rows}["n",] == 5
        for method in (Swap(columns=["n"]), Round(column="n", to=2), Generalize(column="n", level=1)):
            release = sudare.anonymize(ds, method, key=KEY)
            assert all(0 <= row["rate"] <= 1 for row in sudare.attack(ds, release).rows)
            assert sudare.utility(ds, release).rows
