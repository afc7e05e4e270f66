"""Hierarchies: paths, levels, losses, files."""

from __future__ import annotations

import contextlib
import datetime as dt
import tempfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.data.values.hierarchies import Hierarchy
from sudare.data.values.hierarchy_kinds import (
    KINDS,
    categories,
    dates,
    from_spec,
    intervals,
    prefixes,
    read_specs,
)
from sudare.data.values.hierarchy_proposals import propose
from sudare.data.values.recoded import plain
from sudare.errors import DataError, SudareError, UsageError

SCHOOL = [
    ("11th", "school", "*"),
    ("12th", "school", "*"),
    ("Bachelors", "higher", "*"),
    ("Masters", "higher", "*"),
]


def test_levels_run_from_the_value_to_the_root() -> None:
    h = Hierarchy.from_paths(SCHOOL)
    assert h.levels == 3
    assert h.labels == (("11th", "12th", "Bachelors", "Masters"), ("school", "higher"), ("*",))
    assert [sizes.tolist() for sizes in h.sizes] == [[1, 1, 1, 1], [2, 2], [4]]


def test_paths_without_a_common_end_get_a_root() -> None:
    assert Hierarchy.from_paths([("1", "low"), ("9", "high")]).labels[-1] == ("*",)
    assert Hierarchy.from_paths([("1",), ("9",)]).levels == 2


def test_loss_is_the_share_of_the_other_leaves_that_stay_possible() -> None:
    h = Hierarchy.from_paths(SCHOOL)
    assert h.ncp(pa.array(["12th", "school", "*", None])).tolist() == [0, 1 / 3, 1, 1]
    assert [loss.tolist() for loss in h.loss] == [[0] * 4, [1 / 3] * 2, [1]]


def test_a_single_leaf_costs_nothing() -> None:
    assert Hierarchy.flat(["only"]).ncp(["only", "*"]).tolist() == [0, 0]


def test_a_label_on_two_levels_counts_its_widest_reading() -> None:
    h = Hierarchy.from_paths([("Other", "Other"), ("Else", "Other"), ("Tech", "Tech")])
    assert h.leaves_under("Other") == 2


def test_codes_follow_the_leaves_for_numbers_and_text() -> None:
    h = Hierarchy.from_paths([("17", "young"), ("18", "young"), ("90", "old")])
    for values in (pa.array([90, 17]), pa.array([90.0, 17.0]), pa.chunked_array([["90"], ["17"]])):
        assert h.codes(values).tolist() == [2, 0]
    assert h.codes(pa.array(["90"]).dictionary_encode()).tolist() == [2]


def test_generalized_codes_decode_to_labels() -> None:
    h = Hierarchy.from_paths(SCHOOL)
    assert h.decode(h.generalize(np.array([3, 0]), 1), 1).to_pylist() == ["higher", "school"]
    assert h.lowest_common(np.array([2, 3])) == 1
    assert h.lowest_common(np.array([1, 3])) == 2
    assert h.lowest_common(np.array([1, 1])) == 0


def test_an_unknown_value_is_counted_and_never_named() -> None:
    with pytest.raises(DataError, match="1 of 2 values") as fault:
        Hierarchy.from_paths(SCHOOL).codes(["11th", "canary"])
    assert "canary" not in str(fault.value)
    with pytest.raises(DataError):
        Hierarchy.from_paths(SCHOOL).ncp(["canary"])


def test_a_missing_value_is_a_leaf_of_its_own_on_request() -> None:
    h = Hierarchy.from_paths(SCHOOL).with_missing()
    codes = h.codes(pa.array(["11th", None]))
    assert h.decode(h.generalize(codes, 1), 1).to_pylist() == ["school", None]
    assert h.ncp(pa.array([None], pa.string())).tolist() == [0]
    assert h.with_missing() is h


def test_restriction_drops_values_that_do_not_occur() -> None:
    assert Hierarchy.from_paths(SCHOOL).restrict(["11th", "Masters"]).labels[1] == ("school", "higher")


@pytest.mark.parametrize("paths", [[], [("a", "*"), ("b",)], [("a", "*"), ("a", "*")]])
def test_broken_paths_are_refused(paths: list[tuple[str, ...]]) -> None:
    with pytest.raises(DataError):
        Hierarchy.from_paths(paths)


def test_levels_that_do_not_nest_are_refused() -> None:
    with pytest.raises(UsageError, match="level 1 is not nested in level 2"):
        Hierarchy.from_paths([("a", "x", "1", "*"), ("b", "x", "2", "*")])
    with pytest.raises(UsageError, match="level 7"):
        Hierarchy.from_paths(SCHOOL).generalize(np.array([0]), 7)


