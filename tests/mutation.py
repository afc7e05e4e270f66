"""Mutation testing: change the source one place at a time and see whether the tests that belong to it notice.

    python -m tests.mutation                    every file below, at most 12 changes each
    python -m tests.mutation keys 200           one file, at most 200 changes

The changed source is loaded by an import hook in a forked process; no file is touched.
"""

from __future__ import annotations

import ast
import copy
import importlib.abc
import importlib.util
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RISK, DISCLOSURE, COST, ATTACKS = "tests/risk", "tests/disclosure", "tests/cost", "tests/attacks"
# what is measured and computed; pictures and the Spark twins of a calculation are left to the tests that compare them
TESTED: dict[str, tuple[str, ...]] = {
    "sudare.keys.records": ("tests/keys/test_keys.py", "tests/keys/test_record_ids.py"),
    "sudare.risk.across": (f"{RISK}/test_across.py",),
    "sudare.risk.after": (f"{RISK}/test_after.py",),
    "sudare.risk.blurred": (f"{RISK}/test_blurred.py", f"{RISK}/test_engines.py"),
    "sudare.risk.channels": (f"{RISK}/test_blurred.py",),
    "sudare.policy.check": ("tests/policy/test_policy.py",),
    "sudare.engine.consistent": (f"{RISK}/test_after.py",),
    "sudare.disclosure.diversity": (f"{DISCLOSURE}/test_diversity.py", f"{DISCLOSURE}/test_sensitive.py"),
    "sudare.risk.formulas": (f"{RISK}/test_formulas.py", f"{RISK}/test_blurred.py"),
    "sudare.risk.knowledge": (f"{RISK}/test_measure.py", f"{RISK}/test_across.py"),
    "sudare.risk.measure": (f"{RISK}/test_measure.py", f"{RISK}/test_cli.py"),
    "sudare.risk.minimum": (f"{RISK}/test_minimum.py",),
    "sudare.policy.limits": ("tests/policy/test_policy.py",),
    "sudare.risk.result": (f"{RISK}/test_measure.py", f"{RISK}/test_cli.py"),
    "sudare.risk.sampled": (f"{RISK}/test_sampling.py",),
    "sudare.risk.sampling": (f"{RISK}/test_sampling.py",),
    "sudare.risk.scale": (f"{RISK}/test_scale.py",),
    "sudare.risk.values": (f"{RISK}/test_measure.py",),
    "sudare.disclosure.attribute_power": (
        f"{DISCLOSURE}/test_attribute_power.py",
        f"{DISCLOSURE}/test_measure.py",
    ),
    "sudare.engine.classes": (f"{DISCLOSURE}/test_measure.py", f"{DISCLOSURE}/test_sensitive.py"),
    "sudare.disclosure.frame": (f"{DISCLOSURE}/test_measure.py", f"{DISCLOSURE}/test_population.py"),
    "sudare.disclosure.individual": (
        f"{DISCLOSURE}/test_population.py",
        f"{DISCLOSURE}/test_measure.py",
    ),
    "sudare.disclosure.measure": (f"{DISCLOSURE}/test_measure.py",),
    "sudare.disclosure.population": (f"{DISCLOSURE}/test_population.py",),
    "sudare.disclosure.journalist": (f"{DISCLOSURE}/test_journalist.py",),
    "sudare.disclosure.loglinear": (f"{DISCLOSURE}/test_journalist.py",),
    "sudare.disclosure.posteriors": (f"{DISCLOSURE}/test_journalist.py",),
    "sudare.disclosure.presence": (f"{DISCLOSURE}/test_measure.py",),
    "sudare.disclosure.records": (f"{DISCLOSURE}/test_measure.py",),
    "sudare.disclosure.reidentification": (
        f"{DISCLOSURE}/test_attribute_power.py",
        f"{DISCLOSURE}/test_population.py",
    ),
    "sudare.disclosure.result": (f"{DISCLOSURE}/test_measure.py",),
    "sudare.disclosure.rows": (f"{DISCLOSURE}/test_measure.py",),
    "sudare.disclosure.sensitive": (f"{DISCLOSURE}/test_sensitive.py",),
    "sudare.disclosure.suda": (f"{DISCLOSURE}/test_suda.py",),
    "sudare.disclosure.wildcard": (f"{DISCLOSURE}/test_measure.py",),
    "sudare.cost.bound": (f"{COST}/test_bound.py",),
    "sudare.cost.clusterings": (f"{COST}/test_clusterings.py",),
    "sudare.cost.counts": (f"{COST}/test_plan.py",),
    "sudare.cost.distinct": (f"{COST}/test_distinct.py",),
    "sudare.cost.estimates": (f"{COST}/test_estimates.py", f"{COST}/test_scores.py"),
    "sudare.cost.itemsets": (f"{COST}/test_clusterings.py", f"{COST}/test_plan.py"),
    "sudare.cost.optimise": (f"{COST}/test_optimise.py",),
    "sudare.cost.pilot": (f"{COST}/test_plan.py",),
    "sudare.cost.plan": (f"{COST}/test_plan.py",),
    "sudare.attacks.plugins.assignment": (f"{ATTACKS}/test_matching.py",),
    "sudare.attacks.base": (f"{ATTACKS}/test_hits.py", f"{ATTACKS}/test_score.py"),
    "sudare.attacks.case": (f"{ATTACKS}/test_frame.py",),
    "sudare.attacks.matching": (f"{ATTACKS}/test_frame.py", f"{ATTACKS}/test_score.py"),
    "sudare.attacks.running": (f"{ATTACKS}/test_frame.py",),
    "sudare.attacks.cheating": (f"{ATTACKS}/test_cheating.py",),
    "sudare.attacks.plugins.euclid": (f"{ATTACKS}/test_attacks.py",),
    "sudare.attacks.plugins.gower": (f"{ATTACKS}/test_matching.py",),
    "sudare.attacks.scoring": (f"{ATTACKS}/test_hits.py", f"{ATTACKS}/test_score.py"),
    "sudare.attacks.plugins.identify": (f"{ATTACKS}/test_attacks.py",),
    "sudare.attacks.plugins.itemsets": (f"{ATTACKS}/test_itemsets.py",),
    "sudare.attacks.nearest": (f"{ATTACKS}/test_neighbours.py", f"{ATTACKS}/test_attacks.py"),
    "sudare.attacks.measure": (f"{ATTACKS}/test_score.py",),
    "sudare.engine.pair": (f"{ATTACKS}/test_itemsets.py", f"{ATTACKS}/test_attacks.py"),
    "sudare.engine.side": (f"{ATTACKS}/test_itemsets.py", f"{ATTACKS}/test_attacks.py"),
}
SECONDS = 60  # for a start; then four times what the tests take
OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.BitXor: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}


