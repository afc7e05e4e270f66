"""The reproduction book: what must be equal is equal, and the committed pages are what the command writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from sudare.errors import UsageError
from sudare.report.reproduction import PAPERS, reproduce
from sudare.report.reproduction.item import Row, must_equal

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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning")
def test_the_committed_pages_are_what_the_command_writes(data_dir, tmp_path):
    found = reproduce(out=tmp_path)
    assert found.failed == ()
    assert not any(row["skipped"] for row in found.rows)
    for page in sorted(PAGES.glob("*.md")):
        assert page.read_text() == (tmp_path / page.name).read_text(), page.name
    assert {f.name for f in tmp_path.iterdir()} == {f.name for f in PAGES.iterdir()}