def test_csv_round_trip_keeps_separators_and_quotes(tmp_path: Path) -> None:
    h = Hierarchy.from_paths([('a;"b"', "x"), ("c\nd", "x"), ("-1", "y")])
    h.to_csv(tmp_path / "h.csv")
    assert Hierarchy.from_csv(tmp_path / "h.csv").paths() == h.paths()


def test_a_missing_or_undecodable_file_is_bad_data(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_bytes(b"\xff\xfe\x00")
    for name in ("h.csv", "absent.csv"):
        with pytest.raises(DataError, match="cannot be read"):
            Hierarchy.from_csv(tmp_path / name)


def test_the_arx_hierarchies_of_adult_cover_its_columns(data_dir: Path) -> None:
    import pyarrow.parquet as pq

    adult = pq.read_table(data_dir / "adult_arx.parquet")
    for file in sorted((data_dir / "adult_arx_hierarchies").glob("*.csv")):
        h = Hierarchy.from_csv(file)
        codes = h.codes(adult[file.stem])
        assert h.ncp(h.decode(codes, 0)).sum() == 0
        assert h.ncp(h.decode(h.generalize(codes, h.levels - 1), h.levels - 1)).min() == 1


def test_intervals_hold_negative_and_fractional_numbers() -> None:
    assert intervals([-7, 3], [5, 10]).paths()[0] == ("-7", "[-10--6]", "[-10--1]", "*")
    assert intervals([0.25, 1.5], [0.5, 1]).paths()[0] == ("0.25", "[0-0.5]", "[0-1]", "*")
    assert intervals([1, None], [5]).paths()[-1] == (None, None, "*")


@pytest.mark.parametrize("widths", [[], [0], [10, 5], [5, 7], "ab", [True]])
def test_widths_that_do_not_nest_are_refused(widths: list[float]) -> None:
    with pytest.raises(UsageError, match="intervals"):
        intervals([1, 2], widths)


def test_every_original_value_is_consistent_with_its_labels() -> None:
    from sudare.data.values.recoded import consistent

    made = [
        (intervals([-7, 3, 88], [5, 20]), [-7, 3, 88]),
        (prefixes(["81667", "81925"], [3, 1]), ["81667", "81925"]),
        (dates(["2011-12-31", "2010-02-01"], ["month", "quarter", "half", "year", "decade"]), None),
    ]
    for hierarchy, values in made:
        for path in hierarchy.paths():
            value = path[0] if values is None or isinstance(values[0], str) else int(str(path[0]))
            assert all(consistent(label, value) for label in path)


def test_a_toml_describes_every_kind(tmp_path: Path) -> None:
    (tmp_path / "education.csv").write_text("a;x;*\nb;x;*\n")
    (tmp_path / "sudare.toml").write_text(
        "[hierarchy.age]\nintervals=[5,10]\n[hierarchy.zip]\nprefixes=[3]\n[hierarchy.day]\ndates=['year']\n"
        "[hierarchy.work.categories]\ngov=['state','federal']\nprivate=['inc']\n"
        "[hierarchy.education]\nfile='education.csv'\n[hierarchy.sex]\nflat=true\n"
    )
    values = {
        "age": [1],
        "zip": ["81667"],
        "day": ["2011-02-07"],
        "work": ["inc", None],
        "education": ["a"],
        "sex": ["m"],
    }
    made = {
        n: from_spec(s, values[n], folder=tmp_path) for n, s in read_specs(tmp_path / "sudare.toml").items()
    }
    assert {name: h.levels for name, h in made.items()} == {
        "age": 4, "zip": 3, "day": 3, "work": 3, "education": 3, "sex": 2,
    }  # fmt: skip
    assert made["work"].leaves[-1] is None


@pytest.mark.parametrize(
    "spec", [{}, {"flat": True, "prefixes": [1]}, {"dates": ["week"]}, {"prefixes": [1, 2]}]
)
def test_a_wrong_table_is_a_wrong_call(spec: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        from_spec(spec, ["2011-02-07"])


def test_groups_of_unequal_depth_keep_their_name() -> None:
    h = categories({"abroad": {"Asia": ["Japan"], "Europe": ["Italy"]}, "home": ["US"]})
    assert h.paths() == [
        ("Japan", "Asia", "abroad", "*"),
        ("Italy", "Europe", "abroad", "*"),
        ("US", "home", "home", "*"),
    ]


def test_proposals_cover_the_columns_of_adult(data_dir: Path) -> None:
    import pyarrow.parquet as pq

    adult = pq.read_table(data_dir / "adult.parquet")
    for name in adult.column_names:
        values = adult[name].unique()
        hierarchy = from_spec(propose(adult[name]), values)
        assert len(hierarchy.codes(values)) == len(values)
    assert propose(adult["age"]) == {"intervals": [5, 10, 20]}
    assert set(propose(adult["marital-status"])) == {"categories"}


def test_codes_of_one_length_are_cut_from_the_right() -> None:
    assert propose(pa.array([f"{n:05d}" for n in range(100)])) == {"prefixes": [3, 2, 1]}
    assert propose(pa.array(["2011-02-07"])) == {"dates": ["month", "year"]}
    assert propose(pa.array([1.5, None])) == {"flat": True}


def test_leaves_are_the_texts_that_are_published() -> None:
    columns = [
        pa.array([dt.datetime(2011, 2, 7, 10), None]),
        pa.array([dt.date(9999, 12, 31), dt.date(1, 1, 1)]),
        pa.array([True, False]),
        pa.array([Decimal("1.50"), Decimal("2.25")]),
        pa.array([1.0, 2.5, 1e20]),
    ]
    for column in columns:
        h = from_spec({"flat": True}, column)
        assert h.leaves == tuple(
            plain(value) for value in sorted(v for v in column.to_pylist() if v is not None)
        ) + ((None,) if column.null_count else ())
        assert len(h.codes(column)) == len(column)
    assert from_spec({"dates": ["month", "decade"]}, columns[1]).levels == 4
    assert from_spec({"intervals": [1]}, columns[3]).levels == 3


def test_large_whole_numbers_fall_into_exact_intervals() -> None:
    assert intervals([2**60 + 1], [2]).paths()[0][1] == f"[{2**60}-{2**60 + 1}]"


def test_columns_that_a_kind_cannot_hold_are_refused() -> None:
    for spec, values in [
        ({"intervals": [5]}, ["a"]),
        ({"intervals": [5]}, [float("inf")]),
        ({"dates": ["year"]}, ["soon"]),
        ({"flat": True}, [["a", "b"]]),
        ({"file": 5}, ["a"]),
        ({"flatt": True}, ["a"]),
    ]:
        with pytest.raises(SudareError):
            from_spec(spec, values)
    with pytest.raises(UsageError, match="column of sets"):
        Hierarchy.flat(["a"]).codes(pa.array([["a"]]))


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
nested = st.recursive(
    scalars,
    lambda s: st.lists(s, max_size=4) | st.dictionaries(st.text(max_size=5), s, max_size=4),
    max_leaves=8,
)
specs = st.dictionaries(st.sampled_from([*KINDS, "origin", "x"]), nested, max_size=2)
columns = st.lists(st.integers() | st.none()) | st.lists(st.text(max_size=4)) | st.lists(st.floats())


@settings(max_examples=300, deadline=None)
@given(specs, columns)
def test_any_table_of_a_configuration_works_or_is_refused_in_words(
    spec: dict[str, object], values: list[object]
) -> None:
    with contextlib.suppress(SudareError):
        h = from_spec(spec, values)
        h.codes(pa.array([plain(value) for value in values], pa.string()))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60) | st.text(alphabet='ab;*\n"', max_size=40).map(str.encode))
