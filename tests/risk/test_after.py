import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.data.values.recoded import consistent, interval, value_set
from sudare.engine.after import reach
from sudare.errors import UsageError
from sudare.risk.measure import risk

few = settings(max_examples=20, deadline=None)
rows = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 9), st.sampled_from("abc")), min_size=1, max_size=20
)


def table(found, user="u"):
    u, x, y = zip(*found)
    return Dataset.from_arrow(pa.table({"u": u, "x": x, "y": y}), Roles.of(user=user))


def tens(x, width=4):
    return interval(x // width * width, x // width * width + width - 1)


@few
@given(rows)
def test_an_identity_release_leaves_the_risk_as_it_was(found):
    ds = table(found)
    before, after = risk(ds, combine=2), risk(ds, combine=2, release=ds, truth=list(range(len(found))))
    for row in after.rows:
        assert row["risk"] == pytest.approx(before.risk_of(row["attributes"]))
        assert row["risk_before"] == before.risk_of(row["attributes"])


@few
@given(rows, st.sampled_from(["interval", "round", "star", "label"]))
def test_recoding_never_raises_the_risk_and_equals_the_slow_reference(slow, found, how):
    ways = {
        "interval": tens,
        "round": lambda x: x // 4 * 4,
        "star": lambda x: "*",
        "label": lambda x: f"group {x // 3}",
    }
    published = table([(u, ways[how](x), y) for u, x, y in found])
    after = risk(table(found), combine=2, release=published, truth=list(range(len(found))))
    for row in after.rows:
        assert row["risk"] <= row["risk_before"] + 1e-12
    if how == "interval":
        expected = slow.after([(u, x) for u, x, _ in found], [(u, tens(x)) for u, x, _ in found], consistent)
        assert after.risk_of("x") == pytest.approx(float(expected))
        pairs = slow.after(
            [(u, (x, y)) for u, x, y in found],
            [(u, (tens(x), y)) for u, x, y in found],
            lambda v, x: consistent(v[0], x[0]) and v[1] == x[1],
        )
        assert after.risk_of("x+y") == pytest.approx(float(pairs))


@few
@given(rows, st.data())
def test_pseudonyms_and_the_order_of_rows_do_not_matter(found, data):
    order = data.draw(st.permutations(range(len(found))))
    published = table([(f"p{found[i][0]}", *found[i][1:]) for i in order])
    after = risk(table(found), release=published, truth=list(order))
    for row in after.rows:
        assert row["risk"] == pytest.approx(row["risk_before"])


def test_deleting_records_can_raise_the_risk():
    found = [(1, 1, "a"), (2, 1, "a")]
    after = risk(table(found), attributes="x", release=table(found[:1]), truth=[0])
    assert (after.risk_of("x"), after.rows[0]["risk_before"]) == (0.5, 0.5)
    three = [(1, 1, "a"), (1, 1, "a"), (2, 1, "a")]
    after = risk(table(three), attributes="x", release=table(three[:2]), truth=[0, 1])
    assert after.risk_of("x") == pytest.approx(2 / 3)
    assert after.rows[0]["risk_before"] == 0.5


def test_dummies_are_candidates_that_are_never_right():
    found = [(1, 1, "a")]
    published = table([(1, 1, "a"), (9, 1, "a")])
    assert risk(table(found), attributes="x", release=published, truth=[0, None]).risk_of("x") == 0.5


def test_an_attribute_that_is_not_published_leaves_everybody_a_candidate():
    found = [(1, 1, "a"), (2, 2, "b")]
    published = Dataset.from_arrow(pa.table({"u": [1, 2], "y": ["a", "b"]}), Roles.of(user="u"))
    after = risk(table(found), combine=2, release=published, truth=[0, 1])
    assert after.risk_of("x") == 0.5
    assert after.risk_of("x+y") == 1


def test_without_users_every_published_row_is_a_person():
    ds = Dataset.from_arrow(pa.table({"x": [1, 1, 2]}), Roles())
    assert risk(ds, release=ds, truth=[0, 1, 2]).risk_of("x") == pytest.approx(2 / 3)


@few
@given(rows, st.data())
def test_a_published_set_stands_for_its_members(slow, found, data):
    sets = [sorted({x, data.draw(st.integers(0, 9))}) for _, x, _ in found]
    published = table([(u, s, y) for (u, _, y), s in zip(found, sets)])
    after = risk(table(found), attributes="x", release=published, truth=list(range(len(found))))
    shown = [(u, tuple(s)) for (u, _, _), s in zip(found, sets)]
    expected = slow.after([(u, x) for u, x, _ in found], shown, lambda members, x: x in members)
    assert after.risk_of("x") == pytest.approx(float(expected))


@few
@given(rows, st.data(), st.sampled_from([None, "*", ""]))
def test_a_suppressed_cell_stands_for_anything(slow, found, data, sign):
    gone = data.draw(st.lists(st.booleans(), min_size=len(found), max_size=len(found)))
    shown = [(u, sign if away else y) for (u, _, y), away in zip(found, gone)]
    published = table([(u, x, y) for (u, y), (_, x, _) in zip(shown, found)])
    after = risk(table(found), attributes="y", release=published, truth=list(range(len(found))))
    expected = slow.after([(u, y) for u, _, y in found], shown, lambda seen, y: seen in (sign, y))
    assert after.risk_of("y") == pytest.approx(float(expected))
    assert after.risk_of("y") <= after.rows[0]["risk_before"] + 1e-12


def test_values_that_look_recoded_but_were_published_as_they_are_stand_for_themselves():
    odd = ["*", "A*", "AB", "[1-2]", "{a, b}", "a", None, ""]
    ds = Dataset.from_arrow(pa.table({"u": range(8), "x": odd}), Roles.of(user="u"))
    assert risk(ds, release=ds, truth=range(8)).risk_of("x") == 1
    lists = Dataset.from_arrow(pa.table({"u": [1, 2], "x": [["a", "b"], ["a"]]}), Roles.of(user="u"))
    assert risk(lists, release=lists, truth=[0, 1]).risk_of("x") == 1


def test_the_people_of_a_table_without_roles_are_those_of_the_user_column():
    found = [(1, 1, "a"), (1, 1, "a"), (2, 1, "a")]
    bare = Dataset.from_arrow(table(found).to_pyarrow())
    assert risk(table(found), attributes="x", release=bare, truth=[0, 1, 2]).risk_of("x") == 0.5


def test_the_truth_may_come_as_pandas_and_numpy_have_it():
    import numpy as np
    import pandas

    found = [(1, 1, "a"), (2, 1, "a")]
    published = table([*found, (3, 1, "a")])
    for truth in (np.array([0, 1, -1]), pandas.Series([0, 1, None]), pandas.array([0, 1, None])):
        after = risk(table(found), attributes="x", release=published, truth=truth)
        assert after.risk_of("x") == pytest.approx(1 / 3)


def test_noise_is_not_taken_for_recoding():
    ds = Dataset.from_arrow(pa.table({"x": [1.0, 2.0, 3.0]}), Roles())
    noisy = Dataset.from_arrow(pa.table({"x": [1.2, 1.9, 3.3]}), Roles())
    found = risk(ds, release=noisy, truth=[0, 1, 2])
    assert found.risk_of("x") == 0
    assert "x: 100% of the published records" in found.notes[-1]


def test_what_the_methods_publish_is_understood():
    import sudare

    ds = sudare.open(
        "example:purchases", user="user", quasi=["date", "time", "goods"], sensitive=["price", "number"]
    )
    key = bytes(range(32))
    gone = sudare.risk(ds, release=sudare.anonymize(ds, sudare.methods.Suppress(columns=["time"]), key=key))
    assert gone.risk_of("time") == pytest.approx(1 / 3)
    assert gone.risk_of("date") == pytest.approx(0.65)
    rounded = sudare.risk(
        ds, release=sudare.anonymize(ds, sudare.methods.Round(column="price", to=2), key=key)
    )
    assert rounded.risk_of("price") < 29 / 60
    assert len(rounded.notes) == 1


@pytest.mark.parametrize(
    "call",
    [
        {"truth": None},
        {"truth": [0]},
        {"truth": [0, 7]},
        {"truth": [0, 1], "attacker": "bayes"},
        {"truth": [0, 1], "model": "low-cost"},
        {"truth": [0, 1], "channel": {"x": "round:2"}},
        {"truth": [0, 1], "across": True},
        {"truth": [0, 1], "release": None},
    ],
)
def test_a_release_needs_its_own_truth_and_nothing_else(call):
    ds = table([(1, 1, "a"), (2, 2, "b")])
    with pytest.raises(UsageError):
        risk(ds, **{"release": ds, **call})


@pytest.mark.parametrize(
    ("true", "published", "share"),
    [
        ([1.0, 2.0, 3.0], [9.5, 8.5, 3.0], "67%"),  # the first record too
        ([1.0], [9.5], "100%"),
        ([1, 1, 2, 2], [5, 6, 5, 6], "100%"),  # in several ways: drawn, not recoded
    ],
)
def test_the_share_of_moved_values_is_told(true, published, share):
    ds, noisy = (Dataset.from_arrow(pa.table({"x": values}), Roles()) for values in (true, published))
    found = risk(ds, release=noisy, truth=list(range(len(true))))
    assert f"x: {share} of the published records" in found.notes[-1]


@pytest.mark.parametrize(("way", "expected"), [("*", 1 / 3), ("{a,b}", 2 / 3)])
def test_a_hidden_word_and_a_set_of_words_stand_for_all_they_may_be(way, expected):
    found = [(1, 1, "a"), (2, 2, "b"), (3, 3, "c")]
    shown = {"*": ["*"] * 3, "{a,b}": [value_set(["a", "b"])] * 2 + ["c"]}[way]
    published = table([(u, x, y) for (u, x, _), y in zip(found, shown)])
    after = risk(table(found), attributes="y", release=published, truth=[0, 1, 2])
    assert after.risk_of("y") == pytest.approx(expected)


codes_of_pairs = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)))


@settings(deadline=None)
@given(st.data(), st.integers(1, 3))
def test_vectors_are_consistent_if_every_column_is(data, columns):
    vector = st.tuples(*[st.integers(0, 3)] * columns)
    true, shown = (data.draw(st.lists(vector, min_size=1, max_size=6, unique=True)) for _ in range(2))
    near = [data.draw(codes_of_pairs) for _ in range(columns)]
    starts, found = reach(
        np.array(true),
        np.array(shown),
        [np.array(sorted(pairs), np.int64).reshape(-1, 2) for pairs in near],
    )
    for row, known in enumerate(true):
        fits = [i for i, seen in enumerate(shown) if all((k, s) in ok for k, s, ok in zip(known, seen, near))]
        assert found[starts[row] : starts[row + 1]].tolist() == fits


def test_many_values_need_no_table_of_all_their_pairs():
    values = np.arange(300_000)
    vectors, equal = np.stack([values, values[::-1]], axis=1), np.stack([values, values], axis=1)
    starts, found = reach(vectors, vectors, [equal, equal])
    assert np.array_equal(starts, np.arange(300_001))
    assert np.array_equal(found, values)
