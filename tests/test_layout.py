"""The arrows of import go one way, and the public names are the ones we promised."""

from __future__ import annotations

import ast
import graphlib
import subprocess
import sys
from pathlib import Path

import pytest

import sudare

SRC = Path(sudare.__file__).parent
MIDDLE = ("risk", "disclosure", "cost", "methods", "attacks", "utility", "estimate", "policy")
GROUND = ("engine", "keys", "data", "examples")
ALLOWED = {
    "examples": {"examples"},
    "data": {"data", "examples"},
    "keys": {"keys", "data"},
    "engine": set(GROUND),
    "risk": {"risk", *GROUND},
    "disclosure": {"disclosure", *GROUND},
    "cost": {"cost", *GROUND},
    "policy": {"policy", "risk", "disclosure", *GROUND},
    "methods": {"methods", "cost", "disclosure", *GROUND},
    "attacks": {"attacks", "methods", *GROUND},
    "utility": {"utility", "estimate", *GROUND},
    "estimate": {"estimate", *GROUND},
    "loop": {"loop", *MIDDLE, *GROUND},
    "report": {"report", "loop", *MIDDLE, *GROUND},
    "reproduction": {"reproduction", "report", "loop", *MIDDLE, *GROUND},
    "cli": {"cli", "studio", "report", "reproduction", "loop", *MIDDLE, *GROUND},
    "studio": {"studio", "report", "loop", *MIDDLE, *GROUND},
}
HOMES = sudare._HOMES
FLOOR = {
    "budget",
    "errors",
    "constraints",
    "parameters",
    "refusals",
    "progress",
    "results",
    "registry",
    "charts",
    "callable_package",
    "version",
}


def imports(file: Path) -> set[tuple[str, int]]:
    """The rooms that a file imports, with the line; imports for type checking only do not count."""
    tree = ast.parse(file.read_text("utf-8"))
    typing_only = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in ast.walk(block)
    }
    found = set()
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sudare"):
            parts = (node.module or "").split(".")
            rooms = [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]
            found |= {(room, node.lineno) for room in rooms}
        if isinstance(node, ast.Import):
            found |= {(a.name.split(".")[1], node.lineno) for a in node.names if a.name.startswith("sudare.")}
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sudare":
            found.add((HOMES.get(node.attr, node.attr).partition(".")[0], node.lineno))  # sudare.anonymize
    return found


@pytest.mark.parametrize("room", ALLOWED)
def test_arrows_of_import_go_one_way(room: str) -> None:
    wrong = [
        f"{file.relative_to(SRC)}:{line} imports {imported}"
        for file in (SRC / room).rglob("*.py")
        for imported, line in imports(file)
        if imported not in ALLOWED[room] | FLOOR
    ]
    assert wrong == []


PUBLIC = """
    open risk disclosure plan anonymize attack utility estimate posterior workload check compare report
    Dataset Hierarchy Key Recipe Release Roles methods attacks cost __version__
    DataError MissingPart PolicyError SudareError SudareWarning UsageError
""".split()


def test_the_public_names_are_these_and_no_others() -> None:
    assert sorted(sudare.__all__) == sorted(PUBLIC)
    assert dir(sudare) == sorted(sudare.__all__)
    assert all(hasattr(sudare, name) for name in PUBLIC)
    assert all(callable(getattr(sudare, verb)) for verb in PUBLIC[:13])


def test_no_room_is_imported_by_a_room_that_it_imports() -> None:
    graph = {
        room: {imported for file in (SRC / room).rglob("*.py") for imported, _ in imports(file)}
        for room in ALLOWED
    }
    graph |= {name: {imported for imported, _ in imports(SRC / f"{name}.py")} for name in FLOOR}
    try:
        graphlib.TopologicalSorter({room: found - {room} for room, found in graph.items()}).prepare()
    except graphlib.CycleError as error:
        pytest.fail(f"a cycle of imports: {' <- '.join(error.args[1])}")


