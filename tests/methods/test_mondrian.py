"""Mondrian leaves groups of k, whatever the table looks like."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.data.values.recoded import consistent
from sudare.engine.rows import Draft
from sudare.errors import DataError, SudareWarning, UsageError
from sudare.keys import Key
from sudare.methods.plugins.local_recoding import LocalRecoding
from sudare.methods.plugins.mondrian import Mondrian

KEY = Key.demo(1)


def draft_of(table: pa.Table, sensitive: str | None = None, user: str | None = None) -> Draft:
    quasi = tuple(c for c in table.column_names if c not in (sensitive, user))
    roles = Roles(user=user, quasi=quasi, sensitive=(sensitive,) if sensitive else ())
    return Draft.of(Dataset.from_arrow(table, roles, name="test"), KEY)


def class_sizes(table: pa.Table, columns) -> dict:
    """The independent check: a plain count of published vectors."""
    sizes: dict[tuple, int] = {}
    for row in zip(*(table[c].to_pylist() for c in columns)):
        sizes[row] = sizes.get(row, 0) + 1
    return sizes


def mixed(rows: int, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, rows)
    return pa.table(
        {
            "age": pa.array(age, mask=rng.random(rows) < 0.05),
            "sex": pa.array(rng.choice(["f", "m"], rows)),
            "weight": rng.normal(70, 10, rows).round(1),
            "job": pa.array(rng.choice(["a", "b", "c, d", "e"], rows), mask=rng.random(rows) < 0.1),
            "disease": rng.choice(["flu", "hiv", "none", "cold"], rows),
        }
    )


tables = st.integers(5, 60).flatmap(
    lambda n: st.fixed_dictionaries(
        {
            "a": st.lists(st.one_of(st.none(), st.integers(-5, 5)), min_size=n, max_size=n),
            "b": st.lists(st.sampled_from(["x", "y", "z", None]), min_size=n, max_size=n),
            "c": st.lists(st.floats(-2, 2), min_size=n, max_size=n),
        }
    )
)


@settings(max_examples=60, deadline=None)
@given(tables, st.integers(2, 5), st.booleans())
def test_every_class_has_k_rows_and_every_cell_covers_its_original(columns, k, relaxed):
    table = pa.table(
        {
            "a": pa.array(columns["a"], pa.int64()),
            "b": pa.array(columns["b"], pa.string()),
            "c": pa.array(columns["c"], pa.float64()),
        }
    )
    release = Mondrian(k=k, relaxed=relaxed).apply(draft_of(table), KEY)
    assert release.table.num_rows == table.num_rows
    assert min(class_sizes(release.table, "abc").values()) >= k
    for name in "abc":
        pairs = zip(release.table[name].to_pylist(), table[name].to_pylist())
        assert all(consistent(published, value) for published, value in pairs)
    assert 0 <= release.details["ncp"] <= 1


ZONED = pa.timestamp("us", tz="UTC")


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.int64(), [2**60 + i for i in range(12)]),
        (pa.uint64(), [2**63 + i for i in range(12)]),
        (pa.int64(), [0, 1, 2, 3, *(2**62 + i for i in range(8))]),
        (pa.float64(), [*(i * 1e-300 for i in range(11)), 1e300]),
        (pa.decimal128(8, 2), [Decimal(i) for i in range(2, 14)]),
        (ZONED, [dt.datetime(2020, 1, 1, i) for i in range(12)]),
        (pa.timestamp("us"), [dt.datetime(2020, 1, 1, microsecond=i) for i in range(12)]),
        (pa.date32(), [dt.date(2020, 1, 1 + i) for i in range(12)]),
    ],
)
@pytest.mark.parametrize("method", [Mondrian(k=3), Mondrian(k=3, relaxed=True), LocalRecoding(k=3)])
def test_values_that_floats_cannot_tell_apart_are_no_less_hidden(method, kind, values):
    table = pa.table({"x": pa.array(values, kind)})
    published = method.apply(draft_of(table), KEY).table
    assert min(class_sizes(published, ["x"]).values()) >= 3
    originals = table["x"].to_pylist()
    assert all(consistent(p, x) for p, x in zip(published["x"].to_pylist(), originals))


@pytest.mark.parametrize("kind", [pa.decimal128(8, 2), ZONED])
def test_decimals_and_zoned_times_are_intervals_in_their_order(kind):
    values = (
        [Decimal(i) for i in (2, 9, 10, 11)]
        if kind != ZONED
        else [dt.datetime(2020, 1, i) for i in (2, 9, 10, 11)]
    )
    (low, _), (high, _) = class_sizes(
        Mondrian(k=2).apply(draft_of(pa.table({"x": pa.array(values, kind)})), KEY).table, ["x"]
    ).items()
    ends = [str(v) if kind != ZONED else v.isoformat() for v in pa.array(values, kind).to_pylist()]
    assert (low, high) == ((f"[{ends[0]}-{ends[1]}]",), (f"[{ends[2]}-{ends[3]}]",))


def test_strict_groups_do_not_depend_on_the_order_of_rows():
    table = mixed(500)
    shuffled = np.random.default_rng(1).permutation(500)
    quasi = ["age", "sex", "weight", "job"]
    one = Mondrian(k=5).apply(draft_of(table, "disease"), KEY).table
    two = Mondrian(k=5).apply(draft_of(table.take(shuffled), "disease"), KEY).table
    assert one.take(shuffled).select(quasi).to_pylist() == two.select(quasi).to_pylist()


def test_relaxed_groups_do_not_depend_on_the_order_of_rows():
    table = pa.table({"id": range(200), "a": [i % 3 for i in range(200)], "b": [i % 7 for i in range(200)]})
    shuffled = np.random.default_rng(1).permutation(200)
    method = Mondrian(k=4, relaxed=True, columns=["a", "b"])
    one = method.apply(draft_of(table), KEY).table
    two = method.apply(draft_of(table.take(shuffled)), KEY).table
    assert one.take(shuffled).to_pylist() == two.to_pylist()


def test_relaxed_loses_no_more_than_strict():
    draft = draft_of(mixed(2000), "disease")
    strict = Mondrian(k=5).apply(draft, KEY).details
    relaxed = Mondrian(k=5, relaxed=True).apply(draft, KEY).details
    assert relaxed["groups"] >= strict["groups"]
    assert relaxed["ncp"] <= strict["ncp"]


def test_reported_loss_is_the_mean_over_cells():
    table = mixed(300).drop_columns(["job"])
    release = Mondrian(k=5).apply(draft_of(table, "disease"), KEY)
    from sudare.data.values.recoded import Anything, Interval, ValueSet, parse

    known = [a for a in table["age"].to_pylist() if a is not None]
    weights = table["weight"].to_pylist()
    span = {"age": max(known) - min(known), "weight": max(weights) - min(weights)}

    def loss(name, cell):
        meaning = parse(None if cell is None else str(cell))
        if isinstance(meaning, Interval):
            return (meaning.high - meaning.low) / span[name]
        if isinstance(meaning, ValueSet):
            return float(len(meaning.members) - 1)  # two values
        return 1.0 if isinstance(meaning, Anything) else 0.0

    cells = [loss(n, v) for n in ("age", "sex", "weight") for v in release.table[n].to_pylist()]
    assert release.details["ncp"] == pytest.approx(np.mean(cells))


def groups_of(table: pa.Table, columns, sensitive: str) -> dict:
    groups: dict[tuple, list] = {}
    for row, value in zip(zip(*(table[c].to_pylist() for c in columns)), table[sensitive].to_pylist()):
        groups.setdefault(row, []).append(value)
    return groups


def test_l_and_t_hold_in_every_class():
    table = mixed(1500)
    quasi = ["age", "sex", "weight", "job"]
    draft = draft_of(table, "disease")
    diverse = Mondrian(k=4, l=3).apply(draft, KEY).table
    assert min(len(set(v)) for v in groups_of(diverse, quasi, "disease").values()) >= 3
    entropy = Mondrian(k=4, l=2.5, diversity="entropy").apply(draft, KEY).table
    for values in groups_of(entropy, quasi, "disease").values():
        share = np.unique(values, return_counts=True)[1] / len(values)
        assert np.exp(-(share * np.log(share)).sum()) >= 2.5 - 1e-9
    close = Mondrian(k=4, t=0.2).apply(draft, KEY).table
    names, overall = np.unique(table["disease"].to_pylist(), return_counts=True)
    for values in groups_of(close, quasi, "disease").values():
        share = np.array([values.count(name) for name in names]) / len(values)
        assert np.abs(share - overall / 1500).sum() / 2 <= 0.2 + 1e-9


def test_t_of_a_numeric_column_is_the_ordered_distance():
    rng = np.random.default_rng(3)
    table = pa.table({"q": rng.integers(0, 100, 600), "pay": rng.integers(1, 6, 600)})
    release = Mondrian(k=5, t=0.1).apply(draft_of(table, "pay"), KEY).table
    overall = np.bincount(table["pay"].to_pylist(), minlength=6)[1:] / 600
    for values in groups_of(release, ["q"], "pay").values():
        gap = np.bincount(values, minlength=6)[1:] / len(values) - overall
        assert np.abs(np.cumsum(gap)).sum() / 4 <= 0.1 + 1e-9


def test_skewed_values_do_not_exhaust_the_stack():
    table = pa.table({"a": [2 ** min(i, 60) for i in range(3000)]})
    release = Mondrian(k=2).apply(draft_of(table), KEY)
    assert min(class_sizes(release.table, "a").values()) >= 2


@pytest.mark.parametrize(
    "wrong",
    [{"k": 1}, {"k": 2.5}, {"k": True}, {"k": 2, "l": 1}, {"k": 2, "t": 1}, {"k": 2, "diversity": "x"}],
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(UsageError):
        Mondrian(**wrong)


def test_what_cannot_be_met_is_refused_before_work():
    table = mixed(20)
    with pytest.raises(UsageError, match="k = 21 is more than the 20 people"):
        Mondrian(k=21).apply(draft_of(table, "disease"), KEY)
    with pytest.raises(UsageError, match="l = 5"):
        Mondrian(k=2, l=5).apply(draft_of(table, "disease"), KEY)
    with pytest.raises(UsageError, match="sensitive="):
        Mondrian(k=2, l=2).apply(draft_of(table), KEY)
    with pytest.raises(UsageError, match="did you mean 'age'"):
        Mondrian(k=2, columns=["agee"]).apply(draft_of(table), KEY)
    with pytest.raises(DataError, match="not finite"):
        Mondrian(k=2).apply(draft_of(pa.table({"a": [1.0, float("nan"), 2.0]})), KEY)


def test_rows_of_the_same_person_are_said():
    table = pa.table({"who": [1, 1, 2, 3], "a": [1, 2, 3, 4]})
    with pytest.warns(SudareWarning, match="S-ROWS"):
        Mondrian(k=2).apply(draft_of(table, user="who"), KEY)


def test_intervals_are_written_as_the_format_says():
    from sudare.data.values.recoded import interval
    from sudare.methods.quasi import _interval_labels

    values = [-3, 0, 2.5, 10.0, None]
    states = np.array([(a, b) for a in range(5) for b in range(a, 5)])
    expected = [
        (None if a == 4 else "*") if b == 4 else interval(values[a], values[b]) for a, b in states.tolist()
    ]
    assert _interval_labels(values, states).to_pylist() == expected


def test_times_finer_than_a_microsecond_are_cut_too():
    table = pa.table({"x": pa.array(range(12), pa.timestamp("ns"))})
    assert len(class_sizes(Mondrian(k=3).apply(draft_of(table), KEY).table, ["x"])) == 4
