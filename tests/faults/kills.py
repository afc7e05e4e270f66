"""Kill `sudare anonymize` at random times, again and again: `python kills.py FOLDER TIMES SEED`.

Two recipes take turns in writing one unit; whatever ends them, the unit is one of the two. Every run is a fork of this
process, which has imported everything and opened nothing, so that a kill costs a tenth of a second.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import sudare
from sudare.cli import main
from sudare.data.files.unit import sweep
from sudare.data.published import Published

CALL = "anonymize t.csv --user user --quasi x --other y -o out.csv --truth truth.parquet --demo -r".split()
ENDS = (signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(times: int, seed: int) -> dict[str, int]:
    """How often the unit was the one of each recipe after a kill; anything else is an error."""
    draw, seen = random.Random(seed), Counter[str]()
    _in_child(_first_time)
    for name in json.loads(Path("modules").read_text()):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for number in range(times):
        recipes = draw.sample(("r.toml", "other.toml"), 2)
        child = _fork(functools.partial(_write_for_ever, recipes))
        _wait(draw, to_a_part=number % 2 == 0)
        _end(child, draw.choice(ENDS), draw)
        seen[_in_child(_look)] += 1
    return dict(seen)


def _first_time() -> int:
    """One run, which tells what has to be imported."""
    code = main.run([*CALL, "r.toml"])
    Path("modules").write_text(json.dumps(list(sys.modules)))
    return code


def _write_for_ever(recipes: list[str]) -> int:
    main._stop_on_signals()
    while True:
        for recipe in recipes:
            if code := main.run([*CALL, recipe]):
                return code


def _wait(draw: random.Random, *, to_a_part: bool) -> None:
    until = time.monotonic() + draw.random() * 0.4
    while time.monotonic() < until and not (to_a_part and parts()):
        time.sleep(0.0005)
    time.sleep(draw.random() * 0.03 if to_a_part else 0)


def _end(child: int, number: signal.Signals, draw: random.Random) -> None:
    """A signal that lets the process clear up is now and then followed by one that does not."""
    os.kill(child, number)
    until = time.monotonic() + (draw.random() * 0.02 if draw.random() < 0.5 else 10)
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.001)


def _look() -> int:
    """Which unit is there, 1 or 2; the process ends with an error if it is none, or if anything was left."""
    sweep()
    assert not parts(), "a temporary is left"
    release = sudare.open("out.csv")
    Published.of(release, "truth.parquet")
    assert (Path("truth.parquet").stat().st_mode & 0o777) == 0o600
    return 1 if "y" in release.columns else 2


def parts() -> list[Path]:
    return list(Path().glob(".*sudare-part*"))


def _fork(work: Callable[[], int]) -> int:
    child = os.fork()
    if child == 0:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        code = 9
        try:
            code = work()
        finally:
            sys.stdout.flush()
            import atexit

            atexit._run_exitfuncs()
            os._exit(code)
    return child


def _in_child(work: Callable[[], int]) -> str:
    _, status = os.waitpid(_fork(work), 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, 1, 2), f"the unit is torn ({code})"
    return ("made", "first", "second")[code]


if __name__ == "__main__":
    folder, times, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.chdir(folder)
    print(json.dumps(run(times, seed)))
