"""The loop by plain links and forms: what a browser without scripts would do."""

from __future__ import annotations

import html
import io
import re
import subprocess
import sys
from multiprocessing import Pipe
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.studio.conftest import Browser

from sudare import progress as stages
from sudare.examples.builtin import histories
from sudare.keys import Key
from sudare.studio.session import Session
from sudare.studio.worker import Teller, Worker

PEOPLE = pa.table(
    {
        "name": [f"Person {i}" for i in range(60)],
        "age": [20 + i % 30 for i in range(60)],
        "sex": ["f", "m"] * 30,
        "disease": ["flu", "cold", "gout"] * 20,
    }
)


@pytest.fixture
def people(folder: Path) -> Path:
    pq.write_table(PEOPLE, folder / "people.parquet")
    return folder / "people.parquet"


def measured(browser: Browser) -> None:
    """From the first page to the risk."""
    browser.post("/choose", path="people.parquet")
    browser.until("/roles", "What is each column about?")
    browser.post("/roles")
    browser.until("/risk", "What the table gives away")


def test_the_whole_loop(browser: Browser, people: Path, session: Session) -> None:
    assert "people.parquet" in browser.get("/").text
    measured(browser)
    assert session.roles == {"name": "identifier", "age": "quasi", "sex": "quasi", "disease": "sensitive"}
    page = browser.get("/risk").text
    roles = "--identifier name --quasi age,sex --sensitive disease"
    assert f"sudare risk people.parquet --combine 2 {roles}" in page
    assert "sudare.risk(ds, combine=2)" in page
    browser.until("/risk/values?attribute=age", "Values of age")
    assert "every person has one record" in browser.get("/cost").text
    assert "sudare plan" not in browser.get("/cost").text
    page = browser.post("/recipe", action="add", method="mondrian", **{"p-k": "5"}).text
    assert "[[step]]" in page
    assert "k = 5" in page
    browser.post("/run")
    page = browser.until("/run", "Before and after").text
    assert "Strongest attack finds" in page
    assert "mondrian" in page
    files = browser.get("/download").text
    assert "Whoever has it can undo the release" in files
    release = pq.read_table(io.BytesIO(browser.get("/download/release.parquet").content))
    assert release.num_rows == 60
    assert "name" not in release.column_names
    truth = browser.get("/download/truth.parquet")
    assert pq.read_table(io.BytesIO(truth.content)).num_rows == 60
    assert truth.headers["content-disposition"].startswith("attachment")
    assert browser.get("/download/recipe.toml").text == '[[step]]\nmethod = "mondrian"\nk = 5\n'
    assert "Weakest" not in browser.get("/download/report-external.html").text
    second_recipe(browser)


def second_recipe(browser: Browser) -> None:
    browser.post("/recipe", action="toml", toml='[[step]]\nmethod = "suppress"\ncolumns = ["age"]\n')
    page = browser.get("/run").text
    assert "<h1>Make the release and attack it" in page, "another recipe can be run"
    assert 'href="/result"' in page
    browser.post("/run")
    browser.get("/events")  # ends with the work
    page = browser.until("/result", "Before and after").text
    assert "1: mondrian" in page
    assert "2: suppress" in page
    assert "Risk and loss of every recipe tried" in page


def test_pages_that_come_too_early_say_what_to_do_first(browser: Browser) -> None:
    for path, words in (
        ("/roles", "Choose a table first"),
        ("/run", "at least one step"),
        ("/risk", "roles first"),
    ):
        page = browser.get(path)
        assert page.status_code == 200
        assert words in page.text


def test_faults_are_told_in_place(browser: Browser, people: Path) -> None:
    measured(browser)
    page = browser.post("/recipe", action="add", method="mondrian", **{"p-k": "many"})
    assert page.status_code == 400
    assert "That did not work" in page.text
    page = browser.post("/recipe", action="toml", toml="[[step]\n")
    assert "not valid TOML" in page.text
    page = browser.post("/recipe", action="toml", toml='[[step]]\nmethod = "mondrain"\nk = 2\n')
    assert "did you mean &#39;mondrian&#39;?" in page.text
    page = browser.post("/recipe", action="add", method="suppress", **{"p-columns": "sex, aeg"})
    assert "suppress: unknown column &#39;aeg&#39;; did you mean &#39;age&#39;?" in page.text
    assert 'value="sex, aeg"' in page.text, "what was typed is still there"
    page = browser.post("/roles", **{"role-0": "user", "role-1": "user"})
    assert "Only one column" in page.text
    browser.post("/recipe", action="add", method="mondrian", **{"p-k": "500"})
    browser.post("/run")
    page = browser.until("/run", "Make the release")
    assert "more than the 60 people" in page.text
    assert "Person" not in page.text


def test_a_file_that_is_no_table_is_told_in_place(browser: Browser, folder: Path) -> None:
    (folder / "broken.parquet").write_bytes(b"PAR1 no")
    browser.post("/choose", path="broken.parquet")
    page = browser.until("/roles", "That did not work")
    assert "not a readable Parquet file" in page.text


def test_work_can_be_cancelled(browser: Browser, folder: Path, session: Session) -> None:
    rows = range(60_000)
    table = pa.table({"user": [f"u{i % 3000}" for i in rows], "goods": [i * i % 997 for i in rows]})
    pq.write_table(table, folder / "big.parquet")
    browser.post("/choose", path="big.parquet")
    browser.until("/roles", "What is each column about?")
    browser.post("/roles")
    browser.until("/risk", "What the table gives away")
    slow = {"p-value": "goods", "p-k": "5", "p-effort": "high"}
    browser.post("/recipe", action="add", method="dummy-records", **slow)
    browser.post("/run")
    page = browser.get("/run").text
    assert 'id="working"' in page
    assert "Cancel" in page
    process = session.worker._process
    page = browser.post("/cancel").text
    assert "Cancelled. Nothing was written." in page
    assert not process.is_alive()
    assert session.files() == []
    browser.until("/risk", "What the table gives away")


