"""The house in numbers, for docs/decisions: `python tests/house.py [src/sudare]`."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

QUESTION = re.compile(
    r"\.view is (?:not )?None|\.engine (?:==|!=|in) |hasattr\(release|isinstance\(.*SparkRelease"
)


def measured(src: Path) -> dict[str, str]:
    """Files and lines, what is typed loosely, imported late, or asks where a table lives."""
    files = sorted(src.rglob("*.py"))
    texts = {file.relative_to(src).as_posix(): file.read_text("utf-8") for file in files}
    trees = {name: ast.parse(text) for name, text in texts.items()}
    arguments = [a for tree in trees.values() for a in _arguments(tree)]
    loose = [a for a in arguments if a.annotation is not None and ast.unparse(a.annotation) == "Any"]
    late, early = (sum(_imports(tree, inside) for tree in trees.values()) for inside in (True, False))
    twins = [name for name in texts if _is_twin(name)]
    outside = {name: text for name, text in texts.items() if not name.startswith(("engine/", "data/"))}
    asked = {name: len(QUESTION.findall(text)) for name, text in outside.items()}
    where = f"{sum(asked.values())} in {sum(map(bool, asked.values()))} files"
    lengths = sorted(length for tree in trees.values() for length in _lengths(tree))
    return {
        "files": f"{len(files)}",
        "lines": f"{sum(text.count(chr(10)) for text in texts.values()):,}",
        "of them examples in docstrings": f"{sum(_examples(tree) for tree in trees.values()):,}",
        "lines of Spark outside engine/ and data/": f"{sum(texts[name].count(chr(10)) for name in twins):,}",
        "questions for the engine outside engine/ and data/": where,
        "arguments typed as bare Any": f"{len(loose) / len(arguments):.1%}",
        "imports inside functions": f"{late / (late + early):.1%}",
        "function length, median / p90 / p99": " / ".join(
            str(lengths[int(share * (len(lengths) - 1))]) for share in (0.5, 0.9, 0.99)
        ),
        "functions above 50 lines": f"{sum(n > 50 for n in lengths) / len(lengths):.1%}",
    }


def _is_twin(name: str) -> bool:
    return "spark" in Path(name).name and not name.startswith(("engine/", "data/"))


def _arguments(tree: ast.AST) -> list[ast.arg]:
    functions = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    listed = [[*f.args.posonlyargs, *f.args.args, *f.args.kwonlyargs] for f in functions]
    return [a for arguments in listed for a in arguments if a.arg not in ("self", "cls")]


def _imports(tree: ast.AST, inside: bool) -> int:
    functions = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    within = {id(n) for f in functions for n in ast.walk(f) if isinstance(n, (ast.Import, ast.ImportFrom))}
    return sum(
        (id(node) in within) == inside
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom)) and "__future__" not in ast.unparse(node)
    )


def _lengths(tree: ast.AST) -> list[int]:
    return [
        (n.end_lineno or n.lineno) - n.lineno + 1
        for n in ast.walk(tree)
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]


def _examples(tree: ast.AST) -> int:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = [ast.get_docstring(n) or "" for n in ast.walk(tree) if isinstance(n, kinds)]
    blocks = [re.findall(r"(?:^\s*(?:>>>|\.\.\.).*\n?(?:^(?!\s*>>>)\s*\S.*\n?)*)+", t, re.M) for t in texts]
    return sum(block.strip().count("\n") + 1 for found in blocks for block in found)


if __name__ == "__main__":
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "src" / "sudare"
    for what, value in measured(root).items():
        print(f"{what:<52} {value}")
