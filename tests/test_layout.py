"""The arrows of import go one way, and the public names are the ones we promised."""

from __future__ import annotations

import ast
import re
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
    "attacks": {"attacks", *GROUND},
    "utility": {"utility", "estimate", *GROUND},
    "estimate": {"estimate", *GROUND},
    "loop": {"loop", *MIDDLE, *GROUND},
    "report": {"report", "loop", *MIDDLE, *GROUND},
    "reproduction": {"reproduction", "report", "loop", *MIDDLE, *GROUND},
    "cli": {"cli", "studio", "report", "reproduction", "loop", *MIDDLE, *GROUND},
    "studio": {"studio", "report", "loop", *MIDDLE, *GROUND},
}
FLOOR = {"errors", "parameters", "progress", "results", "registry", "charts", "callable_package", "version"}


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


def test_public_names_are_locked() -> None:
    verbs = "open risk disclosure plan anonymize attack utility estimate report".split()
    assert set(verbs) <= set(sudare.__all__)
    assert all(callable(getattr(sudare, verb)) for verb in verbs)
    assert all(hasattr(sudare, name) for name in sudare.__all__)


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


MEASURES = ("risk", "disclosure", "cost", "estimate", "policy")
WHERE_IT_LIVES = re.compile(
    r"\.view is (not )?None|\.engine (==|!=|in|not in)|hasattr\((release|ds)"
    r"|pyspark|readers\.spark|engine\.(duckdb|ibis|spark)"
)


@pytest.mark.parametrize("room", MEASURES)
def test_a_measure_does_not_ask_where_a_table_lives(room: str) -> None:
    asked = [
        f"{file.relative_to(SRC)}:{number}"
        for file in (SRC / room).rglob("*.py")
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if WHERE_IT_LIVES.search(line)
    ]
    assert asked == []


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
        assert dir(room) == sorted(cls.__name__ for cls in known.values())
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
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []
