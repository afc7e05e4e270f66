"""Every `sudare ...` line of the pages runs, in order, in a folder with the files the pages speak of."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.cli.main import run
from sudare.data import examples
from sudare.data.keys import Key
from sudare.methods.recipe import Recipe

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# lines that need a server of their own; they are tested with their engines and the studio
ELSEWHERE = re.compile(
    r"studio|spark://|postgres|duckdb://|local\[|--engine|reproduce|retail400|\bTABLE\b|FILE"
)
COMMAND = re.compile(r"^(?: {4}|\$ |    \$ )?(sudare [^|<>`]*)$")


def commands(page: Path) -> list[str]:
    """Lines of code blocks that call sudare; a comment behind two blanks is not part of the call."""
    fenced, found = False, []
    for line in page.read_text("utf-8").splitlines():
        if line.startswith("```"):
            fenced = not fenced
        match = COMMAND.match(line)
        if match and (fenced or line.startswith("    ")) and not ELSEWHERE.search(line):
            found.append(re.sub(r"\s+#.*$", "", match.group(1)))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a reader of the pages has: a shop's purchases, patients, recipes, a key."""
    folder = tmp_path_factory.mktemp("docs")
    purchases = examples.histories(60)
    pyarrow.csv.write_csv(purchases, folder / "purchases.csv")
    pq.write_table(purchases, folder / "purchases.parquet")
    pyarrow.csv.write_csv(examples.load("example:patients"), folder / "patients.csv")
    (folder / "keys").mkdir()
    Key.new().save(folder / "keys" / "sudare.key")
    ds = sudare.open(
        "example:patients", identifier="name", quasi=["sex", "age", "address", "job"], sensitive="disease"
    )
    release = sudare.anonymize(ds, Recipe.from_steps([{"method": "pseudonymize"}]), key=Key.demo(1))
    pq.write_table(ds.to_pyarrow(), folder / "original.parquet")
    release.save(folder / "release.parquet", truth=folder / "truth.parquet")
    return folder


@pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_commands_of(page: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = commands(page)
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    _write_files_of(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    for line in lines:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(shlex.split(line)[1:])
        assert code in (0, 1), f"{line}\n{err.getvalue()}"
        assert code == 0 or " check " in line, f"{line}\n{err.getvalue()}"


def _write_files_of(page: Path, folder: Path) -> None:
    """A TOML block that follows a line naming a file is that file."""
    text = page.read_text("utf-8")
    for name, block in re.findall(r"`([\w.-]+\.toml)`[^`\n]*:?\n\n```toml\n(.*?)```", text, re.S):
        (folder / name).write_text(block)
