"""Rows are kept once, and the pages say what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import benchmarks.__main__
import pytest
from benchmarks.timing import growth
from benchmarks.work import at_most, close, figure, more_than_peer, within

from benchmarks import page, results


def row(**given: Any) -> dict[str, Any]:
    plain = {
        "module": "risk",
        "work": "risk",
        "size": 10,
        "unit": "rows",
        "clock": "CPU",
        "seconds": 1.0,
        "peak_mb": 2048,
        "runs": 3,
        "figures": {"NCP": 0.25},
        "peer": "a peer",
        "peer_seconds": 4.0,
        "peer_kind": "measured",
        "ratio": 0.25,
        "load": 0.5,
        "growth": 1.0,
        "goal": "<= 0.5x",
        "met": True,
        "remains": "",
    }
    return plain | given


def test_a_new_measurement_replaces_the_old_one(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    for seconds in (1.0, 2.0):
        results.keep(row(seconds=seconds), file)
    results.keep(row(size=20), file)
    assert [(one["size"], one["seconds"]) for one in results.load(file)["rows"]] == [(10, 2.0), (20, 1.0)]


def test_the_pages_show_goals_and_explain_what_is_missed(tmp_path: Path) -> None:
    (tmp_path / "reference").mkdir()
    for name in ("benchmarks.md", "reference/sizing.md"):
        (tmp_path / name).write_text(f"# A page\n\n{page.BEGIN}\nold\n{page.END}\n\nthe end\n")
    missed = row(work="slow", ratio=3.0, met=False, remains="Half of it is reading.")
    command = row(module="commands", work="report", size=1_000_000, goal=None)
    for _ in range(2):
        page.write({"rows": [row(), missed, command]}, tmp_path)
    text = (tmp_path / "benchmarks.md").read_text()
    assert "| risk | 10 rows | 1 | 4: a peer | 0.25x | <= 0.5x | yes | 2.0 GB | 1.0 | NCP 0.25 |" in text
    assert "- slow: Half of it is reading." in text
    assert "old" not in text
    assert text.endswith("the end\n")
    assert "| report | 1,000,000 | 1 | 2.0 GB | 1.0 |" in (tmp_path / "reference" / "sizing.md").read_text()
    assert (tmp_path / "benchmarks.svg").read_text().startswith("<svg")


def test_a_line_for_the_terminal_says_when_answers_differ() -> None:
    assert page.line(row()) == "risk, 10 rows: 1 s, a peer 4 s, 0.25x; goal <= 0.5x: yes"
    assert "THE ANSWERS DIFFER" in page.line(row(same=False))
    assert "not installed" in page.line(row(peer_seconds=None, ratio=None, peer_kind="absent"))


@pytest.mark.parametrize(("same", "code"), [(True, 0), (False, 1)])
def test_different_answers_fail_the_run(same: bool, code: int, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr("sys.argv", ["benchmarks", "--only", "risk", "--size", "small"])
    monkeypatch.setattr(benchmarks.__main__, "run", lambda *_: iter([row(same=same)]))
    assert benchmarks.__main__.main() == code
    assert ("different answers" in capsys.readouterr().err) is (not same)


def test_goals_judge_rows() -> None:
    assert at_most(0.3).met(row())
    assert not at_most(0.2).met(row())
    assert at_most(0.01).text == ">= 100x faster"
    assert within(1.0).met(row())
    assert more_than_peer(0.3).met(row())
    assert figure("NCP", 0.3, text="low", seconds=2).met(row())
    assert not figure("NCP", 0.3, text="low", seconds=0.5).met(row())


def test_growth_is_the_exponent_and_closeness_ignores_the_last_digits() -> None:
    assert growth([(10, 1.0), (100, 100.0)]) == 2.0
    assert growth([(10, 1.0)]) is None
    assert close([1.0, 2.0], [1.0 + 1e-12, 2.0])
