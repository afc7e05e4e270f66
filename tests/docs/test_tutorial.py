"""The tutorial and the README run as they are printed."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
PAGES = sorted((Path(__file__).parents[2] / "docs" / "tutorial").glob("*.md"))


@pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_block_of(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.S)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
    outcome = doctest.DocTestRunner(optionflags=flags).run(test)
    assert outcome.attempted > 5
    assert outcome.failed == 0


def test_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("SUDARE_KEY", str(tmp_path / "key" / "sudare.key"))
    blocks = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    assert {path.name for path in Path().iterdir()} >= {"release.parquet", "truth.parquet"}
