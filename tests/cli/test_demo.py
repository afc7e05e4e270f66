"""`sudare demo` walks the whole loop; `sudare report` writes the same evidence from files."""

from __future__ import annotations

import html
import json
import re
import shlex
from pathlib import Path

import pytest

from sudare.cli.main import run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_demonstration_shows_every_step_and_writes_the_report(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["demo", "--users", "40"]) == 0
    told = capsys.readouterr().out
    for number, command in enumerate(["init", "risk", "plan", "anonymize", "attack", "utility", "report"], 1):
        assert f"{number}. sudare {command} example:histories:40" in told
    page = (here / "report.html").read_text()
    assert "demonstration key" in page
    assert "By declared use" in page
    assert [path.name for path in here.iterdir()] == ["report.html"]
    run_as_printed(here, told, page)


def run_as_printed(here: Path, told: str, page: str) -> None:
    """The commands that the demonstration shows, with the recipe that is in its report."""
    recipe = re.search(r"<code>(\[\[step\]\].*?)</code>", page, re.S)
    assert recipe is not None
    (here / "recipe.toml").write_text(html.unescape(recipe.group(1)))
    for command in re.findall(r"^\d\. sudare (.*)$", told, re.M):
        assert run(shlex.split(command)) == 0, command


def test_a_report_from_files(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    roles = ["--identifier", "name", "--quasi", "sex,age,job", "--sensitive", "disease"]
    (here / "recipe.toml").write_text('[[step]]\nmethod = "suppress"\ncolumns = ["address", "age"]\n')
    made = ["anonymize", "example:patients", *roles, "-r", "recipe.toml", "-o", "out.parquet"]
    assert run([*made, "--truth", "truth.parquet", "--demo"]) == 0
    (here / "policy.toml").write_text('[policy]\nattack_success = 0.9\n\n[release]\npurpose = "teaching"\n')
    ask = ["report", "example:patients", "out.parquet", *roles, "--truth", "truth.parquet"]
    assert run([*ask, "--config", "policy.toml", "-o", "r.json"]) == 0
    content = json.loads((here / "r.json").read_text())
    assert content["verdict"]["tone"] == "pass"
    assert "teaching" in json.dumps(content)
    assert "Hanna" not in json.dumps(content)
    assert "written to r.json" in capsys.readouterr().out


def test_a_wrong_context_is_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "sudare.toml").write_text('[release]\npurpse = "teaching"\n')
    assert run(["report", "example:patients", "--quasi", "sex"]) == 2
    assert "did you mean 'purpose'?" in capsys.readouterr().err
