"""Estimates from random sets: exact expectations, honest errors, the better estimators."""

from __future__ import annotations

import dataclasses
import itertools
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.cli.main import run
from sudare.data import Dataset, Roles
from sudare.engine.kernels.estimate import count_members, masks
from sudare.engine.kernels.randomized import draw_sets, words_needed
from sudare.engine.rows import Draft
from sudare.errors import DataError, UsageError
from sudare.estimate.formulas import (
    expected_mse,
    expected_mse_uniform,
    inverse,
    likeliest,
    project,
    squared_error,
    variance,
)
from sudare.keys import Key
from sudare.methods.plugins.anatomy import Anatomy
from sudare.methods.plugins.randomized import RandomizedAddition
from sudare.methods.plugins.tp import TP

KEY = Key.demo(1)


def draw(truth: np.ndarray, size: int, l: int, rng: np.random.Generator) -> np.ndarray:
    words = rng.integers(0, 2**64, (len(truth), words_needed(size, l)), dtype=np.uint64)
    return draw_sets(truth, words, size, l)


def counts_of(sets: np.ndarray, size: int) -> np.ndarray:
    return count_members(sets, np.zeros(len(sets), np.int64), 1, size)


def distribution(kind: str, rows: int, size: int, rng: np.random.Generator) -> np.ndarray:
    drawn = {
        "uniform": lambda: rng.integers(0, size, rows),
        "gaussian": lambda: np.clip(rng.normal(size / 2, size / 6, rows), 0, size - 1).astype(np.int64),
        "poisson": lambda: np.minimum(rng.poisson(size / 4, rows), size - 1),
        "zipf": lambda: np.minimum(rng.zipf(1.6, rows) - 1, size - 1),
        "degenerate": lambda: np.zeros(rows, np.int64),
    }
    return drawn[kind]()


@pytest.mark.parametrize("truth", [[0, 0], [0, 1], [0, 1, 1], [2, 2, 2]])
@pytest.mark.parametrize(("size", "l"), [(3, 2), (4, 2), (4, 3)])
def test_the_expected_mse_is_exact_by_enumeration(truth, size, l):
    others = [list(itertools.combinations([v for v in range(size) if v != t], l - 1)) for t in truth]
    true = np.bincount(truth, minlength=size)[None]
    errors, estimates = [], []
    for drawn in itertools.product(*others):
        sets = np.array([sorted((t, *o)) for t, o in zip(truth, drawn)])
        found = inverse(counts_of(sets, size), np.array([len(truth)]), l)
        errors.append(squared_error(found, true, np.array([len(truth)]))[0])
        estimates.append(found[0])
    assert np.mean(errors) == pytest.approx(expected_mse(len(truth), size, l))
    assert np.mean(estimates, axis=0) == pytest.approx(true[0])
    assert np.var(estimates, axis=0) == pytest.approx(variance(true[0], len(truth), size, l))


@pytest.mark.parametrize("kind", ["uniform", "gaussian", "poisson", "zipf", "degenerate"])
@pytest.mark.parametrize(("size", "l", "rows"), [(6, 2, 100), (20, 5, 1000), (50, 10, 300), (100, 18, 200)])
def test_the_expected_mse_holds_for_every_distribution(kind, size, l, rows):
    rng = np.random.default_rng(7)
    truth = distribution(kind, rows, size, rng)
    true, n = np.bincount(truth, minlength=size)[None], np.array([rows])
    found = [inverse(counts_of(draw(truth, size, l, rng), size), n, l) for _ in range(300)]
    errors = np.array([squared_error(v, true, n)[0] for v in found])
    better = np.array([squared_error(project(v, n), true, n)[0] for v in found])
    spread = errors.std(ddof=1) / np.sqrt(len(errors))
    assert abs(errors.mean() - expected_mse(rows, size, l)) < 3 * spread
    assert (better <= errors + 1e-15).all()


def test_equation_19_is_the_error_against_a_uniform_population():
    rng, size, l, rows = np.random.default_rng(3), 20, 5, 200
    errors = []
    for _ in range(1500):
        truth = rng.integers(0, size, rows)
        found = inverse(counts_of(draw(truth, size, l, rng), size), np.array([rows]), l)
        errors.append(squared_error(found, np.full((1, size), rows / size), np.array([rows]))[0])
    assert np.mean(errors) == pytest.approx(expected_mse_uniform(rows, size, l), rel=0.03)


