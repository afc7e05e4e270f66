"""An attack or a metric is one class: registered, it runs on every engine, and nobody keeps a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare import methods, registry
from sudare.attacks.base import Candidates
from sudare.attacks.matching import Matching, Reads
from sudare.data.truth import ROW
from sudare.utility.base import Measured, Metric

ROLES = {"quasi": ["sex", "age"], "sensitive": ["income"]}


@pytest.fixture(scope="module")
def people() -> pa.Table:
    draw, rows = np.random.default_rng(8), 400
    return pa.table(
        {
            "sex": draw.choice(["f", "m"], rows),
            "age": draw.integers(20, 40, rows),
            "income": np.round(draw.lognormal(5, 0.5, rows), 2),
        }
    )


@pytest.fixture
def registered():
    """What a test registers goes with the test."""
    before = {kind: dict(registry.all_of(kind)) for kind in ("attack", "metric")}
    yield
    for kind, known in before.items():
        registry._found[kind].clear()
        registry._found[kind].update(known)


@pytest.fixture(
    params=[pytest.param("duckdb"), pytest.param("spark", marks=pytest.mark.spark)],
)
def released(request, people, key):
    """The same table, and its release, on every engine."""
    ds = request.getfixturevalue(f"on_{request.param}")(people, **ROLES)
    return ds, sudare.anonymize(ds, [methods.Noise(sd=0.01), methods.DeleteRecords(share=0.1)], key=key)


def guess_by_income(pair):
    """The row with the nearest income, from all originals, and a look for a truth that must not be there."""
    assert pair.truth is None
    assert not pair.has_truth
    assert pair.known is None
    assert ROW not in (*pair.original.columns, *pair.release.columns)
    original, release = pair.numbers(["income"])
    return np.abs(release - original.T).argmin(axis=1)


@pytest.mark.usefixtures("registered")
def test_a_new_attack_on_drawn_rows_runs_everywhere_and_never_sees_the_truth(released):
    @registry.attack
    @dataclass(frozen=True, kw_only=True)
    class NearestIncome(Matching):
        """The nearest income."""

        scope: ClassVar[str] = "row"
        priority: ClassVar[int] = 5

        def match(self, pair):
            return Candidates.of_guesses(guess_by_income(pair), pair.originals)

        @classmethod
        def suited(cls, pair):
            assert pair.truth is None
            return [cls()] if "income" in pair.numeric() else []

    ds, release = released
    result = sudare.attack(ds, release)
    assert result.rows[0]["attack"] == "nearest-income"
    assert result.rows[0]["rate"] == pytest.approx(expected_rate(ds, release), abs=1e-12)
    assert sudare.attack(ds, release, "nearest-income").rows[0]["rate"] == result.rows[0]["rate"]


@pytest.mark.usefixtures("registered")
def test_a_new_attack_within_groups_runs_everywhere_and_looks_on_otherwise(released, people):
    @registry.attack
    @dataclass(frozen=True, kw_only=True)
    class OldestOfSex(Matching):
        """The oldest of the same sex and age above 30; the others by income."""

        scope: ClassVar[str] = "group"

        def match(self, pair):
            assert pair.truth is None
            blocks = pair.blocks(["sex", "age"])
            young = pair.numbers(["age"])[1][:, 0] < 30
            return Candidates.of_classes(blocks.original, np.where(young, -1, blocks.release))

        def reads(self, pair):
            return Reads(("sex", "age"), ("income",))

        def otherwise(self, pair):
            return sudare.attacks.IdentifySa21(column="income")

    ds, release = released
    (row,) = sudare.attack(ds, release, OldestOfSex()).rows
    truth, income = release.truth, people["income"].to_numpy()
    published = release.data.to_pyarrow()
    table, shown = people.to_pylist(), published.to_pylist()
    hits = 0.0
    for person, about in zip(shown, truth):
        same = [
            r for r, one in enumerate(table) if (one["sex"], one["age"]) == (person["sex"], person["age"])
        ]
        if person["age"] < 30:
            away = np.abs(income - person["income"])
            same = np.flatnonzero(away == away.min()).tolist()
        hits += (about in same) / len(same)
    assert row["rate"] == pytest.approx(hits / len(shown), abs=1e-12)
    assert row["gave_up"] == 0


@pytest.mark.usefixtures("registered")
def test_a_new_metric_that_is_a_matter_of_sums_runs_everywhere_without_fetching(released, monkeypatch):
    @registry.metric
    @dataclass(frozen=True, kw_only=True)
    class MeanRatio(Metric):
        """The ratio of mean incomes."""

        scope: ClassVar[str] = "sums"
        meaning: ClassVar[str] = "ratio of mean incomes"

        def measure(self, pair):
            first, second = pair.means(["income"])
            return Measured(float(second[0] / first[0]), f"{len(pair.sizes(['sex']))} sexes")

        @classmethod
        def suited(cls, pair):
            return [cls()]

    ds, release = released
    tables = [one.to_pyarrow(["income"])["income"].to_numpy() for one in (ds, release.data)]
    if ds.master is not None:
        monkeypatch.setenv("SUDARE_FETCH_ROWS", "0")
    rows = {row["metric"]: row for row in sudare.utility(ds, release).rows}
    assert rows["mean-ratio"]["value"] == pytest.approx(tables[1].mean() / tables[0].mean(), rel=1e-12)
    assert rows["mean-ratio"]["detail"] == "2 sexes"


@pytest.mark.usefixtures("registered")
def test_a_new_metric_that_needs_rows_is_named_where_it_was_left_out_and_runs_by_name(released):
    @registry.metric
    @dataclass(frozen=True, kw_only=True)
    class FirstIncome(Metric):
        """The first income published."""

        meaning: ClassVar[str] = "first income"

        def measure(self, pair):
            return Measured(float(pair.release.numbers(["income"])[0, 0]))

        @classmethod
        def suited(cls, pair):
            return [cls()]

    ds, release = released
    first = release.data.to_pyarrow(["income"])["income"][0].as_py()
    result = sudare.utility(ds, release)
    found = {row["metric"]: row["value"] for row in result.rows}
    assert found.get("first-income", first) == first
    assert ("first-income" in found) != ("first-income" in dict(result.skipped))
    assert ("first-income" in found) == (ds.master is None)
    assert sudare.utility(ds, release, "first-income").rows[0]["value"] == first


def expected_rate(ds, release):
    """Straight from the definition."""
    income = ds.to_pyarrow(["income"])["income"].to_numpy()
    shown = release.data.to_pyarrow(["income"])["income"].to_numpy()
    guesses = np.abs(shown[:, None] - income[None, :]).argmin(axis=1)
    return float((guesses == release.rows).mean())
