"""`sudare init` guesses, explains, and writes a file that sudare reads."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest

import sudare
from sudare.cli.main import run
from sudare.data.guessing import guess_roles
from sudare.data.values.hierarchy_kinds import from_spec, read_specs

PEOPLE = "patient_id,name,zip,birth date,diagnosis,note\n" + "".join(
    f"p{i % 12},Person {i},1{i % 4}00{i % 10},19{50 + i % 40}-0{1 + i % 9}-11,D{i % 5},free text {i}\n"
    for i in range(60)
)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    return tmp_path / "people.csv"


def test_roles_follow_names_types_and_uniqueness(table: Path) -> None:
    assert {guess.column: guess.role for guess in guess_roles(sudare.open(table))} == {
        "patient_id": "user",
        "name": "identifier",
        "zip": "quasi",
        "birth date": "quasi",
        "diagnosis": "sensitive",
        "note": "identifier",
    }


def test_every_guess_says_why_and_quotes_no_cell(table: Path) -> None:
    for guess in guess_roles(sudare.open(table)):
        assert len(guess.why) > 10
        assert "Person" not in guess.why
        assert "free text 1" not in guess.why


def test_the_file_is_read_back(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "people.csv", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["column"]: row["role"] for row in rows}["diagnosis"] == "sensitive"
    config = tomllib.loads(Path("sudare.toml").read_text())
    assert config["data"]["file"] == "people.csv"
    assert "policy" not in config
    ds = sudare.open("people.csv", roles="sudare.toml")
    assert ds.roles.user == "patient_id"
    for column, spec in read_specs("sudare.toml").items():
        assert from_spec(spec, ds.to_pyarrow([column]).column(column)).levels >= 2


def test_the_commented_policy_is_valid_when_uncommented(table: Path) -> None:
    run(["init", "people.csv"])
    text = Path("sudare.toml").read_text()
    policy = "\n".join(line.removeprefix("# ") for line in text.splitlines() if line.startswith("# "))
    assert tomllib.loads(policy.partition("[policy]")[2])


def test_an_existing_file_is_kept(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("sudare.toml").write_text("# mine\n")
    assert run(["init", "people.csv"]) == 2
    assert "--force" in capsys.readouterr().err
    assert Path("sudare.toml").read_text() == "# mine\n"
    assert run(["init", "people.csv", "--force"]) == 0


def test_odd_names_are_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd.csv").write_text('"a ""b"" ]","=cmd()","<script>x</script>"\n' + "1,2,3\n2,2,4\n1,3,3\n")
    assert run(["init", "odd.csv"]) == 0
    roles = tomllib.loads((tmp_path / "sudare.toml").read_text())["roles"]
    assert sorted(roles["quasi"]) == sorted(['a "b" ]', "=cmd()", "<script>x</script>"])


def test_rare_values_are_not_written_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    towns = ["New York", "New Haven"] * 30 + ["New Canarytown"]
    (tmp_path / "towns.csv").write_text("town,sex\n" + "".join(f"{t},{i % 2}\n" for i, t in enumerate(towns)))
    assert run(["init", "towns.csv"]) == 0
    assert "Canarytown" not in (tmp_path / "sudare.toml").read_text()


def test_a_person_key_with_one_row_each_is_an_identifier() -> None:
    patients = sudare.open("example:patients")
    guesses = {g.column: g.role for g in guess_roles(patients)}
    assert guesses["name"] == "identifier"
    assert "user" not in guesses.values()


def test_in_a_terminal_it_asks_and_takes_the_answer(table: Path) -> None:
    import pty
    import subprocess
    import sys

    main, terminal = pty.openpty()
    command = [sys.executable, "-m", "sudare.cli.main", "init", "people.csv"]
    process = subprocess.Popen(command, stdin=terminal, stderr=terminal, stdout=subprocess.PIPE, text=True)
    os.close(terminal)
    os.write(main, b"\n\nsens\n\nx\nother\n\n")  # the third becomes sensitive, a wrong answer is asked again
    told, _ = process.communicate(timeout=120)
    os.close(main)
    assert process.returncode == 0
    roles = tomllib.loads(Path("sudare.toml").read_text())["roles"]
    assert roles["sensitive"] == ["zip"]
    assert roles["other"] == ["diagnosis"]
    assert roles["user"] == "patient_id"
    assert "decided by hand" in told