def test_the_closed_form_solves_the_linear_system():
    rng, size, l, rows = np.random.default_rng(1), 8, 3, 500
    sets = draw(rng.integers(0, size, rows), size, l, rng)
    matrix = (1 - (l - 1) / (size - 1)) * (1 - np.eye(size))
    solved = np.linalg.solve(matrix, rows - counts_of(sets, size)[0])
    assert inverse(counts_of(sets, size), np.array([rows]), l)[0] == pytest.approx(solved)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(-50, 50), min_size=2, max_size=12), st.integers(1, 100))
def test_the_projection_is_the_nearest_point_of_the_simplex(values, total):
    counts = np.array([values])
    counts += (total - counts.sum()) / counts.size
    found = project(counts, np.array([total]))
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(total)
    gap = counts - found  # optimality: constant where positive, smaller elsewhere
    top = gap[found > 1e-9].max()
    assert gap[found > 1e-9] == pytest.approx(top)
    assert (gap <= top + 1e-9).all()


def test_em_equals_the_inverse_at_l_one_below_the_domain_in_the_interior():
    rng, size, rows = np.random.default_rng(2), 5, 20_000
    sets = draw(rng.choice(size, rows, p=[0.3, 0.25, 0.2, 0.15, 0.1]), size, size - 1, rng)
    n, groups = np.array([rows]), np.zeros(rows, np.int64)
    found = inverse(counts_of(sets, size), n, size - 1)
    assert (found > 0).all()
    fitted, settled = likeliest(sets, groups, project(found, n), n)
    assert settled
    assert fitted == pytest.approx(found, abs=0.01 * rows)


def test_em_finds_the_largest_likelihood():
    rng, size, l, rows = np.random.default_rng(4), 6, 3, 300
    sets = draw(distribution("zipf", rows, size, rng), size, l, rng)
    n = np.array([rows])
    begin = project(inverse(counts_of(sets, size), n, l), n)
    shares = likeliest(sets, np.zeros(rows, np.int64), begin, n)[0][0] / rows

    def likelihood(p: np.ndarray) -> float:
        return float(np.log(p[sets].sum(axis=1)).sum())

    for _ in range(200):
        other = np.maximum(shares + rng.normal(0, 0.01, size), 0)
        assert likelihood(other / other.sum()) <= likelihood(shares) + 1e-4


def test_em_beats_the_projection_on_skewed_data():
    rng, size, l, rows = np.random.default_rng(5), 20, 5, 2000
    truth = distribution("zipf", rows, size, rng)
    true, n = np.bincount(truth, minlength=size)[None], np.array([rows])
    projected, fitted = [], []
    for _ in range(20):
        sets = draw(truth, size, l, rng)
        begin = project(inverse(counts_of(sets, size), n, l), n)
        projected.append(squared_error(begin, true, n)[0])
        fitted.append(squared_error(likeliest(sets, np.zeros(rows, np.int64), begin, n)[0], true, n)[0])
    assert np.mean(fitted) < np.mean(projected)


def test_masks_have_l_bits():
    sets = draw(np.arange(70), 70, 9, np.random.default_rng(0))
    assert all(sum(int(word).bit_count() for word in row) == 9 for row in masks(sets, 70))


def people(rows: int = 3000) -> Dataset:
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], rows)
    disease = np.where(sex == "F", rng.choice(list("abcdef"), rows), rng.choice(list("aabcde"), rows))
    table = pa.table(
        {"sex": sex, "age": rng.integers(18, 90, rows), "disease": disease, "n": np.arange(rows)}
    )
    return Dataset.from_arrow(table, Roles.of(identifier="n", quasi=["sex", "age"], sensitive="disease"))


def publish(dataset: Dataset, method: object) -> Dataset:
    draft = method.apply(Draft.of(dataset, KEY), KEY)  # type: ignore[attr-defined]
    data = Dataset.from_arrow(draft.table, draft.roles)
    return dataclasses.replace(data, published={"schema": draft.schema})


