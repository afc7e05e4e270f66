"""Every `sudare ...` line of the pages runs, in order, in a folder with the files the pages speak of."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import sudare
from sudare.cli.main import run
from sudare.examples import builtin as examples
from sudare.keys import Key
from sudare.methods import Mondrian, Noise, Suppress, Swap
from sudare.methods.recipe import Recipe

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# lines that need a server or data of their own; they are tested with their engines, publishers and the studio
ELSEWHERE = re.compile(
    r"studio|spark://|postgres|duckdb://|local\[|--engine|reproduce|retail400|\bTABLE\b|FILE|fetch|adult"
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
    """What a reader of the pages has: a shop's purchases, patients, people, recipes, a key."""
    folder = tmp_path_factory.mktemp("docs")
    for name in ("keys", "purchases"):
        (folder / name).mkdir()
    Key.new().save(folder / "keys" / "sudare.key")
    purchases = examples.histories(60)
    pyarrow.csv.write_csv(purchases, folder / "purchases.csv")
    for name in ("purchases.parquet", "original.parquet", "shop.parquet"):
        pq.write_table(purchases, folder / name)
    pq.write_table(purchases.rename_columns({"user": "customer"}), folder / "purchases" / "2025.parquet")
    pyarrow.csv.write_csv(examples.load("example:patients"), folder / "patients.csv")
    shop = sudare.open(purchases, user="user", quasi=["date", "time", "goods"], sensitive=["price", "number"])
    suppressed = sudare.anonymize(shop, Suppress(columns=["invoice"]), key=Key.demo(1))
    suppressed.save(folder / "release.parquet", truth=folder / "truth.parquet")
    _people(folder)
    if data := os.environ.get("SUDARE_DATA"):
        _census(folder, Path(data))
    return folder


def _people(folder: Path) -> None:
    draw = np.random.default_rng(5)
    people = pa.table(
        {
            "name": [f"person {i}" for i in range(400)],
            "phone": [f"0{i:05d}" for i in range(400)],
            "sex": draw.choice(["f", "m"], 400),
            "age": draw.integers(18, 95, 400),
            "zip": [f"{z:02d}000" for z in draw.integers(10, 16, 400)],
            "education": draw.choice(["school", "college", "doctorate"], 400),
            "income": draw.gamma(3, 9000, 400).round(),
            "weight": draw.uniform(20, 60, 400).round(1),
        }
    )
    for name in ("people.csv", "sample.csv", "register.csv"):
        pyarrow.csv.write_csv(people, folder / name)
    pq.write_table(people, folder / "people.parquet")
    (folder / "education.csv").write_text("school;low;*\ncollege;high;*\ndoctorate;high;*\n")
    (folder / "sudare.toml").write_text(
        '[data]\nfile = "people.csv"\n[roles]\nidentifier = ["name", "phone"]\n'
        'quasi = ["sex", "age", "zip", "education"]\n'
        'sensitive = ["income"]\nother = ["weight"]\n[policy]\npreset = "k5"\n'
    )
    steps = {
        "noise": Noise(sd=0.1),
        "swap": Swap(),
        "k5": Mondrian(k=5),
        "recipe": Mondrian(k=5),
    }
    for name, step in steps.items():
        (folder / f"{name}.toml").write_text(Recipe([step]).to_toml())
    ds = sudare.open(people, roles=folder / "sudare.toml")
    sudare.anonymize(ds, Mondrian(k=5), key=Key.demo(1)).save(folder / "release.csv")


def _census(folder: Path, data: Path) -> None:
    census = pq.read_table(data / "casc_census.parquet")
    pq.write_table(census, folder / "casc_census.parquet")
    (folder / "roles.toml").write_text(f"[roles]\nsensitive = {json.dumps(census.column_names)}\n")
    ds = sudare.open(census, sensitive=census.column_names)
    sudare.anonymize(ds, Noise(sd=0.1), key=Key.demo(1)).save(
        folder / "out.parquet", truth=folder / "truth-out.parquet"
    )


@pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_commands_of(page: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line for line in commands(page) if "casc_census" not in line or os.environ.get("SUDARE_DATA")]
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
