"""The frame of the command line: help, wrong calls, unexpected failures."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sudare import registry
from sudare.cli import main
from sudare.keys import Key


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(["risk"], "FILE"), (["risk", "x.csv", "--nope"], "--nope"), (["nope"], "nope"), (["key"], "Usage")],
)
def test_a_wrong_call_is_one_line_and_exit_2(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(arguments) == 2
    assert told in capsys.readouterr().err


def test_without_arguments_the_help_lists_the_loop_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run([]) == 0
    shown = capsys.readouterr().out
    places = [
        shown.index(f"\n  {name} ")
        for name in ("demo", "risk", "plan", "anonymize", "attack", "report", "key")
    ]
    assert places == sorted(places)
    assert "..." not in shown.replace("[ARGS]...", ""), "every line is whole"


def test_an_unexpected_failure_names_the_place_and_not_the_message(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(command: str) -> None:
        raise RuntimeError("Canary")

    monkeypatch.setattr(main, "build", broken)
    assert main.run(["risk"]) == 3
    shown = capsys.readouterr().err
    assert "RuntimeError" in shown
    assert "Canary" not in shown
    with pytest.raises(RuntimeError):
        main.run(["risk"], debug=True)


@pytest.mark.parametrize("format", ["table", "json", "csv", "md"])
def test_key_and_demo_speak_every_format(
    format: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main.run(["key", "new", "a.key", "--format", format]) == 0
    shown = capsys.readouterr().out
    assert main.run(["key", "show", "a.key", "-f", format]) == 0
    fingerprint = Key.load("a.key").fingerprint
    assert fingerprint in shown
    assert fingerprint in capsys.readouterr().out
    assert Key.load("a.key").secret.hex() not in shown
    if format == "json":
        assert json.loads(shown)["rows"] == [{"fingerprint": fingerprint, "file": "a.key"}]
        assert main.run(["demo", "--users", "20", "-f", "json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert [row["command"].split()[1] for row in told["rows"]] == [
            *("init", "risk", "plan", "anonymize", "attack", "utility", "report")
        ]
        assert told["results"][1]["command"] == "risk"


def test_names_do_not_steer_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    nasty = "a\x1b[2J\u202e\rb"
    pq.write_table(pa.table({nasty: ["x", "y"], "家族👨‍👩‍👧": [1, 2]}), "t.parquet")
    for format in ("table", "md"):
        assert main.run(["risk", "t.parquet", "-f", format]) == 0
        shown = capsys.readouterr().out
        assert not {"\x1b", "\u202e", "\r"} & set(shown)
        assert r"a\x1b[2J\u202e\rb" in shown
        assert "家族👨‍👩‍👧" in shown
    assert main.run(["risk", "t.parquet", "-a", "z"]) == 2
    assert not {"\x1b", "\u202e", "\r"} & set(capsys.readouterr().err)


@pytest.mark.parametrize("content", ["data = 3", "[data]\nfile = 3", '[data]\nfile = "example:purchases"'])
def test_a_configuration_of_this_folder_never_breaks_a_command(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sudare.toml").write_text(content)
    assert main.run(["risk", "example:purchases", "--user", "user"]) == 0


def test_every_method_attack_and_metric_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["methods", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    kinds: tuple[registry.Kind, ...] = ("method", "attack", "metric")
    assert [(row["kind"], row["name"]) for row in rows] == [
        (kind, name) for kind in kinds for name in registry.all_of(kind)
    ]
    assert all(len(row["what"]) > 10 for row in rows)
