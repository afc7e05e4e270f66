"""The frame of the command line: help, wrong calls, unexpected failures."""

from __future__ import annotations

import pytest

from sudare.cli import main


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
