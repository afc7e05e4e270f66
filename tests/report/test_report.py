"""The report: verdict first, complete, one file, nothing of the table's cells."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.report.conftest import CANARY, opened

import sudare
from sudare.cli.main import run
from sudare.data.digest import table_digest
from sudare.examples.builtin import histories
from sudare.keys import Key
from sudare.loop import measure as loop
from sudare.loop.evidence import Evidence
from sudare.methods.recipe import Recipe
from sudare.report.build import write
from sudare.report.settings import context_and_policy
from sudare.results import Result

IDS = [
    "verdict",
    "context",
    "data",
    "threats",
    "risk-before",
    "cost",
    "done",
    "risk-after",
    "attacks",
    "utility",
    "weakest",
    "crosswalk",
    "limits",
    "reproduce",
    "sign-off",
]
VOID = {"meta", "link", "br", "input", "img", "hr"}


class Strict(HTMLParser):
    """Finds what a validator would: open tags, double ids, double attributes, handlers, styles, links outward."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if len(set(names)) < len(names):
            self.faults.append(f"<{tag}> has an attribute twice")
        for name, value in attrs:
            if name.startswith("on") or name == "style":
                self.faults.append(f"<{tag} {name}>")
            if name in ("src", "href", "action") and not (value or "").startswith("#"):
                self.faults.append(f"<{tag} {name}={value}>")
            if name == "id":
                self.ids.append(value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")


def strict(page: str) -> Strict:
    parser = Strict()
    parser.feed(page)
    parser.close()
    return parser


@pytest.fixture(scope="module")
def page(evidence: Evidence) -> str:
    return write(evidence, path=None).text


def test_sections_stand_in_the_order_readers_need(page: str) -> None:
    assert [i for i in re.findall(r'<section class="card[^"]*" id="([^"]+)"', page) if i != "sets"] == IDS


def test_html_is_well_formed_and_reaches_nowhere(page: str) -> None:
    found = strict(page)
    assert found.faults == []
    assert found.open == []
    assert len(found.ids) == len(set(found.ids))
    assert "http://" not in page
    assert "https://" not in page


def test_only_this_style_and_this_script_may_act(page: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    for tag, rule in (("style", "style-src"), ("script", "script-src")):
        content = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.S)
        assert content is not None
        digest = base64.b64encode(hashlib.sha256(content.group(1).encode()).digest()).decode()
        assert f"{rule} &#39;sha256-{digest}&#39;" in policy.group(1)
    assert "default-src &#39;none&#39;" in policy.group(1)


def test_every_picture_has_words_and_no_script_is_needed(page: str) -> None:
    plots = re.findall(r'<div class="plot" role="img" tabindex="0" aria-label="([^"]{20,})">', page)
    assert len(plots) >= 5
    assert page.count("<svg") == len(plots)
    assert "hidden" not in re.findall(r"<section(?: [^>]*)?>", page)


def test_the_canary_is_in_no_format(evidence: Evidence) -> None:
    for audience in ("internal", "external"):
        for kind in ("html", "md", "json", "pdf-ready"):
            text = write(evidence, path=None, audience=audience, format=kind).text
            assert CANARY not in text
            assert "987654" not in text.replace(",", "")


def test_the_verdict_follows_the_policy(made: tuple[Any, Any, Evidence]) -> None:
    evidence = made[2]
    report = write(evidence, path=None)
    assert evidence.policy is not None
    kept = all(row["passed"] for row in evidence.policy.rows)
    assert report.passed is kept
    assert ("keeps to" in report.document.verdict.headline) is kept


@pytest.mark.parametrize(("measured", "passed"), [(0.0499999, True), (0.0500001, False), (0.05, True)])
def test_numbers_near_a_limit_show_their_side(evidence: Evidence, measured: float, passed: bool) -> None:
    row = {
        "limit": "attack_success",
        "column": None,
        "required": "<= 0.05",
        "measured": measured,
        "passed": passed,
        "meaning": "best rate",
    }
    text = write(replace(evidence, policy=Result((row,))), path=None, format="md").text
    assert f"(measured {measured})" in text
    assert ("breaks its policy" in text) is not passed


def test_weakest_people_are_row_numbers_and_internal(evidence: Evidence) -> None:
    assert evidence.weakest
    assert "Weakest people" in write(evidence, path=None).text
    assert "Weakest people" not in write(evidence, path=None, audience="external").text


def test_markdown_and_json_say_the_same(evidence: Evidence) -> None:
    report = write(evidence, path=None, format="json")
    content = json.loads(report.text)
    assert content["verdict"]["headline"] == report.document.verdict.headline
    assert [s["id"] for s in content["sections"] if s["id"] != "sets"] == IDS[1:]
    assert report.document.verdict.headline in write(evidence, path=None, format="md").text
    assert "<svg" not in report.text


def test_print_ready_pages_have_no_script(evidence: Evidence) -> None:
    text = write(evidence, path=None, format="pdf-ready").text
    assert "<script" not in text
    assert "script-src" not in text
    assert "size: A4" in text


def test_the_file_ending_decides_the_format(evidence: Evidence, tmp_path: Path) -> None:
    write(evidence, path=tmp_path / "r.md")
    assert (tmp_path / "r.md").read_text().startswith("# De-identification report")
    with pytest.raises(sudare.UsageError, match=r"\.html"):
        write(evidence, path=tmp_path / "r.docx")
    with pytest.raises(sudare.UsageError, match="did you mean 'external'"):
        write(evidence, path=tmp_path / "r.html", audience="externl")


def test_a_table_without_a_release_is_reported_too(tmp_path: Path) -> None:
    ds = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    report = sudare.report(ds, path=tmp_path / "report.html")
    assert "Nothing was released" in report.document.verdict.headline
    assert {"attacks", "done"}.isdisjoint({s.id for s in report.document.sections})
    assert strict(report.text).faults == []


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    import pyarrow as pa

    bad = '"><script>alert(1)</script>'
    table = pa.table({bad: ["a", "b"] * 30, "=cmd()": list(range(60)), "<b>": ["x", "y", "z"] * 20})
    report = sudare.report(
        sudare.open(table, quasi=[bad, "<b>"], sensitive="=cmd()"), path=tmp_path / "r.html"
    )
    assert strict(report.text).faults == []
    assert "<script>alert" not in report.text
    assert "<b>" not in report.text
    assert "<script>" not in write(report.evidence, path=None, format="md").text


def test_a_release_read_back_from_its_file_reports_its_recipe(
    made: tuple[Any, Any, Evidence], tmp_path: Path
) -> None:
    ds, release, _ = made
    release.save(tmp_path / "release.parquet", truth=tmp_path / "truth.parquet")
    back = sudare.open(tmp_path / "release.parquet")
    report = sudare.report(ds, back, truth=release.truth, path=None, known={"plan": made[2].plan})
    assert report.evidence.release is not None
    assert report.evidence.release.digest == release.recipe.digest
    assert report.evidence.release.insecure
    assert report.evidence.release.dummies == int((release.rows < 0).sum())


def test_the_checksum_sees_cells_not_batches() -> None:
    first, second = opened(30), opened(30)
    assert table_digest(first) == table_digest(second)
    assert table_digest(first) != table_digest(opened(31))


def section(report: Any, name: str) -> dict[str, Any]:
    return next(s for s in report.to_dict()["sections"] if s["id"] == name)


def test_a_rate_near_its_limit_shows_its_side_wherever_it_stands(evidence: Evidence) -> None:
    assert evidence.attacks is not None
    rows = ({**evidence.attacks.rows[0], "rate": 0.30004},)
    row = {"limit": "attack_success", "column": None, "required": "<= 0.3", "measured": 0.30004}
    policy = Result(({**row, "passed": False, "meaning": "best rate"},))
    given = replace(evidence, attacks=replace(evidence.attacks, rows=rows), policy=policy)
    verdict = write(given, path=None).document.verdict
    assert verdict.figures[0].value == "30.004%"
    assert any("re-identifies 30.004% of" in reason for reason in verdict.reasons)


def test_every_declared_use_is_measured_by_its_columns(made: tuple[Any, Any, Evidence]) -> None:
    ds, release, evidence = made
    known = {name: getattr(evidence, name) for name in ("risk", "plan", "attacks")}
    uses = {"baskets": ["goods", "price"], "hours": ["time"]}
    report = sudare.report(ds, release, path=None, context={"uses": uses}, known=known)
    table = section(report, "utility")["blocks"][1]
    assert table["caption"] == "By declared use"
    first, second = table["rows"]
    pairs = sudare.utility(ds, release, [sudare.utility.PairwiseDistance(columns=("goods", "price"))])
    assert first["pairs_moved"] == pairs.rows[0]["value"]
    assert "goods: k-anonymity by dummy records (k = 3, effort = low)" in first["done"]
    assert second["done"] == "time: attribute suppression"
    assert second["columns_moved"] is None
    with pytest.raises(sudare.UsageError, match="use 'hours': unknown column 'tiem'; did you mean 'time'"):
        sudare.report(ds, path=None, context={"uses": {"hours": ["tiem"]}})


def test_uses_in_a_file_are_words_or_columns(tmp_path: Path) -> None:
    file = tmp_path / "sudare.toml"
    file.write_text('[release]\npurpose = "teaching"\n[release.uses]\n"sales by goods" = ["goods"]\n')
    assert context_and_policy(file)[0]["uses"] == {"sales by goods": ["goods"]}
    file.write_text('[release]\nuses = "monthly sums"\n')
    assert context_and_policy(file)[0]["uses"] == "monthly sums"
    file.write_text('[release.uses]\nsales = "goods"\n')
    with pytest.raises(sudare.UsageError, match="names the columns"):
        context_and_policy(file)


def test_a_plan_reaches_as_far_as_there_are_people() -> None:
    ds = sudare.open("example:purchases", user="user", quasi=["date", "goods"], sensitive="price")
    plan = sudare.report(ds, path=None, value="goods").evidence.plan
    assert plan is not None
    assert [row["k"] for row in plan.rows] == [2, 3]


def test_the_report_can_be_reproduced_by_what_it_prints(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(histories(30, records_per_user=8.0, goods=60), "shop.parquet")
    roles = {"quasi": ["date", "goods"], "sensitive": ["price"], "other": ["time", "number"]}
    ds = sudare.open("shop.parquet", user="user", identifier="invoice", **roles)
    Key.new().save("sudare.key")
    steps = [{"method": "round", "column": "price", "to": 5}]
    first = sudare.anonymize(ds, sudare.Recipe.from_steps(steps), key="sudare.key")
    report = sudare.report(ds, first, path=None)
    toml, commands = (b["text"] for b in section(report, "reproduce")["blocks"] if b["kind"] == "code")
    (recipe,) = (b["text"] for b in section(report, "done")["blocks"] if b["kind"] == "code")
    Path("sudare.toml").write_text(toml)
    Path("recipe.toml").write_text(recipe)
    Path("key").mkdir()
    Path("sudare.key").rename("key/sudare.key")
    for line in commands.splitlines():
        assert run(shlex.split(line.replace("--key sudare.key", "--key key/sudare.key"))[1:]) == 0, line
    assert pq.read_table("release.parquet").equals(first.data.to_pyarrow())


def test_columns_published_as_sets_have_their_own_section() -> None:
    """What attackers believe stands beside what l promises, and in the internal report alone."""
    ds = sudare.open(
        "example:patients", identifier="name", quasi=["sex", "age", "address", "job"], sensitive="disease"
    )
    steps = Recipe.from_steps([{"method": "randomized-addition", "column": "disease", "l": 2}])
    release, evidence = loop.run(ds, steps, key=Key.demo(3))
    sections = json.loads(write(evidence, path=None, format="json").text)["sections"]
    blocks = next(section["blocks"] for section in sections if section["id"] == "sets")
    table = next(block for block in blocks if block["kind"] == "table")
    assert table["caption"] == "What attackers learn about disease"
    assert {row["claimed"] for row in table["rows"]} == {0.5}
    assert all(row["expected"] >= 0.5 for row in table["rows"])
    assert "Columns published as sets" not in write(evidence, path=None, audience="external").text
    assert re.fullmatch(
        rf"Release\({release.data.rows} records; randomized-addition; key [-0-9a-f]+\)", repr(release)
    )