# Files that still ask which engine a table is on. The list only gets shorter.
def test_nothing_outside_engine_and_data_asks_which_engine_a_table_is_on() -> None:
    files = [f for f in SRC.rglob("*.py") if f.relative_to(SRC).parts[0] not in ("engine", "data")]
    asking = {
        f.relative_to(SRC).as_posix() for f in files if _asks_for_the_engine(ast.parse(f.read_text("utf-8")))
    }
    assert asking == set(), "ask the engine's protocol instead"


def _asks_for_the_engine(tree: ast.AST) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node).startswith("hasattr(release"):
            return True
        if any(
            name.startswith(("pyspark", "sudare.data.readers.spark", "sudare.engine.spark"))
            for name in _imported(node)
        ):
            return True
        if any(
            isinstance(part, ast.Attribute) and part.attr in ("engine", "view") for part in _compared(node)
        ):
            return True
    return False


def _compared(node: ast.AST) -> list[ast.expr]:
    """What a condition looks at."""
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return [node.operand]
    return [node.subject] if isinstance(node, ast.Match) else [node.test] if hasattr(node, "test") else []


def test_a_table_on_a_laptop_imports_nothing_of_spark(tmp_path: Path) -> None:
    rows = "".join(f"p{i},{20 + i % 3},{100 + i % 2},{1000 + 7 * i}\n" for i in range(10))
    (tmp_path / "people.csv").write_text(f"name,age,zip,pay\n{rows}", "utf-8")
    code = """
import sys, sudare
ds = sudare.open("people.csv", identifier="name", quasi=["age", "zip"], sensitive="pay")
release = sudare.anonymize(ds, sudare.methods.Mondrian(k=2), key=bytes(range(32)))
sudare.risk(ds), sudare.attack(ds, release), sudare.utility(ds, release)
print([name for name in sys.modules if "spark" in name])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_a_verb_stays_a_verb_whatever_was_imported_before() -> None:
    import sudare.risk.formulas
    import sudare.utility

    assert callable(sudare.risk)
    assert callable(sudare.utility)


def test_import_of_sudare_is_light() -> None:
    heavy = "duckdb ibis numba pandas pyarrow scipy altair numpy rich".split()
    code = f"import sys, sudare; print([m for m in {heavy!r} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_a_small_table_is_measured_without_what_only_large_ones_need() -> None:
    heavy = "ibis numba numpy pandas pyarrow scipy altair".split()
    code = (
        "import sys; from sudare.cli.main import run; run(['risk', 'example:purchases', '--user', 'user']); "
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert said.splitlines()[-1] == "[]"


def test_a_file_is_measured_without_a_module_of_spark() -> None:
    code = (
        "import sys, sudare; ds = sudare.open('example:purchases', user='user', quasi=['date', 'price']); "
        "sudare.risk(ds, release=ds, truth=range(ds.rows)); sudare.disclosure(ds); sudare.plan(ds, 'goods'); "
        "import sudare.estimate.measure; "
        "print([m for m in sys.modules if 'spark' in m and m.startswith(('sudare', 'pyspark'))])"
    )
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    assert ran.stdout.strip() == "[]", ran.stderr


def test_rooms_list_what_is_registered_and_say_it_in_whole_sentences():
    import sudare.attacks
    import sudare.methods
    import sudare.utility
    from sudare.registry import all_of, summary

    for kind, room in (("method", sudare.methods), ("attack", sudare.attacks), ("metric", sudare.utility)):
        known = all_of(kind)
        verb = ["utility"] if kind == "metric" else []
        assert dir(room) == [*sorted(cls.__name__ for cls in known.values()), *verb]
        assert all(summary(cls).endswith(".") for cls in known.values())


def test_only_the_download_of_public_data_and_the_local_servers_know_the_network() -> None:
    clients = "urllib.request http.client socket requests httpx aiohttp ftplib smtplib".split()
    users = {
        file.relative_to(SRC).as_posix()
        for file in SRC.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        for name in _imported(node)
        if name in clients
    }
    assert users == {"data/readers/publishers.py", "engine/spark/cluster.py", "studio/server.py"}


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []
