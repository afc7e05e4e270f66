"""The reproduction book: what must be equal is equal, and the committed pages are what the command writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sudare.errors import UsageError
from sudare.reproduction import PAPERS, reproduce
from sudare.reproduction.item import Row, must_equal

PAGES = Path(__file__).parents[2] / "docs" / "reproduction"


@pytest.fixture
def without_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUDARE_DATA", raising=False)


def test_without_data_what_needs_none_is_done_and_the_rest_is_listed(without_data, tmp_path):
    found = reproduce(out=tmp_path)
    assert found.failed == ()
    assert [row["paper"] for row in found.rows] == list(PAPERS)
    assert all(row["skipped"] == 1 for row in found.rows)
    assert sum("SUDARE_DATA is not set" in note for note in found.notes) == len(PAPERS)
    for name in ("p1", "p2", "p3", "p4", "index"):
        assert (tmp_path / f"{name}.md").read_text().startswith("# ")
    assert "Skipped here: SUDARE_DATA is not set" in (tmp_path / "p3.md").read_text()


def test_one_paper_leaves_the_front_page_alone(without_data, tmp_path):
    reproduce(["P4"], out=tmp_path)
    assert (tmp_path / "p4.md").exists()
    assert not (tmp_path / "index.md").exists()


def test_an_unknown_paper_is_refused(tmp_path):
    with pytest.raises(UsageError, match="unknown paper"):
        reproduce(["P7"], out=tmp_path)


def test_a_number_that_had_to_come_out_and_did_not_fails():
    assert must_equal("alpha", "22.23", 22.2388).holds
    assert not must_equal("alpha", "22.23", 22.2488).holds
    assert Row("alpha", "22.23", "22.25", "paper errs").holds  # nobody asked for it


def test_every_picture_of_a_page_exists_and_is_small():
    for page in PAGES.glob("*.md"):
        for line in page.read_text().splitlines():
            if line.startswith("!["):
                assert (PAGES / line.partition("](")[2].rstrip(")")).exists(), line
    assert sum(file.stat().st_size for file in PAGES.iterdir()) < 2_000_000


FIGURES = {"p1": range(2, 13), "p2": range(1, 7), "p3": range(3, 14), "p4": range(1, 5)}
TABLES = {"p1": (3, 5, 6, 7, 8), "p2": (2, 3, 4, 6, 7), "p3": (2,), "p4": (12, 13, 14, 16)}


@pytest.mark.parametrize("paper", FIGURES)
def test_every_table_and_figure_is_there(paper):
    text = (PAGES / f"{paper}.md").read_text()
    shown = {int(n) for n in re.findall(r"!\[Figure (\d+)\w?: [^\]]{8,}\]", text)}
    assert shown == set(FIGURES[paper])
    headings = " ".join(line for line in text.splitlines() if line.startswith("## Table"))
    spans = [range(int(a), int(b or a) + 1) for a, b in re.findall(r"(\d+)(?:-(\d+))?", headings)]
    assert set(TABLES[paper]) <= {n for span in spans for n in span}


def test_differences_are_ours_less_the_printed():
    assert Row("a", "183,902", "19,564", "beyond the paper").difference == "-164,338"
    assert Row("a", ".3217", "0.3217345", "paper rounds").difference == "+3.45e-05"
    assert Row("a", "1.45e-4", "0.000145", "equal").difference == "0"
    assert Row("a", "all", "3 by mean", "simulated").difference == ""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning")
def test_the_committed_pages_are_what_the_command_writes(data_dir, tmp_path):
    found = reproduce(out=tmp_path)
    assert found.failed == ()
    assert not any(row["skipped"] for row in found.rows)
    for page in sorted(PAGES.glob("*.md")):
        assert page.read_text() == (tmp_path / page.name).read_text(), page.name
    assert {f.name for f in tmp_path.iterdir()} == {f.name for f in PAGES.iterdir()}
