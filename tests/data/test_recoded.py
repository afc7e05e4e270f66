"""Published values are written and read back without loss."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.data.values.originals import consistency
from sudare.data.values.recoded import (
    Anything,
    Exactly,
    Interval,
    Starred,
    ValueSet,
    consistent,
    interval,
    parse,
    plain,
    value_set,
)


@given(
    st.one_of(
        st.tuples(st.integers(), st.integers()),
        st.tuples(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12)),
        st.tuples(st.dates(dt.date(1000, 1, 1)), st.dates(dt.date(1000, 1, 1))),
        st.tuples(*[st.datetimes(dt.datetime(1000, 1, 1), timezones=st.none() | st.just(dt.UTC))] * 2).filter(
            lambda pair: (pair[0].tzinfo is None) == (pair[1].tzinfo is None)
        ),
    )
)
def test_an_interval_reads_back_as_itself(ends):
    low, high = sorted(ends)
    read = parse(interval(low, high))
    if plain(low) == plain(high):
        assert read == Exactly(plain(low))
    else:
        assert read == Interval(low, high)
        assert consistent(interval(low, high), low)
        assert consistent(interval(low, high), high)


@given(st.sets(st.one_of(st.none(), st.text()), min_size=2))
def test_a_set_reads_back_as_itself(values):
    assert parse(value_set(values)) == ValueSet(frozenset(values))


def test_members_of_a_set_are_sorted_numbers_by_size():
    assert value_set([10, 9, 100]) == "{9, 10, 100}"


@pytest.mark.parametrize(
    ("published", "value", "expected"),
    [
        ("[20-29]", 29, True),
        ("[20-29]", 30, False),
        ("[20-29]", "25", True),
        ("[20-29]", None, False),
        ("[-5--1]", -3, True),
        ("[2020-01-01-2020-12-31]", dt.date(2020, 6, 1), True),
        ("[2020-01-01-2020-12-31]", "2021-06-01", False),
        ("[2020-01-01-2020-12-31]", dt.datetime(2020, 12, 31, 23), True),
        ("{a, b}", "a", True),
        ("{a, null}", None, True),
        ("{a, b}", None, False),
        ("{1, 2}", 1, True),
        ("816**", "81699", True),
        ("816**", "8169", False),
        ("*", None, True),
        ("White", "White", True),
        ("White", "Black", False),
        ("20-29", 25, True),
        ("20-29", "25", False),
        ("{not a set", "a", False),
        ("5", 5, True),
        ("5", 5.0, True),
        (None, None, True),
        (None, "a", False),
    ],
)
def test_consistent(published, value, expected):
    assert consistent(published, value) is expected


def test_a_label_of_a_hierarchy_is_consistent_with_its_leaves():
    nodes = {"20-24": range(20, 25)}
    assert consistent("20-24", 22, nodes)
    assert not consistent("20-24", 25, nodes)


published_values = st.sampled_from(
    [
        *["[1-5]", "{1, 3}", "*", "1*", "3", None, "a", "{a, null}", "1-2", "g", "[1.5-1.5]", "[0.5-1.50]"],
        *["[2020-01-02-2020-01-04]", "[2020-01-02T00:00:00-2020-01-03T12:00:00]", "2020-01-0*"],
        "[2020-01-02T00:00:00+00:00-2020-01-03T12:00:00+00:00]",
    ]
)
days = st.dates(dt.date(2020, 1, 1), dt.date(2020, 1, 5))
times = st.datetimes(dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 5))
column_values = st.one_of(
    st.lists(cells | st.none(), max_size=6)
    for cells in (
        st.integers(0, 12),
        st.floats(0, 3),
        st.decimals(0, 3, places=2),
        st.sampled_from(["1", "12", "1.50", "a", "2020-01-03", "", "null"]),
        days,
        times,
        times.map(lambda time: time.replace(tzinfo=dt.UTC)),
        st.booleans(),
    )
)


@given(st.lists(published_values, max_size=6), column_values)
def test_the_matrix_says_what_the_pairs_say(published, values):
    nodes = {"g": [1, 2]}
    matrix = consistency(published, values, nodes)
    pairs = [[consistent(p, v, nodes) for v in values] for p in published]
    assert matrix.tolist() == pairs


def test_a_suppressed_cell_and_a_starred_text_parse():
    assert parse("*") == Anything()
    assert parse("81***") == Starred("81", 3)
    assert parse("a*b") == Exactly("a*b")


@pytest.mark.parametrize(
    "text",
    [
        "[2020-13-45-2020-12-31]",
        "[2020-01-01-2020-01-02T00:00]",
        "[9-2]",
        "{a, ",
        "{,}",
        '{"a}',
        "[a-b]",
        "",
        "**",
    ],
)
def test_what_only_looks_recoded_is_a_plain_value(text):
    assert parse(text) == Exactly(text)


def test_a_time_without_a_zone_is_not_compared_with_one_that_has_it():
    zoned = interval(dt.datetime(2020, 1, 1, tzinfo=dt.UTC), dt.datetime(2020, 1, 3, tzinfo=dt.UTC))
    assert consistent(zoned, dt.datetime(2020, 1, 2, tzinfo=dt.UTC))
    assert not consistent(zoned, dt.datetime(2020, 1, 2))
