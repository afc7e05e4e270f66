"""Editors and type checkers see every method, attack, metric and verb with its parameters."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sudare
from sudare import registry
from sudare.stubs import path_of, stub

RIGHT = """
import sudare
from sudare.utility import MeanError

ds = sudare.open("example:patients", quasi=["age"], sensitive="disease")
release = sudare.anonymize(ds, [sudare.methods.Noise(sd=0.1), sudare.methods.Mondrian(k=2)])
sudare.attack(ds, release, [sudare.attacks.Euclid(fallback=True)], ties="fail")
found: float | None = sudare.utility(ds, release, [MeanError(), sudare.utility.RowLoss(columns=("age",))]).value("U1")
rows: int = len(sudare.risk(ds, model="low-cost").rows)
levels: sudare.Hierarchy
sudare.check(ds, {"k": 2}).passed
sudare.compare(ds, [sudare.methods.Shuffle()], ties="first")
sudare.posterior(release)
sudare.workload(ds, {"release": release}, queries=10)
"""
WRONG = {
    "sudare.methods.Noise(no_such=1)": "no_such",
    "sudare.methods.Noise(sd='much')": "float",
    "sudare.methods.Mondrian()": "Missing",
    "sudare.methods.DoesNotExist": "DoesNotExist",
    "sudare.methods.Microaggregate(k=2, variant='fast')": "variant",
    "sudare.attacks.Euclid(no_such=1)": "no_such",
    "sudare.attacks.DoesNotExist": "DoesNotExist",
    "sudare.utility.MeanError(no_such=1)": "no_such",
    "sudare.utility.DoesNotExist": "DoesNotExist",
    "sudare.does_not_exist": "does_not_exist",
    "sudare.risk(ds, no_such=1)": "no_such",
    "sudare.risk(ds, model='best')": "model",
    "sudare.utility(ds, release, no_such=1)": "no_such",
    "sudare.estimate(release, method='clip')": "method",
}


@pytest.mark.parametrize("kind", registry.ROOMS)
def test_the_stubs_are_those_of_the_classes_there_are(kind: registry.Kind) -> None:
    assert path_of(kind).read_text("utf-8") == stub(kind), "run: make stubs"


def test_a_type_checker_refuses_wrong_calls_and_no_right_ones(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    program = RIGHT + "".join(f"{call}\n" for call in WRONG)
    (tmp_path / "user.py").write_text(program, "utf-8")
    told = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=", "user.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(Path(sudare.__file__).parent.parent)},
        capture_output=True,
        text=True,
    ).stdout
    found = {int(line): words for line, words in re.findall(r"^user\.py:(\d+): error: (.*)$", told, re.M)}
    lines = program.splitlines()
    assert {lines[number - 1] for number in found} == set(WRONG), told
    assert all(WRONG[lines[number - 1]] in words for number, words in found.items()), told