@pytest.mark.parametrize("method", ["projection", "inverse", "em"])
def test_the_result_has_the_columns_of_the_contract(method):
    result = sudare.estimate(publish(people(), RandomizedAddition(l=2)), by=["sex"], method=method)
    frame = result.to_frame()
    assert list(frame.columns) == ["sex", "value", "count", "share", "stderr", "low", "high", "records"]
    assert len(frame) == 12
    assert frame.groupby("sex")["count"].sum().tolist() == pytest.approx(
        frame.groupby("sex")["records"].first()
    )
    assert frame.groupby("sex")["share"].sum().tolist() == pytest.approx([1, 1])
    assert (frame["low"] <= frame["count"] + 1e-9).all()
    assert (frame["count"] <= frame["high"] + 1e-9).all()
    sizes = frame.groupby("sex")["records"].first()
    assert result.expected_mse == pytest.approx(np.mean([expected_mse(n, 6, 2) for n in sizes]))


def test_without_by_the_whole_release_is_one_group():
    result = sudare.estimate(publish(people(), RandomizedAddition(l=2)))
    assert result.columns == ["value", "count", "share", "stderr", "low", "high", "records"]
    assert [row["records"] for row in result.rows] == [3000] * 6


def test_intervals_cover_the_truth():
    dataset, hits = people(), []
    true = dataset.to_pyarrow().to_pandas().groupby(["sex", "disease"]).size()
    for seed in range(40):
        key = Key.demo(seed)
        draft = RandomizedAddition(l=3).apply(Draft.of(dataset, key), key)
        data = dataclasses.replace(Dataset.from_arrow(draft.table), published={"schema": draft.schema})
        rows = sudare.estimate(data, by="sex").rows
        hits += [r["low"] <= true.get((r["sex"], r["value"]), 0) <= r["high"] for r in rows]
    assert 0.93 <= np.mean(hits) <= 1


def test_numeric_columns_come_in_bins():
    result = sudare.estimate(publish(people(), RandomizedAddition(l=2)), by=["age:10", "sex"])
    ages = list(dict.fromkeys(row["age"] for row in result.rows))
    assert ages == ["[10-19]", *(f"[{a}-{a + 9}]" for a in range(20, 90, 10))]
    by_hand = people().to_pyarrow().to_pandas().query("age < 20 and sex == 'F'")
    assert result.rows[0]["records"] == len(by_hand)


def test_fractions_come_in_half_open_bins_and_missing_values_in_their_own():
    table = pa.table({"x": [0.1, 0.6, 1.2, None], "s": ["a", "b", "c", "a"]})
    dataset = Dataset.from_arrow(table, Roles.of(quasi="x", sensitive="s"))
    result = sudare.estimate(publish(dataset, RandomizedAddition(l=2)), by="x:0.5")
    assert list(dict.fromkeys(row["x"] for row in result.rows)) == ["[0, 0.5)", "[0.5, 1)", "[1, 1.5)", None]


def test_a_value_at_the_end_of_a_bin_begins_the_next_one():
    table = pa.table({"x": [0.1, 0.3, 0.7, -0.3], "s": ["a", "b", "c", "a"]})
    dataset = Dataset.from_arrow(table, Roles.of(quasi="x", sensitive="s"))
    result = sudare.estimate(publish(dataset, RandomizedAddition(l=2)), by="x:0.1")
    assert list(dict.fromkeys(row["x"] for row in result.rows)) == [
        "[-0.3, -0.2)",
        "[0.1, 0.2)",
        "[0.3, 0.4)",
        "[0.7, 0.8)",
    ]


def test_a_group_column_that_is_called_like_one_of_the_result_keeps_its_values():
    table = pa.table({"count": [1, 1, 2, 2], "s": ["a", "b", "c", "a"]})
    dataset = Dataset.from_arrow(table, Roles.of(quasi="count", sensitive="s"))
    result = sudare.estimate(publish(dataset, RandomizedAddition(l=2)), by="count")
    assert result.columns[:3] == ["by count", "value", "count"]
    assert [row["by count"] for row in result.rows] == [1] * 3 + [2] * 3
    assert sum(row["count"] for row in result.rows) == pytest.approx(4)
    assert "facet" in result.chart().to_dict() or "concat" in result.chart().to_dict()


def test_anatomy_and_tp_answer_the_same_call():
    dataset = people()
    anatomy = sudare.estimate(publish(dataset, Anatomy(l=2)), by="sex")
    tp = sudare.estimate(publish(dataset, TP(l=2)), by="sex")
    assert anatomy.columns == tp.columns
    for result in (anatomy, tp):
        total = sum(row["count"] for row in result.rows)
        assert total == pytest.approx(3000)
        assert result.expected_mse is None


