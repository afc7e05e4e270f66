"""Faults of machine and people, 41 to 48; 46 (Spark), and 47 in the middle of a run, stand with their engines."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from servers import PASSWORD, find_postgres, running_postgres

Run = Callable[..., Any]
fault = pytest.mark.fault
CALL = "t.parquet --user user --quasi x,y -r r.toml -o out.csv --truth truth.parquet --demo".split()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table that takes a while to write, and an older release that must survive."""
    draw = np.random.default_rng(1)
    table = {
        "user": [f"Canary{i}" for i in range(150_000)],
        "x": draw.random(150_000),
        "y": draw.random(150_000),
    }
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    (tmp_path / "r.toml").write_text('[[step]]\nmethod = "pseudonymize"\n')
    (tmp_path / "out.csv").write_text("the older release\n")
    return tmp_path


def start(folder: Path, **options: Any) -> subprocess.Popen[str]:
    env = {**os.environ, "TMPDIR": str(folder / "tmp"), **options.pop("env", {})}
    (folder / "tmp").mkdir(exist_ok=True)
    command = [sys.executable, "-m", "sudare.cli.main", "anonymize", *CALL]
    return subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True, **options)


def parts(folder: Path) -> list[str]:
    return [p.name for p in folder.iterdir() if "sudare-part" in p.name]


def wait_for_part(folder: Path, process: subprocess.Popen[str]) -> None:
    _wait_for(lambda: bool(parts(folder)), process)


def _wait_for(happened: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 120
    while not happened() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.001)


def stop_while_writing(folder: Path) -> subprocess.Popen[str]:
    """A run that stands still in the middle of a write: its temporary is there, its output is not."""
    process = start(folder)
    wait_for_part(folder, process)
    process.send_signal(signal.SIGSTOP)
    assert process.poll() is None, process.communicate()
    assert parts(folder), "the run was faster than the signal"
    return process


@fault(41, "a kill during a write leaves the old file, and nothing after the next run")
def test_41(folder: Path, sudare: Run) -> None:
    process = stop_while_writing(folder)
    process.kill()
    process.wait()
    assert parts(folder), "the temporary of a killed run"
    assert all((folder / name).stat().st_mode & 0o077 == 0 for name in parts(folder)), "for its owner only"
    assert (folder / "out.csv").read_text() == "the older release\n"
    sudare("anonymize", *CALL, env={"TMPDIR": str(folder / "tmp")}).works()
    assert parts(folder) == []
    assert list((folder / "tmp").iterdir()) == []
    assert (folder / "truth.parquet").stat().st_mode & 0o777 == 0o600


@fault(42, "a full disk leaves the old file and no temporary")
def test_42(folder: Path) -> None:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    process = start(folder, preexec_fn=limit)
    _, err = process.communicate(timeout=240)
    assert process.returncode == 3, err
    assert "Traceback" not in err
    assert "cannot be written" in err
    assert (folder / "out.csv").read_text() == "the older release\n"
    assert parts(folder) == []


@fault(42, "a full disk leaves the old file and no temporary")
@pytest.mark.parametrize("kind", ["csv", "parquet", "xlsx", "arrow"])
def test_42_on_a_small_disk(tmp_path: Path, kind: str) -> None:
    """A real disk of 200 kB in a namespace of its own; where that is not allowed, files of 200 kB at most."""
    (tmp_path / "disk").mkdir()
    script = f"""
import sys
import numpy as np, pyarrow as pa
from pathlib import Path
from sudare.data.files.writers import write_table
from sudare.errors import DataError
folder = Path("disk")
(folder / "out.{kind}").write_text("the older release")
draw = np.random.default_rng(1)
try:
    write_table(pa.table({{"x": draw.random(30_000), "y": draw.random(30_000)}}), folder / "out.{kind}")
except DataError as error:
    print(error)
assert (folder / "out.{kind}").read_text() == "the older release"
assert [p.name for p in folder.iterdir()] == ["out.{kind}"]
"""
    (tmp_path / "script.py").write_text(script)
    mount = f"mount -t tmpfs -o size=200k tmpfs disk && exec {sys.executable} script.py"
    limit = f"trap '' XFSZ; ulimit -f 200; exec {sys.executable} script.py"
    allowed = subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode == 0
    command = ["unshare", "-rm", "sh", "-c", mount] if allowed else ["bash", "-c", limit]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "cannot be written" in done.stdout
    assert "0." not in done.stdout, "no cell"


