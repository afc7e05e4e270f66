"""The studio as a person uses it: the whole loop with clicks, on a desk and on a phone."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.browser import axe
from tests.browser.conftest import fits, watched

pytestmark = pytest.mark.browser
MINUTES = 240_000


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> str | None:
    return axe.fetch(tmp_path_factory.mktemp("axe"))


class Walk:
    """One page after another; each is looked at, photographed and checked."""

    def __init__(self, page: Any, name: str, seen: Callable[..., None], script: str | None) -> None:
        self.page, self.name, self.seen, self.script = page, name, seen, script
        self.faults: list[str] = []

    def at(self, heading: str, step: str) -> None:
        self.page.locator(f"h1:text-is('{heading}')").wait_for(timeout=MINUTES)
        self.seen(self.page, f"studio-{self.name}-{step}")
        assert fits(self.page)
        self.faults += [f"{step}: {fault}" for fault in axe.violations(self.page, self.script)]


def to_the_recipe(walk: Walk, table: str) -> None:
    page = walk.page
    walk.at("Choose a table", "1-table")
    page.get_by_role("button", name=table).first.click()
    walk.at("What is each column about?", "2-roles")
    page.get_by_role("button", name="Measure the risk").click()
    walk.at("What the table gives away", "3-risk")
    page.locator("a.chip").first.click()
    page.get_by_role("heading", name="Values of").first.wait_for(timeout=MINUTES)
    page.get_by_role("link", name="Back to the risk").click()
    page.get_by_role("link", name="What would it cost?").click()
    walk.at("What hiding in a crowd would cost", "4-cost")
    page.locator("#k").focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator("#k-told").inner_text().startswith("k = 3: about")
    page.get_by_role("button", name="Use this k in a recipe").click()
    walk.at("Build a recipe", "5-recipe")


def finish(walk: Walk) -> None:
    page = walk.page
    page.locator("details.method summary:has(strong:text-is('suppress'))").click()
    page.locator("details[open].method input[name=p-columns]").fill("time")
    page.get_by_role("button", name="Add suppress", exact=True).click()
    page.get_by_text("The recipe as text").click()
    text = page.locator("#toml").input_value()
    assert 'method = "dummy-records"' in text
    page.locator("#toml").fill(text.replace("k = 3", 'k = 3\neffort = "low"'))
    page.get_by_role("button", name="Use this text").click()
    page.get_by_text("effort = low").wait_for()
    page.get_by_role("link", name="Go to the run").click()
    walk.at("Make the release and attack it", "6-run")
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator("#working progress").wait_for()
    walk.seen(page, f"studio-{walk.name}-6-working")
    walk.at("Before and after", "7-result")
    page.get_by_role("tab", name="Utility").click()
    assert page.get_by_role("tabpanel").locator("visible=true").count() == 1
    page.get_by_role("link", name="Download", exact=True).last.click()
    walk.at("Download", "8-download")


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark")])
def test_the_loop_on_example_data(
    chromium: Any,
    studio: Callable[..., str],
    seen: Callable[..., None],
    script: str | None,
    tmp_path: Path,
    size: str,
    scheme: str,
) -> None:
    page, faults = watched(chromium, size, color_scheme=scheme, bypass_csp=script is not None)
    page.goto(studio(tmp_path))
    walk = Walk(page, size, seen, script)
    to_the_recipe(walk, "example:histories")
    finish(walk)
    with page.expect_download() as download:
        page.get_by_role("link", name="The release (Parquet)").click()
    download.value.save_as(tmp_path / "got.parquet")
    assert pq.read_table(tmp_path / "got.parquet").num_rows > 14_000
    assert walk.faults == []
    assert faults == []
    page.context.close()


def test_the_loop_on_retail400_with_a_cancelled_run(
    data_dir: Path, chromium: Any, studio: Callable[..., str], seen: Callable[..., None], tmp_path: Path
) -> None:
    shutil.copy(data_dir / "retail400.parquet", tmp_path)
    page, faults = watched(chromium)
    page.goto(studio(tmp_path))
    walk = Walk(page, "retail400", seen, None)
    to_the_recipe(walk, "retail400.parquet")
    page.get_by_role("link", name="Go to the run").click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Cancelled. Nothing was written.").wait_for(timeout=MINUTES)
    page.get_by_role("link", name="Change the recipe").click()
    finish(walk)
    assert walk.faults == []
    assert faults == []
    page.context.close()
