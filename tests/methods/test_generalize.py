"""Round, TopBottomCode, Generalize."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare
from sudare.data import Dataset, Roles
from sudare.data.values.hierarchies import Hierarchy
from sudare.data.values.originals import consistency
from sudare.engine.rows import Draft
from sudare.errors import DataError, UsageError
from sudare.keys import Key
from sudare.methods.plugins.generalize import Generalize, Round
from sudare.methods.plugins.top_bottom import TopBottomCode

KEY = Key.demo(1)


def draft(**columns: Any) -> Draft:
    return Draft.of(Dataset.from_arrow(pa.table(columns), Roles.of(quasi=list(columns))), KEY)


def column(method: Any, values: Any) -> list[Any]:
    return list(method.apply(draft(x=values), KEY).table["x"].to_pylist())


def test_numbers_are_rounded_to_the_nearest_multiple() -> None:
    assert column(Round(column="x", to=10), pa.array([14, 15, -15, -16, None])) == [10, 20, -10, -20, None]
    assert column(Round(column="x", to=0.1), pa.array([0.34, 0.35, -0.34])) == [0.3, 0.4, -0.3]
    assert column(Round(column="x", to=5), pa.array([12.4, 12.5])) == [10, 15]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), st.integers(1, 10**6))
def test_large_whole_numbers_are_rounded_exactly(values: list[int], to: int) -> None:
    for value, rounded in zip(
        values, column(Round(column="x", to=to), pa.array(values, pa.int64())), strict=True
    ):
        assert rounded % to == 0
        assert abs(rounded - value) * 2 <= to or abs(value) > 2**63 - 2 * to


def test_small_types_do_not_overflow() -> None:
    assert column(Round(column="x", to=10), pa.array([126, -128], pa.int8())) == [120, -120]
    assert column(Round(column="x", to=10), pa.array([255, 4], pa.uint8())) == [250, 0]
    with pytest.raises(UsageError, match="larger than any number"):
        column(Round(column="x", to=1000), pa.array([1], pa.int8()))


def test_what_changed_is_counted() -> None:
    assert Round(column="x", to=10).apply(draft(x=[10, 11, None]), KEY).details == {"changed": 1, "to": 10}


@pytest.mark.parametrize("to", [5e-324, 0, -1, float("nan"), float("inf"), True, "10"])
def test_a_step_that_means_nothing_is_refused(to: Any) -> None:
    with pytest.raises(UsageError):
        Round(column="x", to=to)


def test_text_and_infinite_numbers_are_refused() -> None:
    with pytest.raises(UsageError, match="not numeric"):
        column(Round(column="x", to=10), pa.array(["a"]))
    with pytest.raises(DataError, match="NaN or infinite"):
        column(Round(column="x", to=0.5), pa.array([np.inf]))


def test_numbers_beyond_the_bounds_become_the_bound() -> None:
    assert column(TopBottomCode(column="x", top=90, bottom=18), pa.array([17, 50, 95, None])) == [
        18,
        50,
        90,
        None,
    ]


def test_whole_numbers_are_coded_exactly_and_stay_within_the_bounds() -> None:
    large = 2**60
    values = pa.array([large + i for i in range(6)])
    assert column(TopBottomCode(column="x", top=large + 4, bottom=large + 1), values) == [
        large + i for i in (1, 1, 2, 3, 4, 4)
    ]
    assert column(TopBottomCode(column="x", top=large + 2, replacement="mean"), values)[3:] == [large + 4] * 3
    assert column(TopBottomCode(column="x", top=31.5, bottom=1.5), pa.array([1, 7, 40])) == [2, 7, 31]
    assert column(TopBottomCode(column="x", top=10**30, bottom=-(10**30)), pa.array([1], pa.int8())) == [1]
    assert column(TopBottomCode(column="x", bottom=1000), pa.array([1], pa.int8())) == [127]


def test_large_whole_numbers_can_be_rounded_to_a_fraction() -> None:
    assert column(Round(column="x", to=0.5), pa.array([2**60, None])) == [2.0**60, None]


def test_the_mean_beyond_the_bound_keeps_the_total() -> None:
    values = [1.0, 2.0, 3.0, 50.0, 75.0, 100.0]
    coded = column(TopBottomCode(column="x", top=10, replacement="mean"), pa.array(values))
    assert coded == [1, 2, 3, 75, 75, 75]
    assert sum(coded) == sum(values)


def test_the_median_beyond_the_bound_is_whole_for_whole_numbers() -> None:
    coded = TopBottomCode(column="x", top=10, replacement="median")
    assert column(coded, pa.array([1.0, 50.0, 60.0, 1000.0])) == [1, 60, 60, 60]
    assert column(coded, pa.array([1.0, 50.0, 60.0, 61.0, 1000.0])) == [1, 60.5, 60.5, 60.5, 60.5]
    assert column(coded, pa.array([1, 50, 60, 63, 1000])) == [1, 62, 62, 62, 62]


def test_a_mean_or_median_needs_three_people_not_three_records() -> None:
    ours = {"user": ["a", "a", "a", "b", "c", "d"], "x": [100, 101, 102, 103, 1, 2]}
    for replacement in ("mean", "median"):
        with pytest.raises(UsageError, match="fewer than 3 people"):
            _coded(replacement, **ours)
    assert _coded("bound", **ours) == [50, 50, 50, 50, 1, 2]
    ours["user"] = ["a", "a", "e", "b", "c", "d"]
    assert _coded("median", **ours) == [102, 102, 102, 102, 1, 2]
    with pytest.raises(UsageError, match="below the bound"):
        column(TopBottomCode(column="x", bottom=10, replacement="mean"), pa.array([1, 2, 50]))


def _coded(replacement: str, **columns: list[Any]) -> list[Any]:
    made = Draft.of(Dataset.from_arrow(pa.table(columns), Roles.of(user="user", sensitive="x")), KEY)
    return TopBottomCode(column="x", top=50, replacement=replacement).apply(made, KEY).table["x"].to_pylist()


def test_a_share_is_coded_on_both_sides() -> None:
    out = TopBottomCode(column="x", share=0.1).apply(draft(x=list(range(100))), KEY)
    assert (out.details["top_coded"], out.details["bottom_coded"]) == (9, 9)


@pytest.mark.parametrize(
    "options", [{}, {"top": 1, "bottom": 2}, {"share": 0.7}, {"top": 1, "replacement": "x"}, {"top": "a"}]
)
def test_bounds_that_mean_nothing_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        TopBottomCode(column="x", **options)


def test_values_become_labels_of_their_level(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("11th;school;*\nMasters;higher;*\n")
    values = pa.array(["11th", "Masters", None])
    for hierarchy in (tmp_path / "h.csv", Hierarchy.from_csv(tmp_path / "h.csv")):
        assert column(Generalize(column="x", hierarchy=hierarchy), values) == ["school", "higher", None]
        assert column(Generalize(column="x", level=2, hierarchy=hierarchy), values) == ["*", "*", "*"]
        assert column(Generalize(column="x", level=0, hierarchy=hierarchy), values) == [
            "11th",
            "Masters",
            None,
        ]


def test_a_table_of_the_configuration_makes_the_hierarchy() -> None:
    out = Generalize(column="x", hierarchy={"intervals": [5, 10]}).apply(draft(x=[17, 42]), KEY)
    assert out.table["x"].to_pylist() == ["[15-19]", "[40-44]"]
    assert out.details == {"level": 1, "levels": 4, "ncp": 0.0}


def test_without_a_hierarchy_one_is_proposed_and_stays_consistent() -> None:
    values = list(range(17, 91))
    published = column(Generalize(column="x", level=2), pa.array(values))
    assert len(set(published)) < 10
    assert np.diagonal(consistency(published, values)).all()


def test_chunks_of_a_fitted_method_agree_with_the_whole() -> None:
    values = pa.array([f"{n:05d}" for n in range(0, 90_000, 700)])
    method = Generalize(column="x").fit(draft(x=values))
    whole = column(method, values)
    assert [*column(method, values.slice(0, 50)), *column(method, values.slice(50))] == whole


def test_unknown_levels_and_columns_are_refused() -> None:
    with pytest.raises(UsageError, match="level 9"):
        column(Generalize(column="x", level=9), pa.array([1, 2, 3]))
    with pytest.raises(UsageError, match="unknown column"):
        Generalize(column="y").apply(draft(x=[1]), KEY)
    for level in (-1, True, 1.5):
        with pytest.raises(UsageError):
            Generalize(column="x", level=level)  # type: ignore[arg-type]


def test_a_release_with_a_hierarchy_object_can_be_saved(tmp_path: Path) -> None:
    tree = Hierarchy.from_paths([("canary", "p"), ("y", "p"), ("z", "q")])
    ds = Dataset.from_arrow(pa.table({"a": ["canary", "y", "z"]}), Roles.of(quasi="a"))
    sudare.anonymize(ds, Generalize(column="a", hierarchy=tree), key=KEY).save(tmp_path / "r.csv")
    assert "p" in (tmp_path / "r.csv").read_text()
    assert all("canary" not in file.read_text() for file in tmp_path.iterdir())


def test_a_column_of_sets_has_no_hierarchy() -> None:
    ds = sudare.open(pa.table({"a": [["x", "y"], ["z"]]}), quasi="a")
    with pytest.raises(UsageError, match="sets"):
        sudare.anonymize(ds, Generalize(column="a", level=1), key=bytes(range(32)))


@pytest.mark.parametrize("wrong", [7, 1.5, True, b"x", ["a.csv"]])
def test_a_hierarchy_that_is_none_is_refused(wrong: Any) -> None:
    with pytest.raises(UsageError, match="hierarchy"):
        Generalize(column="x", hierarchy=wrong)


def test_decimals_of_any_length_are_rounded_and_coded_exactly():
    from decimal import Decimal

    large = [2**63 + 7 * n + 3 for n in range(50)]
    table = pa.table(
        {
            "whole": pa.array(map(Decimal, large), pa.decimal128(20, 0)),
            "unsigned": pa.array(large, pa.uint64()),
            "price": pa.array([Decimal(n * 137) / 100 for n in range(50)], pa.decimal128(10, 2)),
        }
    )
    ds = Dataset.from_arrow(table, Roles.of(sensitive=["whole", "unsigned", "price"]))

    def published(step):
        release = sudare.anonymize(ds, step, key=KEY)
        column = release.data.to_pyarrow()[step.column]
        return [cell for _, cell in sorted(zip(release.truth, column.to_pylist()))], release.steps[0][
            "details"
        ]

    expected = [(v + 3) // 7 * 7 for v in large]
    assert published(Round(column="whole", to=7)) == (expected, {"changed": 50, "to": 7})
    assert published(Round(column="unsigned", to=7)) == (expected, {"changed": 50, "to": 7})
    assert published(Round(column="price", to=0.5))[0][:4] == [Decimal(n) / 2 for n in (0, 3, 5, 8)]
    whole, details = published(TopBottomCode(column="whole", share=0.1))
    assert whole == published(TopBottomCode(column="unsigned", share=0.1))[0]
    assert details == {"top_coded": 4, "bottom_coded": 4}
    mean, _ = published(TopBottomCode(column="price", top=60, replacement="mean"))
    assert sum(mean) == pytest.approx(sum(table["price"].to_pylist()), abs=Decimal("0.05"))
