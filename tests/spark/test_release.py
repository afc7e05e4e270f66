"""A release made on Spark: written by the workers, the truth apart, the key nowhere."""

from __future__ import annotations

import json
import stat

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare
from sudare import methods
from sudare.cli.main import run
from sudare.errors import DataError, UsageError
from sudare.keys import Key

pytestmark = pytest.mark.spark
ROLES = {"identifier": ["name"], "quasi": ["age"], "sensitive": ["ill"]}


@pytest.fixture(scope="module")
def patients() -> pa.Table:
    draw, rows = np.random.default_rng(7), 600
    names = [f"canary-{n}" for n in range(rows)]
    return pa.table(
        {
            "name": names,
            "age": draw.integers(20, 80, rows),
            "ill": draw.choice(["flu", "cold", "gout", "ache"], rows),
        }
    )


@pytest.fixture(scope="module")
def secret() -> Key:
    return Key(bytes(range(7, 39)))


@pytest.fixture(scope="module")
def release(spark, patients, secret):
    ds = sudare.open(spark.createDataFrame(patients), **ROLES)
    return sudare.anonymize(ds, methods.RandomizedAddition(l=2), key=secret)


def test_the_workers_write_parquet_and_the_truth_apart(release, patients, tmp_path):
    release.save(tmp_path / "out.parquet", truth=tmp_path / "truth.parquet")
    written = pq.read_table(tmp_path / "out.parquet")
    truth = pq.read_table(tmp_path / "truth.parquet")["original_row"].to_pylist()
    assert written.column_names == ["age", "ill"]
    assert truth == release.truth
    ages, ills = patients["age"].to_pylist(), patients["ill"].to_pylist()
    assert written["age"].to_pylist() == [ages[row] for row in truth]
    assert all(ills[row] in found for row, found in zip(truth, written["ill"].to_pylist()))
    assert stat.S_IMODE((tmp_path / "truth.parquet").stat().st_mode) == 0o700
    card = json.loads((tmp_path / "out.parquet.sudare.json").read_text())
    assert card["schema"]["randomized"]["ill"]["l"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "out.parquet",
        "out.parquet.sudare.json",
        "truth.parquet",
    ]


def test_an_existing_output_and_a_wrong_format_are_refused(release, tmp_path):
    (tmp_path / "out.parquet").mkdir()
    with pytest.raises(UsageError, match="exists already"):
        release.save(tmp_path / "out.parquet")
    with pytest.raises(UsageError, match="a folder of Parquet files"):
        release.save(tmp_path / "out.csv")


def test_the_key_and_the_people_are_in_no_plan_no_repr_and_no_log(release, secret, spark_cluster):
    plan = release.linked.keep_alive._jdf.queryExecution().toString() + repr(release) + repr(release.data)
    folder = getattr(spark_cluster, "folder", None)
    logs = [
        path
        for path in (folder.rglob("*") if folder else ())
        if path.suffix in (".log", "") and path.is_file()
    ]
    logs = [path for path in logs if path.suffix == ".log" or path.name in ("stderr", "stdout")]
    said = plan.encode() + b"".join(path.read_bytes() for path in logs)
    for form in (secret.secret, secret.secret.hex().encode(), repr(secret.secret)[2:-1].encode()):
        assert form not in said
    assert b"canary-" not in said


def test_bad_cells_are_found_by_the_workers_and_said_without_a_traceback(spark, key):
    frame = spark.createDataFrame(pa.table({"id": [1, 2, 3], "x": [1.0, float("inf"), 2.0]}))
    ds = sudare.open(frame, identifier="id", sensitive="x")
    with pytest.raises(DataError, match="column 'x' holds NaN or infinite values") as wrong:
        sudare.anonymize(ds, methods.Round(column="x", to=0.5), key=key)
    assert len(str(wrong.value).splitlines()) == 1


def test_a_second_draw_under_another_key_is_refused(spark, patients, tmp_path):
    ds = sudare.open(spark.createDataFrame(patients), **ROLES)
    first, second = Key.new().save(tmp_path / "a.key"), Key.new().save(tmp_path / "b.key")
    sudare.anonymize(ds, methods.RandomizedAddition(l=2), key=first)
    with pytest.raises(UsageError, match="already randomised with the key"):
        sudare.anonymize(ds, methods.RandomizedAddition(l=2), key=second)
    here = sudare.open(patients, **ROLES)
    with pytest.raises(UsageError, match="already randomised with the key"):
        sudare.anonymize(here, methods.RandomizedAddition(l=2), key=second)


