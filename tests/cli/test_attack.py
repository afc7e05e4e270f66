"""`sudare attack`, `sudare utility`, `sudare compare` on files."""

from __future__ import annotations

import json

import pytest

from sudare.cli.main import run

ROLES = ["--quasi", "sex,age", "--sensitive", "income,rent"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attack")
    lines = ["sex,age,income,rent"] + [
        f"{'fm'[i % 2]},{20 + i % 7},{1000 + 37 * i},{300 + (i * 53) % 400}" for i in range(60)
    ]
    (folder / "people.csv").write_text("\n".join(lines))
    (folder / "noise.toml").write_text('[[step]]\nmethod = "noise"\nsd = 0.01\n')
    (folder / "cheat.toml").write_text('[[step]]\nmethod = "shuffle"\n')
    arguments = [
        "anonymize",
        str(folder / "people.csv"),
        *ROLES,
        "--recipe",
        str(folder / "noise.toml"),
        "--demo",
    ]
    assert run([*arguments, "-o", str(folder / "out.parquet"), "--truth", str(folder / "truth.parquet")]) == 0
    return folder


def call(capsys, *arguments):
    code = run([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_attack_prints_the_result_as_json(folder, capsys):
    files = folder / "people.csv", folder / "out.parquet", "--truth", folder / "truth.parquet"
    capsys.readouterr()
    code, out, _ = call(capsys, "attack", *files, *ROLES, "--format", "json")
    found = json.loads(out)
    assert (code, found["command"]) == (0, "attack")
    rates = {row["attack"]: row["rate"] for row in found["rows"]}
    assert rates["standardized-euclid(fallback)"] > 0.9
    code, out, _ = call(
        capsys, "attack", *files, *ROLES, "-a", "euclid,identify-rand", "--ties", "fail", "-f", "csv"
    )
    assert [line.split(",")[0] for line in out.splitlines()] == ["attack", "euclid", "identify-rand"]


def test_roles_may_come_from_the_release(folder, capsys):
    files = folder / "people.csv", folder / "out.parquet", "--truth", folder / "truth.parquet"
    code, out, _ = call(capsys, "attack", *files, "-a", "euclid", "--format", "json")
    assert code == 0
    assert json.loads(out)["rows"][0]["rate"] > 0.5


def test_the_method_can_be_guessed(folder, capsys):
    files = folder / "people.csv", folder / "out.parquet", "--truth", folder / "truth.parquet"
    code, out, _ = call(capsys, "attack", *files, *ROLES, "--guess", "--format", "json")
    assert code == 0
    assert json.loads(out)["rows"][0]["methods"] == "noise"


def test_utility_with_and_without_the_truth(folder, capsys):
    files = folder / "people.csv", folder / "out.parquet"
    _, out, _ = call(capsys, "utility", *files, *ROLES, "--format", "json")
    assert "U5" not in [row["metric"] for row in json.loads(out)["rows"]]
    _, out, _ = call(
        capsys, "utility", *files, *ROLES, "--truth", folder / "truth.parquet", "-m", "U5,U6", "-f", "json"
    )
    assert [row["metric"] for row in json.loads(out)["rows"]] == ["U5", "U6"]


def test_compare_writes_the_frontier(folder, capsys, tmp_path):
    recipes = folder / "noise.toml", folder / "cheat.toml"
    code, out, _ = call(
        capsys,
        "compare",
        folder / "people.csv",
        *recipes,
        *ROLES,
        "--chart",
        tmp_path / "f.svg",
        "--format",
        "json",
    )
    assert code == 0
    assert [row["recipe"] for row in json.loads(out)["rows"]] == ["original", "noise", "cheat"]
    assert (tmp_path / "f.svg").read_text().startswith("<svg")


def test_the_frontier_does_not_replace_the_table(folder, capsys):
    table = folder / "people.csv"
    before = table.read_bytes()
    code, _, err = call(capsys, "compare", table, folder / "noise.toml", *ROLES, "--chart", table)
    assert (code, "is also the input" in err, table.read_bytes() == before) == (2, True, True)


def test_a_wrong_truth_file_is_one_line_and_no_traceback(folder, capsys):
    code, out, err = call(
        capsys, "attack", folder / "people.csv", folder / "out.parquet", "--truth", folder / "people.csv"
    )
    assert (code, out) == (3, "")
    assert err.count("\n") == 1
    assert "not a truth file" in err
