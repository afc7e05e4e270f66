"""The benchmark of k, l and t runs, and both sides give the same numbers."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import sudare
from sudare.data.connection import connect

ROOT = Path(__file__).parents[3]


def test_the_benchmark_runs_and_compares_equal_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    module = importlib.import_module("benchmarks.disclosure")
    rows = module.run("small", 1, peer=False)
    assert rows[-1]["work"] == "growth of: k, l and t"
    ds = module.stored(module.people(3000))
    found = sudare.disclosure(ds, measures=["k", "l", "t"])
    k, l, t = connect().sql(module.bare_query(ds)).fetchall()[0]
    assert (found.k, found.l["income"], found.t["income"]) == (k, l, pytest.approx(float(t)))
