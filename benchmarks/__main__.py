"""Run the benchmarks, each module in a process of its own, and write the results and their page.

python -m benchmarks [--only risk] [--work 'by the kernel'] [--size small|full] [--page]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator

from benchmarks import page, results
from benchmarks.one import MODULES
from benchmarks.work import Row


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", choices=MODULES, help="one module")
    parser.add_argument("--work", default="", help="only works with this in their name")
    parser.add_argument(
        "--size", choices=("small", "full"), default="full", help="small: a look, nothing is written"
    )
    parser.add_argument(
        "--page", action="store_true", help="measure nothing; write the pages from results.json"
    )
    given = parser.parse_args()
    failed: list[str] = []
    unequal: list[str] = []
    for module in [] if given.page else [given.only] if given.only else MODULES:
        for row in run(module, given.size, given.work, failed):
            print(page.line(row), flush=True)
            if row.get("same") is False:
                unequal.append(f"{row['work']}, {row['size']:,} {row['unit']}")
            if given.size == "full":
                results.keep(row)
                page.write(results.load())
    if given.page:
        found = results.load()
        page.write(found | {"rows": [results.judged(row) for row in found["rows"]]})
    for module in failed:
        print(f"{module}: stopped; its message is above", file=sys.stderr)
    for work in unequal:
        print(f"{work}: the two sides computed different answers", file=sys.stderr)
    return 1 if failed or unequal else 0


def run(module: str, size: str, work: str, failed: list[str]) -> Iterator[Row]:
    """The rows of a module as they come from its process; the name goes to `failed` if that ends badly."""
    command = [sys.executable, "-m", "benchmarks.one", module, size, work]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield from (json.loads(text) for text in process.stdout if text.startswith("{"))
    if process.returncode:
        failed.append(module)


if __name__ == "__main__":
    sys.exit(main())