@fault(43, "a folder that cannot be written to")
def test_43(folder: Path, sudare: Run) -> None:
    (folder / "tmp").mkdir()
    folder.chmod(0o555)
    done = sudare("anonymize", *CALL, env={"TMPDIR": str(folder / "tmp")}, humble=True)
    folder.chmod(0o755)
    done.fails(3, "cannot be written")
    assert (folder / "out.csv").read_text() == "the older release\n"


@fault(44, "Ctrl-C: exit 130, temporaries gone")
@pytest.mark.parametrize("moment", ["early", "while writing"])
def test_44(folder: Path, moment: str) -> None:
    process = start(folder) if moment == "early" else stop_while_writing(folder)
    if moment == "early":
        _wait_for(lambda: any(p.is_dir() for p in (folder / "tmp").iterdir()), process)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert err.splitlines()[-1] == "error: stopped"
    assert "Traceback" not in err
    assert parts(folder) == []
    assert list((folder / "tmp").iterdir()) == []
    assert (folder / "out.csv").read_text() == "the older release\n"
    assert not (folder / "truth.parquet").exists()


@fault(45, "two runs on the same output: the second says so")
def test_45(folder: Path, sudare: Run) -> None:
    from sudare.data.files.unit import replacing

    with replacing(folder / "out.csv"):
        sudare("anonymize", *CALL).fails(2, "another run")


@fault(47, "the database goes away: exit code 3")
@pytest.mark.postgres
def test_47(postgres_server: Any, sudare: Run) -> None:
    with running_postgres(find_postgres()) as server:
        with server.connect() as connection:
            connection.execute(
                "CREATE TABLE t AS SELECT n % 7 AS who, 'Canary' AS x FROM generate_series(1, 9) n"
            )
        call = ("risk", server.url, "--table", "t", "--user", "who")
        sudare(*call, env={"PGPASSWORD": PASSWORD}).works()
        server.stop()
        sudare(*call, env={"PGPASSWORD": PASSWORD}).fails(3, "127.0.0.1", secret=PASSWORD)


@fault(48, "threads, row order and format change nothing in the metrics")
def test_48(folder: Path, sudare: Run) -> None:
    """Also in sums of fractions: whoever adds them up in the order of the rows gets another last digit."""
    import pyarrow.csv

    rng = np.random.default_rng(2)
    table = pa.table(
        {
            "user": [f"u{i % 70}" for i in range(900)],
            "x": [i % 17 for i in range(900)],
            "y": rng.lognormal(3, 1, 900).round(2),
            "z": rng.normal(170, 9, 900),
        }
    )
    for name, order in (("a", np.arange(900)), ("b", rng.permutation(900))):
        pq.write_table(table.take(order), folder / f"{name}.parquet")
        noisy = table.set_column(3, "z", pa.array(table["z"].to_numpy() + 0.1))
        pq.write_table(noisy.take(order[::-1]), folder / f"{name}-release.parquet")
    pyarrow.csv.write_csv(pq.read_table(folder / "b.parquet"), folder / "b.csv")
    calls = {
        ("risk", "--user", "user", "--combine", "2", "--attacker", "bayes"): "",
        ("disclosure", "--identifier", "user", "--quasi", "x,z", "--sensitive", "y"): "",
        ("utility", "--user", "user", "--quasi", "x", "--sensitive", "y,z"): "release",
    }
    for (command, *options), second in calls.items():
        results = set()
        for name, threads in (("a.parquet", 1), ("a.parquet", 2), ("b.parquet", 2), ("b.csv", 1)):
            files = [name, f"{name[0]}-release.parquet"] if second else [name]
            call = (command, *files, *options, "--format", "json")
            shown = json.loads(sudare(*call, env={"SUDARE_THREADS": str(threads)}).works().out)
            results.add(json.dumps(shown["rows"]))
        assert len(results) == 1, command
    shutil.rmtree(folder / "tmp", ignore_errors=True)
