import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["risk", "risk_plain", "risk_subsets", "risk_text", "risk_sample", "risk_across"])
def test_both_sides_of_a_benchmark_do_the_same_work(name, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    module = importlib.import_module(f"benchmarks.{name}")
    size = 40 if name == "risk_across" else 3_000
    ours, peer = module.ours(size), module.peer(size)
    if name == "risk_sample":
        assert ours == pytest.approx(peer, rel=0.5)
    else:
        assert ours == pytest.approx(peer)
    assert "benchmarks" in sys.modules
