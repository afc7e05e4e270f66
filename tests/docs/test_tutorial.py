"""The tutorial runs as it is printed."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

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
