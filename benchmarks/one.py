"""Run one module of works in this process and print its rows as lines of JSON: python -m benchmarks.one risk full."""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from collections.abc import Iterator

from benchmarks.timing import rows
from benchmarks.work import Row, Work

# the order of the table
MODULES = """startup risk known_goods disclosure randomized attacks linkability dummies mondrian local_recoding
global_recoding microaggregation spark commands""".split()


def works(module: str) -> tuple[Work, ...]:
    """The works of a module."""
    return tuple(importlib.import_module(f"benchmarks.{module}").WORKS)


def judged(module: str, size: str, only: str = "") -> Iterator[Row]:
    """Rows with the goal in words and, at full size, whether it is met."""
    for work in works(module):
        if only in work.name:
            for row in rows(work, size):
                yield {"module": module, **row, **verdict(work, row, size)}


def verdict(work: Work, row: Row, size: str = "full") -> Row:
    """The source of a published figure; at the size of the goal, its words and whether it is met."""
    goal = work.goal
    told: Row = dict.fromkeys(("goal", "met", "remains"))
    told |= {"source": work.published.source if row["peer_kind"] == "published" and work.published else ""}
    if goal is None or size != "full" or row["size"] != (goal.at or work.sizes["full"][-1]):
        return told
    return told | {"goal": goal.text, "met": bool(goal.met(row)), "remains": work.remains}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for line in judged(*sys.argv[1:]):
        print(json.dumps(line), flush=True)
