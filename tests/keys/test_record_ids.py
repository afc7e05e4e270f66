"""Ids of records: not touched by chunks or units, and different for every record."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sudare.data.roles import Roles
from sudare.errors import UsageError
from sudare.keys import Key, by_words, record_ids

KEY = Key.demo(1)


def ids(table: pa.Table) -> list[tuple[int, ...]]:
    return [tuple(row) for row in np.asarray(record_ids(table, Roles(), KEY)).tolist()]


def test_duplicates_of_many_records_get_ids_of_their_own() -> None:
    table = pa.table({"x": [i % 500 for i in range(2000)]})
    assert len(set(ids(table))) == 2000


def test_chunks_do_not_matter() -> None:
    whole = pa.table({"x": list("abcdefgh")})
    parts = pa.table({"x": pa.chunked_array([list("abc"), list("de"), list("fgh")])})
    assert ids(parts) == ids(whole)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_a_part_of_a_table_is_what_it_is_alone(kind: pa.DataType) -> None:
    whole = pa.table({"x": pa.array(["one", "two", None, "three", "four"], kind)})
    assert ids(whole.slice(2, 2)) == ids(whole)[2:4]


def test_records_whose_first_words_are_equal_are_ordered_by_the_second() -> None:
    assert by_words(np.array([[1, 2], [1, 1], [0, 5], [1, 0]], np.uint64)).tolist() == [2, 3, 1, 0]


def test_the_unit_of_a_time_does_not_matter() -> None:
    moments = [0, 86_400, 1_000_000]
    seconds = pa.table({"x": pa.array(moments, pa.timestamp("s"))})
    micro = pa.table({"x": pa.array([m * 10**6 for m in moments], pa.timestamp("us"))})
    assert ids(seconds) == ids(micro)


def test_keys_of_few_different_bytes_are_refused() -> None:
    assert Key(bytes(range(8)) * 4)
    with pytest.raises(UsageError, match="guessed"):
        Key(bytes(range(7)) * 4 + bytes(4))