def test_names_of_columns_are_text(browser: Browser, folder: Path) -> None:
    bad = '"><script>alert(1)</script>'
    pq.write_table(pa.table({bad: ["a", "b"] * 30, "=cmd": [1, 2, 3] * 20}), folder / "<img src=x>.parquet")
    assert "<img src" not in browser.get("/").text
    browser.post("/choose", path="<img src=x>.parquet")
    for path, heading in (("/roles", "What is each column about?"), ("/risk", "What the table gives away")):
        page = browser.until(path, heading).text
        assert "<script>alert" not in page
        assert "<img src" not in page
        browser.post("/roles")
    assert "<script>alert" not in browser.get("/recipe").text


def test_the_bar_moves_within_a_step() -> None:
    ours, theirs = Pipe()
    teller = Teller(theirs)
    teller("risk", 1, 4)
    assert ours.recv() == ("progress", "risk", 1, 4)
    stages.stage("reading rows", 1, 2)
    assert ours.poll(10)
    assert ours.recv() == ("progress", "risk: reading rows (1/2)", 1.5, 4)
    teller.stop()


def test_a_worker_that_dies_says_so() -> None:
    worker = Worker("sudare.studio.tasks")
    job = worker.start("look", "look", {"source": None})
    worker._process.kill()
    worker._process.join()
    for _ in range(100):
        if job.state != "running":
            break
        import time

        time.sleep(0.05)
    assert job.state == "failed"
    assert job.error
    worker.close()


def test_the_private_folder_is_private_and_goes(folder: Path) -> None:
    session = Session(folder=folder)
    assert session.output.stat().st_mode & 0o777 == 0o700
    session.close()
    assert not session.output.exists()


def test_a_table_of_few_people_is_planned_as_far_as_they_reach(browser: Browser) -> None:
    browser.post("/choose", path="example:purchases")
    browser.until("/roles", "What is each column about?")
    browser.post("/roles")
    page = browser.until("/cost", "What hiding in a crowd would cost").text
    assert 'min="2" max="3" value="3"' in page
    assert "k = 3: about" in page


def shown_lines(page: str) -> tuple[str, str]:
    """The command and the call that a page shows."""
    command, call = re.findall(r'aria-label="(?:Command line|Python)"><code>(.*?)</code>', page, re.S)
    return html.unescape(command), html.unescape(call)


def test_what_pages_show_works_when_it_is_pasted(
    browser: Browser, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(histories(25, records_per_user=6.0, goods=40), folder / "the shop.parquet")
    (tmp_path / "key").mkdir()
    Key.new().save(tmp_path / "key" / "sudare.key")
    monkeypatch.setenv("SUDARE_KEY", str(tmp_path / "key" / "sudare.key"))
    monkeypatch.chdir(folder)
    browser.post("/choose", path="the shop.parquet")
    found = {"file": shown_lines(browser.get("/").text)}
    found["roles"] = shown_lines(browser.until("/roles", "What is each column about?").text)
    browser.post("/roles", **{"role-5": "sensitive", "role-6": "other"})
    found["risk"] = shown_lines(browser.until("/risk", "What the table gives away").text)
    found["values"] = shown_lines(browser.until("/risk/values?attribute=date", "Values of date").text)
    found["cost"] = shown_lines(browser.until("/cost", "What hiding in a crowd would cost").text)
    browser.post("/recipe", action="add", method="round", **{"p-column": "price", "p-to": "5"})
    found["recipe"] = shown_lines(browser.get("/recipe").text)
    found["run"] = shown_lines(browser.get("/run").text)
    browser.post("/run")
    found["result"] = shown_lines(browser.until("/run", "Before and after").text)
    found["download"] = shown_lines(browser.get("/download").text)
    for page, (command, call) in found.items():
        done = subprocess.run(
            ["bash", "-ec", command.replace("sudare ", f"{sys.executable} -m sudare.cli.main ")],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0 or "exists already" in done.stderr, (page, command, done.stderr)
        exec(compile(call, page, "exec"), {})
    made = browser.get("/download/release.parquet").content
    assert pq.read_table(io.BytesIO(made)).equals(pq.read_table("release.parquet"))


def test_a_recipe_reads_no_file_outside_the_folder(
    browser: Browser, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(people.parent)
    (people.parent / "in.csv").write_text("f;*\nm;*\n")
    (people.parent.parent / "out.csv").write_text("f;*\nm;*\n")
    measured(browser)
    for given in ('"../out.csv"', '{ file = "../out.csv" }', '"/etc/passwd"'):
        for key, method in (("hierarchy", "generalize"), ("hierarchies", "local-recoding")):
            rest = 'column = "sex"' if method == "generalize" else "k = 2"
            value = given if method == "generalize" else f"{{ sex = {given} }}"
            text = f'[[step]]\nmethod = "{method}"\n{rest}\n{key} = {value}\n'
            page = browser.post("/recipe", action="toml", toml=text)
            assert page.status_code == 400, text
            assert "not below the folder" in page.text
    inside = '[[step]]\nmethod = "generalize"\ncolumn = "sex"\nhierarchy = "in.csv"\n'
    assert browser.post("/recipe", action="toml", toml=inside).status_code == 200
