"""Every benchmark runs at a tiny size, and both sides computed the same answer."""

from __future__ import annotations

import pytest
from benchmarks.one import MODULES, judged, works
from benchmarks.timing import installed
from benchmarks.work import Work

CASES = [
    pytest.param(work, id=f"{module}: {work.name}", marks=pytest.mark.spark if module == "spark" else ())
    for module in MODULES
    for work in works(module)
]


@pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning")
@pytest.mark.parametrize("work", CASES)
def test_both_sides_compute_the_same_answer(work: Work) -> None:
    size = work.sizes["small"][0]
    data = work.prepare(size)
    ours = work.ours(data)
    assert all(value is not None for value in work.figures(ours).values())
    if work.peer is not None and installed(work.peer_needs):
        assert work.same(ours, work.peer(data))


@pytest.mark.parametrize("work", CASES)
def test_a_work_has_three_sizes_or_says_that_it_has_one(work: Work) -> None:
    assert len(work.sizes["full"]) in (1, 3)
    assert list(work.sizes["full"]) == sorted(work.sizes["full"])
    assert work.peer is None or work.peer_name
    assert work.published is None or work.published.size in work.sizes["full"]
    assert work.goal is None or work.goal.at is None or work.goal.at in work.sizes["full"]


def test_rows_tell_cost_memory_and_growth() -> None:
    rows = list(judged("randomized", "small", "keyed"))
    assert [row["size"] for row in rows] == [1_000, 2_000, 4_000]
    assert all(row["same"] and row["seconds"] > 0 and row["ratio"] > 0 and row["peak_mb"] > 0 for row in rows)
    assert rows[0]["growth"] is None
    assert rows[-1]["growth"] is not None