def test_the_command_line_runs_on_a_cluster(spark, spark_cluster, patients, tmp_path, capsys):
    """Every command reads what the one before it wrote, and says what it says on one machine."""
    path, recipe = tmp_path / "patients.csv", tmp_path / "recipe.toml"
    cells = zip(*(column.to_pylist() for column in patients.columns))
    lines = [f'"{name}\n";{age};{ill}' for name, age, ill in cells]
    path.write_text("\n".join(["name;age;ill", *lines, '"";50;""', "nobody;50;", ""]))
    recipe.write_text('[[step]]\nmethod = "round"\ncolumn = "age"\nto = 10\n')
    out, truth = tmp_path / "out.parquet", tmp_path / "truth.parquet"
    source = [str(path), "--identifier", "name", "--quasi", "age", "--sensitive", "ill"]
    there = ["--engine", spark_cluster.url]
    made = ["--recipe", str(recipe), "--out", str(out), "--truth", str(truth), "--demo", "--seed", "1"]
    assert run(["anonymize", *source, *there, *made]) == 0, capsys.readouterr().err
    capsys.readouterr()
    assert set(pq.read_table(out)["age"].to_pylist()) <= set(range(20, 90, 10))

    def rows(*command):
        assert run([*command, "--format", "json"]) == 0, capsys.readouterr().err
        found = json.loads(capsys.readouterr().out)["rows"]
        return [{name: value for name, value in row.items() if name != "seconds"} for row in found]

    known = [str(out), "--truth", str(truth)]
    for command in (
        ["risk", *source],
        ["attack", *source[:1], *known, *source[1:], "--attack", "identify-rand"],
        ["utility", *source[:1], *known, *source[1:], "--metric", "S1,S2,U6"],
        ["risk", *source, "--attributes", "age", "--release", *known],
    ):
        for found, expected in zip(rows(*command, *there), rows(*command), strict=True):
            assert found.keys() == expected.keys()
            for name, value in expected.items():
                assert found[name] == (pytest.approx(value) if isinstance(value, float) else value), name
    written = tmp_path / "report.json"
    assert run(["report", *source[:1], *known, *source[1:], *there, "--out", str(written)]) == 0
    assert "written to" in capsys.readouterr().out
    titles = {section["id"] for section in json.loads(written.read_text())["sections"]}
    assert {"attacks", "utility"} <= titles


def test_rows_of_several_files_are_numbered_by_name_and_not_by_size(spark, patients, tmp_path, key):
    for place, (start, end) in enumerate([(0, 20), (20, 580), (580, 600)]):
        pq.write_table(patients.slice(start, end - start), tmp_path / f"part{place}.parquet")
    there = sudare.open(spark.read.parquet(str(tmp_path)), **ROLES)
    here = sudare.open(tmp_path / "*.parquet", **ROLES)
    assert there.to_pyarrow().equals(patients)
    found, expected = (
        sudare.anonymize(ds, methods.Round(column="age", to=5), key=key) for ds in (there, here)
    )
    assert found.truth == expected.truth
    assert found.data.to_pyarrow()["age"].to_pylist() == expected.data.to_pyarrow()["age"].to_pylist()
    fewer = sudare.open(spark.read.parquet(str(tmp_path)).where("age >= 50"), **ROLES)
    kept = sudare.anonymize(fewer, methods.Pseudonymize(), key=key)
    assert sorted(kept.truth) == list(range(fewer.rows))


def test_columns_may_have_dots_and_backticks_in_their_names(spark, patients, tmp_path, key):
    odd = patients.rename_columns(["the.name", "a`ge", "ill, or 'not'"])
    roles = {"identifier": ["the.name"], "quasi": ["a`ge"], "sensitive": ["ill, or 'not'"]}
    recipe = [methods.Round(column="a`ge", to=5), methods.RandomizedAddition(l=2)]
    there, here = (sudare.open(table, **roles) for table in (spark.createDataFrame(odd), odd))
    assert sudare.risk(there).rows == sudare.risk(here).rows
    found, expected = (sudare.anonymize(ds, recipe, key=key) for ds in (there, here))
    assert found.data.to_pyarrow().to_pylist() == expected.data.to_pyarrow().to_pylist()
    rates = [
        sudare.attack(ds, release, "identify-rand").worst
        for ds, release in ((there, found), (here, expected))
    ]
    assert rates[0] == pytest.approx(rates[1])
    found.save(tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").column_names == odd.column_names[1:]


def test_examples_and_wrong_engines(spark, spark_cluster, tmp_path):
    ds = sudare.open("example:purchases", user="user", engine=spark_cluster.url)
    assert (ds.engine, ds.rows, ds.users) == ("pyspark", 10, 3)
    with pytest.raises(UsageError, match="unknown engine 'sparkle'"):
        sudare.open("example:purchases", engine="sparkle")
    with pytest.raises(DataError, match="no such file"):
        sudare.open(tmp_path / "none.parquet", engine="local[*]")
    with pytest.raises(UsageError, match="--encoding and --sheet with --engine duckdb"):
        sudare.open("a.csv", engine="local[*]", encoding="cp932")