def test_anatomy_counts_by_the_shares_of_its_groups():
    table = pa.table({"q": [1, 1, 2, 2], "s": [["a", "b"], ["b", "c"], ["a", "b"], ["b", "c"]]})
    schema = {"anatomy": {"s": {"l": 2, "domain": ["a", "b", "c"], "version": 1}}}
    release = dataclasses.replace(Dataset.from_arrow(table), published={"schema": schema})
    assert [row["count"] for row in sudare.estimate(release, by="q").rows] == [0.5, 1.0, 0.5] * 2


def test_tp_counts_starred_records_by_the_share_of_values():
    table = pa.table({"age": ["20", "25", "*", "*", "41"], "s": ["a", "b", "a", "b", "b"]})
    entry = {"l": 2, "domain": ["a", "b"], "version": 1, "distinct": {"age": 8}}
    release = dataclasses.replace(Dataset.from_arrow(table), published={"schema": {"tp": {"s": entry}}})
    result = sudare.estimate(release, by="age:10")
    assert [(row["age"], row["count"]) for row in result.rows] == [
        ("[20-29]", 1.25),
        ("[20-29]", 1.25),
        ("[40-49]", 0.125),
        ("[40-49]", 1.125),
    ]


def test_negative_cells_are_explained():
    rows = 40
    table = pa.table({"s": ["a"] * (rows - 9) + list("bcdefghij")})
    release = publish(Dataset.from_arrow(table, Roles.of(sensitive="s")), RandomizedAddition(l=5))
    result = sudare.estimate(release, method="inverse")
    assert min(row["count"] for row in result.rows) < 0
    assert "negative" in result.notes[0]
    assert min(row["count"] for row in sudare.estimate(release).rows) >= 0


def changed(release: Dataset, cells: list[list[str]]) -> Dataset:
    table = pa.table({"disease": cells})
    return dataclasses.replace(Dataset.from_arrow(table), published=release.published)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([["a", "b"], ["a"]], "1 sets do not have 2 members"),
        ([["a", "b"], ["a", "a"]], "2 different members"),
        ([["a", "b"], ["a", "zzz"]], "not in the domain"),
    ],
)
def test_a_changed_release_is_refused(cells, words):
    release = publish(people(), RandomizedAddition(l=2))
    with pytest.raises(DataError, match=words) as error:
        sudare.estimate(changed(release, cells))
    assert "zzz" not in str(error.value)


def test_wrong_calls_are_refused():
    release = publish(people(), RandomizedAddition(l=2))
    for call, words in [
        ({"by": "sexx"}, "did you mean 'sex'"),
        ({"by": "sex:10"}, "'sex' is not a column of numbers"),
        ({"by": ["age", "age:10"]}, "appears twice"),
        ({"by": "age:0"}, "above 0"),
        ({"by": "disease"}, "other columns"),
        ({"method": "clip"}, "unknown method"),
        ({"column": "age"}, "cannot be estimated"),
        ({"confidence": 95}, "between 0 and 1"),
    ]:
        with pytest.raises(UsageError, match=words):
            sudare.estimate(release, **call)
    with pytest.raises(UsageError, match="no column to estimate"):
        sudare.estimate(people(), by="sex")


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "xlsx"])
def test_a_release_read_back_from_a_file_gives_the_same_estimate(tmp_path, kind):
    release = sudare.anonymize(people(300), sudare.methods.RandomizedAddition(l=3), key=bytes(range(32)))
    release.save(tmp_path / f"release.{kind}")
    back = sudare.open(tmp_path / f"release.{kind}")
    assert (
        sudare.estimate(back, by=["sex", "age:30"]).rows
        == sudare.estimate(release, by=["sex", "age:30"]).rows
    )


def test_the_command_prints_the_same_rows(tmp_path, capsys):
    release = sudare.anonymize(people(300), sudare.methods.RandomizedAddition(l=3), key=bytes(range(32)))
    release.save(tmp_path / "release.csv")
    assert run(["estimate", str(tmp_path / "release.csv"), "--by", "sex,age:30", "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["rows"] == list(sudare.estimate(release, by=["sex", "age:30"]).rows)
    assert printed["expected_mse"] > 0
    assert run(["estimate", str(tmp_path / "release.csv"), "--by", "sx"]) == 2
    assert "did you mean 'sex'" in capsys.readouterr().err
