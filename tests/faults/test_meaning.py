"""Calls that make no sense, 31 to 40."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sudare.keys import Key

Run = Callable[..., Any]
fault = pytest.mark.fault
PURCHASES = ("example:purchases", "--user", "user")
PATIENTS = (
    "example:patients",
    "--identifier",
    "name",
    "--quasi",
    "sex,age,address,job",
    "--sensitive",
    "disease",
)


def recipe(folder: Path, **parameters: object) -> str:
    lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in parameters.items())
    (folder / "r.toml").write_text(f"[[step]]\n{lines}\n")
    return "r.toml"


@fault(31, "k above the number of users is refused before any work")
def test_31(sudare: Run, tmp_path: Path) -> None:
    steps = recipe(tmp_path, method="dummy-records", value="goods", k=4)
    roles = ("--quasi", "date,time,goods,price,number")
    sudare("anonymize", *PURCHASES, *roles, "-r", steps, "-o", "o.csv").fails(2, "k")
    sudare("plan", *PURCHASES, "--value", "goods", "-k", "4..9").fails(2, "3")
    assert not (tmp_path / "o.csv").exists()


@fault(32, "l above or equal to the number of values is refused")
@pytest.mark.parametrize(("l", "told"), [(7, "larger"), (6, "estimate")])
def test_32(sudare: Run, tmp_path: Path, l: int, told: str) -> None:
    steps = recipe(tmp_path, method="randomized-addition", column="disease", l=l)
    sudare("anonymize", *PATIENTS, "-r", steps, "-o", "o.csv").fails(2, "disease", told)


@fault(33, "a sample larger than the domain is clipped, and the result says so")
def test_33(sudare: Run) -> None:
    call = ("risk", *PURCHASES, "-a", "date", "--model", "sample", "--sample-size", "99", "--format", "json")
    shown = json.loads(sudare(*call).works().out)
    assert shown["rows"][0]["sample_size"] == 3
    assert shown["rows"][0]["risk"] == pytest.approx(0.65)
    assert "fewer than 99" in " ".join(shown["notes"])


@fault(34, "eligibility that is not met is refused with the largest l possible")
@pytest.mark.parametrize("method", ["anatomy", "tp"])
def test_34(sudare: Run, tmp_path: Path, method: str) -> None:
    pq.write_table(pa.table({"q": list("abcdef"), "s": ["Canary"] * 3 + list("xyz")}), tmp_path / "t.parquet")
    steps = recipe(tmp_path, method=method, column="s", l=3)
    call = ("anonymize", "t.parquet", "--quasi", "q", "--sensitive", "s", "-r", steps, "-o", "o.csv")
    sudare(*call).fails(2, "2", "50", secret="Canary")


@fault(35, "a release in the original order is warned of, and scores shuffle first")
def test_35(sudare: Run, tmp_path: Path) -> None:
    table = pa.table({"q": ["a"] * 40, "s": list(range(40))})
    pq.write_table(table, tmp_path / "t.parquet")
    pq.write_table(table.set_column(1, "s", pa.array([0] * 40)), tmp_path / "o.parquet")
    pq.write_table(pa.table({"original_row": list(range(40))}), tmp_path / "truth.parquet")
    call = (
        "attack",
        "t.parquet",
        "o.parquet",
        "--quasi",
        "q",
        "--sensitive",
        "s",
        "--truth",
        "truth.parquet",
    )
    shown = sudare(*call, "-a", "identify-sort", "--ties", "first", "--format", "json").works()
    assert "warning S-ORDER" in shown.err
    assert json.loads(shown.out)["rows"][0]["rate"] < 0.5


@fault(36, "original and release with different columns are refused with the difference")
def test_36(sudare: Run, tmp_path: Path) -> None:
    pq.write_table(pa.table({"q": ["a", "b"], "s": [1, 2]}), tmp_path / "t.parquet")
    pq.write_table(pa.table({"q": ["a", "b"], "other": [1, 2]}), tmp_path / "o.parquet")
    pq.write_table(pa.table({"original_row": [0, 1]}), tmp_path / "truth.parquet")
    call = ("t.parquet", "o.parquet", "--quasi", "q", "--sensitive", "s")
    sudare("attack", *call, "--truth", "truth.parquet").fails(2, "other")
    sudare("utility", *call).fails(2, "other")


@fault(37, "a truth of the wrong length is refused")
def test_37(sudare: Run, tmp_path: Path) -> None:
    pq.write_table(pa.table({"q": ["a", "b"], "s": [1, 2]}), tmp_path / "t.parquet")
    pq.write_table(pa.table({"original_row": [0]}), tmp_path / "truth.parquet")
    call = (
        "attack",
        "t.parquet",
        "t.parquet",
        "--quasi",
        "q",
        "--sensitive",
        "s",
        "--truth",
        "truth.parquet",
    )
    sudare(*call).fails(2, "truth")


@fault(38, "a second draw with another key is refused without --force")
def test_38(sudare: Run, tmp_path: Path) -> None:
    steps = recipe(tmp_path, method="randomized-addition", column="disease", l=2)
    (tmp_path / "keys").mkdir()
    (tmp_path / "out").mkdir()
    for name in "ab":
        Key.new().save(tmp_path / "keys" / name)
    call = ("anonymize", *PATIENTS, "-r", steps, "--key")
    sudare(*call, "keys/a", "-o", "out/1.parquet").works()
    sudare(*call, "keys/a", "-o", "out/1.parquet").works()
    sudare(*call, "keys/b", "-o", "out/2.parquet").fails(2, "key")
    assert not (tmp_path / "out/2.parquet").exists()
    sudare(*call, "keys/b", "-o", "out/2.parquet", "--force").works()


@fault(39, "a wrong, open, unreadable or badly placed key is refused")
def test_39(sudare: Run, tmp_path: Path) -> None:
    call = ("anonymize", *PATIENTS, "-r", recipe(tmp_path, method="pseudonymize"), "-o", "o.csv", "--key")
    sudare(*call, "none.key").fails(2, "none.key")
    (tmp_path / "short.key").write_text("sudare-key-1\nabcd\n")
    (tmp_path / "short.key").chmod(0o600)
    sudare(*call, "short.key").fails(2, "32")
    (tmp_path / "keys").mkdir()
    Key.new().save(tmp_path / "keys/open.key").path.chmod(0o644)
    sudare(*call, "keys/open.key").fails(2, "chmod 600")
    Key.new().save(tmp_path / "beside.key")
    sudare(*call, "beside.key").fails(2, "output folder")
    assert not (tmp_path / "o.csv").exists()


@fault(40, "sets of a release that do not have l members are refused")
def test_40(sudare: Run, tmp_path: Path) -> None:
    steps = recipe(tmp_path, method="randomized-addition", column="disease", l=2)
    sudare("anonymize", *PATIENTS, "-r", steps, "-o", "o.csv", "--demo").works()
    text = (tmp_path / "o.csv").read_text()
    (tmp_path / "o.csv").write_text(text.replace("|", "", 1))
    sudare("estimate", "o.csv", "--by", "sex").fails(3, "the release was changed")
    card = tmp_path / "o.csv.sudare.json"
    known = {name: value for name, value in json.loads(card.read_text()).items() if name != "sha256"}
    card.write_text(json.dumps(known))  # a card that does not know the release: the sets themselves tell
    sudare("estimate", "o.csv", "--by", "sex").fails(3, "disease")
