"""A method is one class: registered, it runs larger than memory and on Spark, and every face knows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

import sudare
from sudare import registry
from sudare.cli.main import run
from sudare.engine.rows import Together
from sudare.report.build import report
from sudare.studio.method_forms import families

ROLES = {"user": "who", "quasi": ["town", "age"], "sensitive": ["pay"]}
STEPS = [
    {"method": "initials", "column": "town"},
    {"method": "lowest", "column": "pay"},
]


@pytest.fixture(scope="module")
def people() -> pa.Table:
    draw, rows = np.random.default_rng(5), 3000
    return pa.table(
        {
            "who": draw.integers(0, 900, rows),
            "town": draw.choice(["Aachen", "Bonn", "Berlin", "Celle"], rows),
            "age": draw.integers(20, 60, rows),
            "pay": draw.integers(0, 10_000, rows),
        }
    )


@pytest.fixture
def new_methods():
    """Two methods nobody has heard of; they go with the test."""
    before = dict(registry.all_of("method"))

    @registry.method
    @dataclass(frozen=True, kw_only=True)
    class Initials:
        """Publish the first letter of a text."""

        column: str

        scope: ClassVar[str] = "row"
        technique: ClassVar[str] = "generalization"
        family: ClassVar[str] = "House methods"
        details: ClassVar[Mapping[str, str]] = {"shortened": "total", "mean_letters": "mean"}

        def apply(self, draft, key):
            import pyarrow.compute as pc

            (name,) = draft.require(self.column)
            lengths = pc.utf8_length(draft.table[name])
            found = {"shortened": draft.rows, "mean_letters": pc.mean(lengths).as_py() or 0.0}
            return draft.with_column(name, pc.utf8_slice_codeunits(draft.table[name], 0, 1)).replace(
                details=found
            )

    @registry.method
    @dataclass(frozen=True, kw_only=True)
    class Lowest:
        """Publish the lowest number among records with equal quasi-identifiers."""

        column: str

        scope: ClassVar[str] = "group"
        technique: ClassVar[str] = "microaggregation"
        family: ClassVar[str] = "House methods"
        details: ClassVar[Mapping[str, str]] = {"groups": "total"}

        def together(self, shape):
            return Together(shape.roles.quasi)

        def apply(self, draft, key):
            import numpy as np
            import pyarrow as pa

            from sudare.engine.codes import classes, codes

            group_of, sizes = classes(codes(draft.table, draft.roles.quasi)[0])
            lowest = np.full(len(sizes), np.iinfo(np.int64).max)
            np.minimum.at(lowest, group_of, np.asarray(draft.table[self.column]))
            return draft.with_column(self.column, pa.array(lowest[group_of])).replace(
                details={"groups": len(sizes)}
            )

    yield STEPS
    registry._found["method"].clear()
    registry._found["method"].update(before)


def everything(release):
    table = release.data.to_pyarrow()
    return table.to_pydict(), release.truth, [step["details"] for step in release.steps]


def expected(people, release):
    """The release by its truth: initials, and the lowest pay of everybody with the same initial and age."""
    rows = people.to_pylist()
    lowest = {}
    for row in rows:
        group = row["town"][0], row["age"]
        lowest[group] = min(lowest.get(group, row["pay"]), row["pay"])
    found = [(rows[about]["town"][0], rows[about]["age"]) for about in release.truth]
    return [(*group, lowest[group]) for group in found]


def test_new_methods_run_in_memory_larger_than_memory_and_say_the_same(
    new_methods, on_duckdb, people, key, monkeypatch
):
    ds = on_duckdb(people, **ROLES)
    recipe = sudare.Recipe.from_steps(new_methods)
    whole = sudare.anonymize(ds, recipe, key=key)
    published = whole.data.to_pyarrow()
    assert list(zip(*(published[name].to_pylist() for name in ("town", "age", "pay")))) == expected(
        people, whole
    )
    assert whole.steps[0]["details"]["shortened"] == 3000
    monkeypatch.setattr("sudare.engine.duckdb.rows.fits", lambda ds: False)
    for module in ("store", "ids"):
        monkeypatch.setattr(f"sudare.engine.duckdb.{module}.BATCH_ROWS", 2048)
    cells, truth, details = everything(sudare.anonymize(ds, recipe, key=key))
    assert (cells, truth) == everything(whole)[:2]
    assert details[0] == pytest.approx(whole.steps[0]["details"])
    assert details[1] == whole.steps[1]["details"]


@pytest.mark.spark
def test_new_methods_run_on_spark(new_methods, on_duckdb, on_spark, people, key):
    recipe = sudare.Recipe.from_steps(new_methods)
    here, there = (
        sudare.anonymize(where(people, **ROLES), recipe, key=key) for where in (on_duckdb, on_spark)
    )
    assert everything(there)[:2] == everything(here)[:2]
    assert there.steps[0]["details"] == pytest.approx(here.steps[0]["details"])
    assert there.steps[1]["details"] == here.steps[1]["details"]


def test_new_methods_are_in_the_recipe_the_command_line_the_report_and_the_studio(
    new_methods, on_duckdb, people, key, tmp_path, capsys
):
    (tmp_path / "recipe.toml").write_text(sudare.Recipe.from_steps(new_methods).to_toml())
    assert sudare.Recipe.from_toml(tmp_path / "recipe.toml").to_steps() == new_methods
    assert run(["methods"]) == 0
    assert "initials" in capsys.readouterr().out
    headings = dict(families())
    assert [card.name for card in headings["House methods"]] == ["initials", "lowest"]
    ds = on_duckdb(people, **ROLES)
    release = sudare.anonymize(ds, tmp_path / "recipe.toml", key=key)
    text = report(ds, release, path=None, format="md").text
    assert "initials" in text
    assert "shortened" in text


def test_a_method_that_declares_too_little_is_refused_on_one_machine_already(
    new_methods, on_duckdb, people, key
):
    silent = registry.find("method", "initials")
    silent.details = {"shortened": "total"}
    with pytest.raises(sudare.UsageError, match="details mean_letters: declare each as total, mean or fact"):
        sudare.anonymize(on_duckdb(people, **ROLES), silent(column="town"), key=key)


@pytest.mark.parametrize("name", registry.all_of("method"))
def test_every_method_declares_what_a_run_needs_to_know(name):
    cls = registry.find("method", name)
    assert isinstance(cls.scope, property) or cls.scope in ("row", "group", "table")
    assert set(cls.details.values()) <= {"total", "mean", "fact"}
    assert cls.family
    assert cls.technique
    if cls.scope == "group":
        assert hasattr(cls, "together")
    if cls.scope == "table":
        assert cls.instead
