import datetime as dt

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.engine.coded import Coded, profiles_of_codes
from sudare.engine.kernels import risk as kernel
from sudare.errors import UsageError
from sudare.risk.measure import risk

pytestmark = pytest.mark.filterwarnings("ignore:S-EMPTY")  # columns of nulls are drawn too
few = settings(max_examples=25, deadline=None)
tables = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from(["a", "b", "c", None, ""]),
        st.one_of(st.none(), st.integers(-3, 3)),
        st.floats(allow_nan=False, allow_infinity=False, width=16),
    ),
    min_size=1,
    max_size=40,
)


def make(rows):
    u, x, y, z = zip(*rows)
    table = pa.table(
        {"u": pa.array(u, pa.int32()), "x": pa.array(x, pa.string()), "y": pa.array(y, pa.int16()), "z": z}
    )
    return Dataset.from_arrow(table, Roles.of(user="u"))


@few
@given(tables, st.sampled_from(["uniform", "proportional", "bayes"]), st.sampled_from([1, 3]))
def test_the_kernel_gives_the_same_digits_as_plain_queries(rows, attacker, combine):
    ds = make(rows)
    plain = risk(ds, combine=combine, attacker=attacker, strategy="plain")
    fast = risk(ds, combine=combine, attacker=attacker, strategy="kernel")
    assert plain.rows == fast.rows
    assert plain.profiles == fast.profiles


def test_tables_larger_than_their_first_size_grow():
    rng = np.random.default_rng(1)
    users, x, y = rng.integers(0, 500, 40_000), rng.integers(0, 9_000, 40_000), rng.integers(0, 90, 40_000)
    texts = [f"text {v}" for v in x]
    ds = Dataset.from_arrow(pa.table({"u": [f"u{v}" for v in users], "x": texts, "y": y}), Roles.of(user="u"))
    for attacker in ("uniform", "bayes"):
        plain = risk(ds, combine=2, attacker=attacker, strategy="plain")
        assert plain.rows == risk(ds, combine=2, attacker=attacker, strategy="kernel").rows
        assert plain.rows[-1] == risk(ds, attacker=attacker, strategy="kernel").rows[-1]


def test_the_number_of_buckets_changes_nothing():
    rng = np.random.default_rng(2)
    owners = np.sort(rng.integers(1, 50, 3_000)).astype(np.int32)
    parent, codes = rng.integers(0, 40, 3_000).astype(np.int32), rng.integers(0, 70, 3_000).astype(np.int32)
    rows = np.arange(3_000, dtype=np.int32)
    results = [
        kernel.refine(rows, parent, codes, 70, owners, buckets, False, True) for buckets in (1, 8, 256)
    ]
    for _, _, small, large in results[1:]:
        np.testing.assert_array_equal(small, results[0][2])
        np.testing.assert_array_equal(np.sort(large, axis=0), np.sort(results[0][3], axis=0))
    assert {frozenset(r[0].tolist()) for r in results} == {frozenset(results[0][0].tolist())}


def test_a_record_that_is_alone_is_not_looked_at_again():
    owners = np.array([1, 1, 2], np.int32)
    data = Coded(
        owners, {"a": np.array([0, 1, 2], np.int32), "b": np.array([0, 0, 0], np.int32)}, {"a": 3, "b": 1}, 2
    )
    found = profiles_of_codes(data, [("a", "b")], True)[("a", "b")]
    assert found.pairs == ((1, 1, 3),)
    assert (found.squares, found.largest) == (((1, 1, 3),), 3)


@pytest.mark.parametrize(
    "values",
    [
        [dt.date(2020, 1, 1), None, dt.date(2020, 1, 1)],
        [True, False, None],
        [2**60, 2**60 + 1, 2**60],
        [0.0, -0.0, float("nan")],
        [[1, 2], [1, 2], None],
        [[], [None], None],
        [b"a", b"b", b"a"],
    ],
)
def test_every_type_of_column_counts_the_same_on_both_ways(values):
    ds = Dataset.from_arrow(pa.table({"u": ["p", "q", "q"], "x": values}), Roles.of(user="u"))
    assert risk(ds, strategy="plain").rows == risk(ds, strategy="kernel").rows


def test_no_user_column_means_a_person_per_row_for_the_kernel_too():
    ds = Dataset.from_arrow(pa.table({"x": [1, 1, 2], "y": [1, 2, 2]}), Roles())
    for attacker in ("uniform", "proportional", "bayes"):
        plain = risk(ds, combine=2, strategy="plain", attacker=attacker)
        assert plain.rows == risk(ds, combine=2, strategy="kernel", attacker=attacker).rows


@few
@given(tables, st.booleans())
def test_rows_ordered_by_the_engine_give_the_same_profiles(rows, wide):
    from sudare.engine.duckdb.profiles import coded_profiles, single_profiles

    ds = make(rows)
    singles = [("x",), ("y",), ("z",)]
    assert single_profiles(ds, ["x", "y", "z"], wide) == coded_profiles(ds, singles, wide)


@pytest.mark.parametrize("combine", [1, 2])
def test_with_little_memory_the_result_is_the_same(monkeypatch, combine):

    rng = np.random.default_rng(4)
    columns = {name: rng.integers(0, width, 5_000) for name, width in (("u", 300), ("x", 900), ("y", 40))}
    ds = Dataset.from_arrow(pa.table(columns), Roles.of(user="u"))
    expected = risk(ds, combine=combine, strategy="kernel").rows
    monkeypatch.setattr("sudare.data.connection.memory_limit", lambda: 1000)
    assert risk(ds, combine=combine, strategy="kernel").rows == expected


def test_the_memory_limit_is_read_from_the_engine():
    from sudare.data.connection import connect, memory_limit

    before = connect().sql("SELECT current_setting('memory_limit')").fetchall()[0][0]
    connect().execute("SET memory_limit = '1GiB'")
    assert memory_limit() == 2**30
    connect().execute("RESET memory_limit")
    assert connect().sql("SELECT current_setting('memory_limit')").fetchall()[0][0] == before


def test_a_memory_limit_holds_for_the_call_only():
    from sudare.data.connection import connect

    ds = make([(1, "a", 1, 1.0), (2, "a", 2, 1.0)])
    before = connect().sql("SELECT current_setting('memory_limit')").fetchall()
    risk(ds, strategy="kernel", memory=500_000_000)
    assert connect().sql("SELECT current_setting('memory_limit')").fetchall() == before


def test_the_kernel_cannot_drop_missing_values():
    with pytest.raises(UsageError, match="strategy='auto'"):
        risk(make([(1, "a", 1, 1.0)]), strategy="kernel", missing="drop")


def test_a_table_with_very_many_columns_is_read_once():
    columns = {f"c{place}": [(row * place) % 7 for row in range(6)] for place in range(2_000)}
    ds = Dataset.from_arrow(pa.table({"u": ["a", "a", "b", "b", "c", "c"], **columns}), Roles.of(user="u"))
    few_columns = risk(ds, attributes=["c3", "c5"], strategy="plain")
    every = risk(ds)
    assert len(every.rows) == 2_000
    assert every.risk_of("c3") == few_columns.risk_of("c3")
