"""The query workload: the same answers as a slow count, and the guarded Eq. (20)."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare.data import Dataset, Roles
from sudare.engine.rows import Draft
from sudare.errors import UsageError
from sudare.estimate.workload import workload
from sudare.estimate.workload_answers import Collapsed, random_queries, values_asked
from sudare.keys import Key
from sudare.methods.plugins.anatomy import Anatomy
from sudare.methods.plugins.randomized import RandomizedAddition
from sudare.methods.plugins.tp import TP

KEY = Key.demo(1)


def people(rows: int = 4000) -> Dataset:
    rng = np.random.default_rng(0)
    quasi = {"a": rng.integers(0, 9, rows), "b": rng.integers(0, 4, rows), "c": rng.integers(0, 3, rows)}
    disease = (quasi["a"] + rng.integers(0, 5, rows)) % 12
    table = pa.table({**quasi, "disease": [f"d{v:02}" for v in disease]})
    return Dataset.from_arrow(table, Roles.of(quasi=["a", "b", "c"], sensitive="disease"))


def publish(dataset: Dataset, method: object) -> Dataset:
    draft = method.apply(Draft.of(dataset, KEY), KEY)  # type: ignore[attr-defined]
    data = Dataset.from_arrow(draft.table, draft.roles)
    return dataclasses.replace(data, published={"schema": draft.schema})


@pytest.mark.parametrize(("shares", "stars"), [(False, False), (True, False), (False, True)])
def test_answers_equal_a_slow_count(shares, stars):
    rng = np.random.default_rng(1)
    rows, size, distinct = 300, 5, [6, 3, 4]
    positions = np.stack([rng.integers(1, d + 1, rows) for d in distinct], axis=1).astype(np.int32)
    if stars:
        positions[rng.random(rows) < 0.3, :2] = 0
    lengths = rng.integers(1, 4, rows)
    values = rng.integers(0, size, lengths.sum())
    asked = random_queries(distinct, 2, 0.2, 20, rng)
    answered = Collapsed.of(positions, values, lengths, shares, size).answer(asked)
    starts = np.cumsum(lengths) - lengths
    for query in range(20):
        slow = np.zeros(size)
        for row in range(rows):
            weight = 1.0
            for place, column in enumerate(asked.columns[query]):
                code = positions[row, column]
                weight *= asked.share[query, place] if code == 0 else asked.wanted[query, place, code - 1]
            for value in values[starts[row] : starts[row] + lengths[row]]:
                slow[value] += weight / (lengths[row] if shares else 1)
        assert answered[query] == pytest.approx(slow)


def test_equation_20_is_guarded_against_rounding():
    assert values_asked(10, 0.001, 2) == 1
    assert values_asked(80, 0.07, 3) == 42
    assert values_asked(3, 1.0, 1) == 3


def test_the_three_releases_are_compared_on_the_same_queries():
    dataset = people()
    releases = {"sets": RandomizedAddition(l=3), "anatomy": Anatomy(l=3), "tp": TP(l=3)}
    result = workload(
        dataset, {n: publish(dataset, m) for n, m in releases.items()}, dimensions=2, queries=100
    )
    assert [row["release"] for row in result.rows] == ["sets", "anatomy", "tp"]
    assert all(row["queries"] + row["skipped"] == 100 for row in result.rows)
    assert all(0 < row["median_mse"] < 0.05 for row in result.rows)


def test_the_projection_never_answers_worse_than_the_inverse():
    dataset = people(500)
    release = {"sets": publish(dataset, RandomizedAddition(l=6))}
    projected = workload(dataset, release, dimensions=2, queries=60).errors[0][1]
    plain = workload(dataset, release, dimensions=2, queries=60, method="inverse").errors[0][1]
    assert (projected <= plain + 1e-15).all()


def test_an_original_published_as_it_is_answers_exactly():
    dataset = people(200)
    domain = sorted(set(dataset.to_pyarrow()["disease"].to_pylist()))
    entry = {"l": 1, "domain": domain, "version": 1, "distinct": {"a": 9, "b": 4, "c": 3}}
    same = dataclasses.replace(dataset, published={"schema": {"tp": {"disease": entry}}})
    assert (
        workload(dataset, {"same": same}, dimensions=3, queries=50, selectivity=0.05).rows[0]["mean_mse"] == 0
    )


def test_wrong_calls_are_refused():
    dataset = people(200)
    release = {"sets": publish(dataset, RandomizedAddition(l=3))}
    with pytest.raises(UsageError, match="from 1 to the 3"):
        workload(dataset, release, dimensions=4)
    with pytest.raises(UsageError, match="selectivity"):
        workload(dataset, release, selectivity=0)
    with pytest.raises(UsageError, match="at least one release"):
        workload(dataset, {})


def test_the_chart_renders():
    from sudare.charts import svg

    dataset = people(500)
    result = workload(dataset, {"sets": publish(dataset, RandomizedAddition(l=3))}, dimensions=2, queries=30)
    assert "<svg" in svg(result.chart())


def test_queries_are_left_out_where_quasi_identifiers_were_changed(key):
    patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    steps = [sudare.methods.Round(column="age", to=10), sudare.methods.RandomizedAddition(l=2)]
    release = sudare.anonymize(patients, steps, key=key)
    rows = {row["metric"]: row for row in sudare.utility(patients, release).rows}
    assert rows["query-workload"]["value"] is None
    assert "quasi-identifiers were changed" in rows["query-workload"]["detail"]
