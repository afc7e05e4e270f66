"""The report as people open it: offline, without scripts, on a phone, in the dark, on paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.browser import axe
from tests.browser.conftest import fits, watched

import sudare
from sudare.keys import Key

pytestmark = pytest.mark.browser
ROLES: dict[str, Any] = {"quasi": ["date", "time", "goods"], "sensitive": ["price", "number"]}


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a small release."""
    ds = sudare.open("example:histories:60", user="user", identifier="invoice", **ROLES)
    steps = [
        {"method": "suppress", "columns": ["time"]},
        {"method": "noise", "columns": ["price"], "sd": 0.1},
    ]
    release = sudare.anonymize(ds, sudare.Recipe.from_steps(steps), key=Key.demo(1))
    path = tmp_path_factory.mktemp("report") / "report.html"
    sudare.report(ds, release, path=path, policy={"attack_success": 0.2})
    return path


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> str | None:
    return axe.fetch(tmp_path_factory.mktemp("axe"))


@pytest.mark.parametrize("size", ["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_reads_well(
    chromium: Any, page_file: Path, script: str | None, seen: Callable[..., None], size: str, scheme: str
) -> None:
    page, faults = watched(chromium, size, color_scheme=scheme, offline=True)
    page.goto(page_file.as_uri())
    seen(page, f"report-{size}-{scheme}")
    assert fits(page)
    assert page.locator("h2").first.inner_text().startswith("The release")
    assert faults == []
    page.context.close()
    checked, _ = watched(chromium, size, color_scheme=scheme, bypass_csp=True)
    checked.goto(page_file.as_uri())
    assert axe.violations(checked, script) == []
    checked.context.close()


def test_it_needs_no_script(chromium: Any, page_file: Path, seen: Callable[..., None]) -> None:
    page, _ = watched(chromium, java_script_enabled=False, offline=True)
    page.goto(page_file.as_uri())
    seen(page, "report-no-script")
    for words in (
        "Background knowledge",
        "Hiding in the crowd",
        "Treatment of every column",
        "Next review on",
    ):
        assert page.get_by_text(words, exact=True).first.is_visible()
    assert page.locator("table th button").count() == 0
    page.context.close()


def test_tables_sort_and_tabs_turn_by_keyboard(chromium: Any, page_file: Path) -> None:
    page, faults = watched(chromium)
    page.goto(page_file.as_uri())
    table = page.locator("#attacks table")
    button = table.get_by_role("button", name="re-identified")
    button.focus()
    page.keyboard.press("Enter")
    assert rates(table) == sorted(rates(table))
    page.keyboard.press("Enter")
    assert rates(table) == sorted(rates(table), reverse=True)
    tabs = page.locator("#risk-before [role=tab]")
    assert page.locator("#risk-before [role=tabpanel]:visible").count() == 1
    tabs.first.focus()
    page.keyboard.press("ArrowRight")
    assert tabs.nth(1).get_attribute("aria-selected") == "true"
    assert page.locator("#risk-before [role=tabpanel]:visible").count() == 1
    assert faults == []
    page.context.close()


def rates(table: Any) -> list[float]:
    return [
        float(cell.get_attribute("data-value")) for cell in table.locator("tbody tr td:nth-child(2)").all()
    ]


def test_it_prints_on_a4(chromium: Any, page_file: Path, tmp_path: Path) -> None:
    page, _ = watched(chromium)
    page.goto(page_file.as_uri())
    page.emulate_media(media="print")
    assert page.locator("#risk-before [role=tabpanel]").nth(1).is_visible()
    assert not page.locator(".toc").is_visible()
    page.pdf(path=tmp_path / "report.pdf", prefer_css_page_size=True)
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    page.context.close()


def test_the_report_of_retail400_is_small(
    data_dir: Path, chromium: Any, seen: Callable[..., None], tmp_path: Path
) -> None:
    ds = sudare.open(data_dir / "retail400.parquet", user="user_id", identifier="invoice", **ROLES)
    recipe = [
        sudare.methods.Suppress(columns=["time"]),
        sudare.methods.DummyRecords(value="goods", k=2, effort="low"),
    ]
    release = sudare.anonymize(ds, sudare.Recipe(recipe), key=Key.demo(1))
    report = sudare.report(ds, release, path=tmp_path / "report.html", value="goods")
    assert (tmp_path / "report.html").stat().st_size < 2_000_000
    page, faults = watched(chromium, offline=True)
    page.goto((tmp_path / "report.html").as_uri())
    seen(page, "report-retail400")
    assert report.document.verdict.headline in page.locator("h2").first.inner_text()
    assert faults == []
    page.context.close()