def test_any_file_is_a_hierarchy_or_is_refused_in_words(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(SudareError):
        path = Path(folder) / "h.csv"
        path.write_bytes(content)
        Hierarchy.from_csv(path)


def test_a_repr_tells_hierarchies_apart_and_shows_no_value() -> None:
    first, second = Hierarchy.flat(["canary", "b"]), Hierarchy.flat(["canary", "c"])
    assert repr(first) != repr(second)
    assert repr(first) == repr(Hierarchy.flat(["canary", "b"]))
    assert "canary" not in repr(first)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([2**60 + i for i in range(9)], pa.int64()),
        ([Decimal(i) / 4 for i in range(9)], pa.decimal128(8, 2)),
        ([1.0, 2.0, 5.0, float("nan")], pa.float64()),
    ],
)
def test_proposals_for_numbers_that_are_no_plain_floats_are_intervals(
    values: list[object], kind: pa.DataType
) -> None:
    proposed = propose(pa.array(values, kind))
    assert list(proposed) == ["intervals"]
    assert from_spec(proposed, values).levels > 2


def test_infinite_numbers_have_a_proposal_that_says_what_is_wrong() -> None:
    values = pa.array([1.0, 2.0, 5.0, float("inf")])
    with pytest.raises(DataError, match="infinite"):
        from_spec(propose(values), values)