def mutants(source: str) -> Iterator[tuple[int, str, str]]:
    """Line, what was changed, and the changed source, one change each."""
    tree = ast.parse(source)
    for number, place in enumerate(_places(tree)):
        if not _change(copy.deepcopy(place)):
            continue
        changed = copy.deepcopy(tree)
        node = _places(changed)[number]
        what = _change(node)
        if what:
            yield getattr(node, "lineno", 0), what, ast.unparse(ast.fix_missing_locations(changed))


def _places(tree: ast.AST) -> list[ast.AST]:
    """Everything that runs: no imports, no annotations, nothing that type checkers alone read."""
    idle: set[int] = set()
    for node in ast.walk(tree):
        silent = isinstance(node, ast.arg | ast.alias | ast.Import | ast.ImportFrom)
        parts = [node] if silent else [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            parts = [node]
        idle |= {id(inner) for part in parts if part is not None for inner in ast.walk(part)}
    return [node for node in ast.walk(tree) if id(node) not in idle]


def _change(node: Any) -> str | None:
    for field in ("op", "ops"):
        found = getattr(node, field, None)
        first = found[0] if isinstance(found, list) and found else found
        if type(first) in OTHER:
            new = OTHER[type(first)]()
            setattr(node, field, [new, *found[1:]] if isinstance(found, list) else new)
            return f"{type(first).__name__} becomes {type(new).__name__}"
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        old, node.value = node.value, node.value + 1
        return f"{old} becomes {node.value}"
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        node.value = not node.value
        return f"{not node.value} becomes {node.value}"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        old, node.op = type(node.op).__name__, ast.UAdd() if isinstance(node.op, ast.USub) else ast.Not()
        if old == "Not":
            node.operand = ast.UnaryOp(ast.Not(), node.operand)
        return f"{old} goes"
    if isinstance(node, ast.If | ast.IfExp):
        node.test = ast.UnaryOp(ast.Not(), node.test)
        return "the condition is turned round"
    return None


def killed(module: str, source: str, tests: tuple[str, ...], seconds: float) -> bool:
    """Whether the tests fail, or never end, with this source."""
    child = os.fork()
    if child == 0:
        os.setsid()
        sys.meta_path.insert(0, _Finder(module, source))
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        import pytest

        os._exit(int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-m", "not slow", *tests])))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status != 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, module: str, source: str) -> None:
        self.module, self.source = module, source

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        return importlib.util.spec_from_loader(name, self) if name == self.module else None

    def exec_module(self, module: Any) -> None:
        exec(compile(self.source, f"<{self.module}, changed>", "exec"), module.__dict__)


def main(only: str = "", most: int = 12) -> None:
    os.chdir(ROOT)
    for name in ("numpy", "pyarrow", "pandas", "duckdb", "scipy.stats", "numba", "hypothesis", "pytest"):
        importlib.import_module(name)  # once, here, and not in every child
    for module, files in TESTED.items():
        if module.endswith(only):
            tests = (f"tests/test_doctests.py::test_examples_of[{module}]", *files)
            source = (ROOT / "src" / (module.replace(".", "/") + ".py")).read_text()
            begun = time.monotonic()
            assert not killed(module, source, tests, 600), f"{module}: its tests fail without any change"
            limit = SECONDS + 4 * (time.monotonic() - begun)
            found = list(mutants(source))
            chosen = sorted(random.Random(1).sample(found, min(most, len(found))))
            alive = [
                (line, what) for line, what, changed in chosen if not killed(module, changed, tests, limit)
            ]
            print(
                f"{module}: {len(chosen) - len(alive)} of {len(chosen)} noticed ({len(found)} possible)",
                flush=True,
            )
            for line, what in alive:
                print(f"  line {line}: {what}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:3]))
