"""Files and units, 55 to 64: a release is one unit, and one locked layer writes it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare as library
from sudare.data.files.outputs import check_apart
from sudare.data.files.unit import sweep, writing
from sudare.data.published import Published
from sudare.errors import SudareError, UsageError
from sudare.keys import Key
from sudare.keys.ledger import Ledger

Run = Callable[..., Any]
fault = pytest.mark.fault
TABLE = "t.csv --user user --quasi x --other y".split()
UNIT = ("out.csv", "out.csv.sudare.json", "truth.parquet")
KILLS = int(os.environ.get("SUDARE_KILLS", "30"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = "".join(f"Canary{i},{i % 7},{i}\n" for i in range(60))
    (tmp_path / "t.csv").write_text("user,x,y\n" + rows)
    (tmp_path / "r.toml").write_text('[[step]]\nmethod = "pseudonymize"\n')
    (tmp_path / "other.toml").write_text(
        '[[step]]\nmethod = "pseudonymize"\n\n[[step]]\nmethod = "suppress"\ncolumns = ["y"]\n'
    )
    return tmp_path


def anonymize(
    recipe: str = "r.toml", out: object = "out.csv", truth: object = "truth.parquet"
) -> list[object]:
    return ["anonymize", *TABLE, "-r", recipe, "-o", out, "--truth", truth, "--demo"]


def belong_together(folder: Path) -> None:
    """Release, card and truth are of one unit."""
    Published.of(library.open(folder / "out.csv"), folder / "truth.parquet")
    assert json.loads((folder / "out.csv.sudare.json").read_text())["sha256"]


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in UNIT}


def leftovers(folder: Path) -> list[str]:
    return [p.name for p in folder.iterdir() if "sudare-part" in p.name]


@fault(55, "an output that is another one, or an input, in another spelling is refused")
@pytest.mark.parametrize(
    "spelling", ["{folder}/out.csv", "sub/../out.csv", "link/out.csv", "out.csv.sudare.json"]
)
def test_an_output_is_known_in_every_spelling(folder: Path, sudare: Run, spelling: str) -> None:
    (folder / "sub").mkdir()
    (folder / "link").symlink_to(folder)
    sudare(*anonymize()).works()
    before = contents(folder)
    same = spelling.format(folder=folder)
    sudare(*anonymize(truth=same)).fails(2, "different files")
    measured = ["report", *TABLE, "out.csv", "--truth", "truth.parquet", "-f", "md"]
    sudare(*measured, "-o", same).fails(2, "is also the input")
    sudare("risk", *TABLE, "--release", "out.csv", "--chart", same).fails(2, "is also the input")
    assert contents(folder) == before


@fault(55, "an output that is another one, or an input, in another spelling is refused")
def test_outputs_that_are_not_there_yet_are_compared_too(folder: Path, sudare: Run) -> None:
    (folder / "link").symlink_to(folder)
    sudare(*anonymize(out="new.csv", truth="link/new.csv")).fails(2, "different files")
    assert not (folder / "new.csv").exists()
    check_apart(folder / "a.csv", folder / "b.csv")
    with pytest.raises(UsageError):
        check_apart(folder / "a.csv", folder / "b.csv", folder / "link" / "a.csv")


@fault(56, "a truth or a card of another release is refused")
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_truth_belongs_to_its_release(folder: Path, sudare: Run, ending: str) -> None:
    sudare(*anonymize(truth=f"truth.{ending}")).works()
    sudare(*anonymize("other.toml", "second.csv", f"second-truth.{ending}")).works()
    calls = (
        ["attack", *TABLE, "out.csv", "--truth"],
        ["utility", *TABLE, "out.csv", "--truth"],
        ["risk", *TABLE, "--release", "out.csv", "--truth"],
        ["report", *TABLE, "out.csv", "-o", "r.md", "--truth"],
    )
    for call in calls:
        sudare(*call, f"second-truth.{ending}").fails(2, "belongs to another release", secret="Canary")
    assert not (folder / "r.md").exists()
    sudare(*calls[1], f"truth.{ending}").works()


@fault(56, "a truth or a card of another release is refused")
def test_a_card_belongs_to_its_release(folder: Path, sudare: Run) -> None:
    sudare(*anonymize()).works()
    sudare(*anonymize("other.toml", "second.csv", "second-truth.csv")).works()
    shutil.copy(folder / "second.csv.sudare.json", folder / "out.csv.sudare.json")
    for call in (
        ["check", "out.csv", "--quasi", "x", "--preset", "k5"],
        ["attack", *TABLE, "out.csv", "--truth", "truth.parquet"],
        ["risk", *TABLE, "--release", "out.csv"],
    ):
        sudare(*call).fails(3, "card beside it belongs to another release", secret="Canary")


@fault(56, "a truth or a card of another release is refused")
@pytest.mark.filterwarnings("ignore:S-FORMULA")
@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow", "xlsx"])
def test_a_release_is_known_in_every_format(tmp_path: Path, key: Key, ending: str) -> None:
    table = {
        "a": ["1.50", "007", "=1"],
        "b": [1.0, 2.0, None],
        "c": [True, False, True],
        "day": ["2020-01-01"] * 3,
    }
    ds = library.open(pa.table(table), quasi=["a"], other=["b", "c", "day"])
    release = library.anonymize(ds, library.methods.Round(column="b", to=1), key=key)
    release.save(tmp_path / "first.parquet", truth=tmp_path / "truth.csv")
    release.save(tmp_path / f"second.{ending}", escape_formulas=ending in ("csv", "xlsx"))
    copy = Published.of(library.open(tmp_path / f"second.{ending}"), tmp_path / "truth.csv")
    assert copy.rows is not None
    assert copy.rows.tolist() == release.rows.tolist()


@fault(56, "a truth or a card of another release is refused")
def test_a_truth_without_a_digest_is_taken_at_its_word(folder: Path, sudare: Run) -> None:
    sudare(*anonymize()).works()
    rows = pq.read_table(folder / "truth.parquet").replace_schema_metadata(None)
    pq.write_table(rows, folder / "old.parquet")
    sudare("utility", *TABLE, "out.csv", "--truth", "old.parquet").works()


CRASH = """
import json, os, pathlib, sys
from sudare.data.files.unit import sweep, writing
from sudare.errors import SudareError
NAMES = ("a", "b", "sub/c")
WATCHED = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "shutil.rmtree", "fcntl.flock"}

def attempt(count, end):  # the unit is written, and ended at this operation on files; whether that came at all
    calls = 0
    def step(event="os.fsync", arguments=()):
        nonlocal calls
        calls += event in WATCHED or event == "os.fsync"
        if calls == count and (event in WATCHED or event == "os.fsync"):
            calls += 1
            if end == "kill": os._exit(9)
            raise KeyboardInterrupt if end == "stop" else OSError(28, "No space left on device")
    fsync, os.fsync = os.fsync, lambda handle: step() or fsync(handle)
    sys.addaudithook(step)
    try:
        with writing(*NAMES) as unit:
            for name in NAMES:
                with unit.file(name) as file: file.write(b"new")
    except (SudareError, KeyboardInterrupt): pass
    return calls >= count

def forked(work):
    child = os.fork()
    if child == 0:
        import atexit
        code = 7
        try: code = work()
        finally:
            atexit._run_exitfuncs()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

seen = {"old": 0, "new": 0}
for count in range(1, 1000):
    for name in NAMES: pathlib.Path(name).write_text("old")
    code = forked(lambda: 9 if attempt(count, sys.argv[1]) else 0)
    assert code in (0, 9), (count, code)
    if code == 0: break
    sweep()
    found = {pathlib.Path(name).read_text() for name in NAMES}
    assert len(found) == 1, (count, found)
    assert not [*pathlib.Path().rglob("*sudare-part*")], count
    seen[found.pop()] += 1
print(json.dumps(seen))
"""


@fault(57, "a kill, a full disk or Ctrl-C leaves all files of a unit old, or all new")
@pytest.mark.parametrize("end", ["kill", "stop", "error"])
def test_a_unit_that_ends_at_any_operation_is_whole(tmp_path: Path, end: str) -> None:
    """One after another, every opening, renaming, removing, locking and syncing of a file is the last one."""
    (tmp_path / "sub").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", CRASH, end], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["old"] > 20
    assert seen["new"] > 3


@fault(57, "a kill, a full disk or Ctrl-C leaves all files of a unit old, or all new")
def test_a_unit_that_somebody_else_replaced_is_not_mixed_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run is killed between two renames; another user, who does not see its journal, writes the same files."""
    crash = (
        "import os; from sudare.data.files.unit import writing\n"
        "replace = os.replace\n"
        "def second(part, target):\n"
        "    if target.endswith('/b'): os._exit(9)\n"
        "    replace(part, target)\n"
        "with writing('a', 'b') as unit:\n"
        "    for name in 'ab':\n"
        "        with unit.file(name) as file: file.write(b'first')\n"
        "    os.replace = lambda part, target: second(str(part), str(target))\n"
    )
    subprocess.run([sys.executable, "-c", crash], cwd=tmp_path, check=False)
    assert (tmp_path / "a").read_text() == "first"
    mine = os.environ["XDG_STATE_HOME"]
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state of another user"))
    with writing(tmp_path / "a", tmp_path / "b") as unit:
        for name in "ab":
            with unit.file(tmp_path / name) as file:
                file.write(b"second")
    monkeypatch.setenv("XDG_STATE_HOME", mine)
    sweep()
    assert [(tmp_path / name).read_text() for name in "ab"] == ["second", "second"]
    assert not leftovers(tmp_path)


@fault(57, "a kill, a full disk or Ctrl-C leaves all files of a unit old, or all new")
@pytest.mark.parametrize("most", [1, 1000, 4096])
def test_a_full_disk_leaves_the_old_unit(folder: Path, sudare: Run, most: int) -> None:
    """No file of the run may get longer than so many bytes: the release, the card or the truth fails."""
    sudare(*anonymize()).works()
    before = contents(folder)
    script = (
        "import resource, signal, sys; from sudare.cli.main import run\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most}))\n"
        "sys.exit(run(sys.argv[1:]))"
    )
    (folder / "t.csv").write_text("user,x,y\n" + "".join(f"Canary{i},{i % 7},{i}\n" for i in range(9000)))
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, anonymize())],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 3, done.stderr
    assert "cannot be written (File too large)" in done.stderr
    assert "Traceback" not in done.stderr
    sweep()
    assert contents(folder) == before
    assert not leftovers(folder)


@fault(57, "a kill, a full disk or Ctrl-C leaves all files of a unit old, or all new")
@pytest.mark.parametrize("written", [0, 1, 2])
def test_a_unit_that_ends_before_it_is_whole_leaves_the_old_one(tmp_path: Path, written: int) -> None:
    names = ("a", "b", "c")
    for name in names:
        (tmp_path / name).write_text("old")
    with pytest.raises(SudareError), writing(*(tmp_path / name for name in names)) as unit:
        for name in names[:written]:
            with unit.file(tmp_path / name) as file:
                file.write(b"new")
        raise OSError(28, "No space left on device")
    assert [(tmp_path / name).read_text() for name in names] == ["old"] * 3
    assert not leftovers(tmp_path)


@fault(57, "a kill, a full disk or Ctrl-C leaves all files of a unit old, or all new")
def test_kills_at_random_times_tear_no_unit(folder: Path) -> None:
    """SUDARE_KILLS says how often a run is killed; `make faults` does it 200 times."""
    command = [sys.executable, Path(__file__).with_name("kills.py"), folder, str(KILLS), "57"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "unexpectedly" not in done.stderr
    seen = json.loads(done.stdout)
    assert sum(seen.values()) == KILLS
    assert set(seen) == {"first", "second"}


@fault(58, "many writers of one output: one wins whole, the others say so")
@pytest.mark.parametrize("writers", [6, 20])
def test_many_writers_of_one_output_mix_nothing(tmp_path: Path, writers: int) -> None:
    script = """
import sys, time
from pathlib import Path
from sudare.data.files.unit import writing
from sudare.errors import SudareError
Path(f"ready{sys.argv[1]}").touch()
while not Path("go").exists(): time.sleep(0.001)
try:
    with writing("a", "b") as unit:
        for name in ("a", "b"):
            with unit.file(name) as file: file.write(sys.argv[1].encode() * 100_000)
        while len(list(Path().glob("said*"))) < int(sys.argv[2]) - 1: time.sleep(0.001)
except SudareError as error:
    Path(f"said{sys.argv[1]}").touch()
    print(error); sys.exit(error.exit_code)
"""
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", script, f"{n:02}", str(writers)],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(writers)
    ]
    while len(list(tmp_path.glob("ready*"))) < writers:
        time.sleep(0.01)
    (tmp_path / "go").touch()
    told = [run.communicate(timeout=120)[0] for run in runs]
    assert sorted(run.returncode for run in runs) == [0] + [2] * (writers - 1)
    assert sum("another run is writing it" in text for text in told) == writers - 1
    winner = next(n for n, run in enumerate(runs) if run.returncode == 0)
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text() == f"{winner:02}" * 100_000


@fault(58, "many writers of one output: one wins whole, the others say so")
def test_who_comes_second_hears_it_before_any_work(folder: Path) -> None:
    command = [sys.executable, "-m", "sudare.cli.main", *map(str, anonymize())]
    runs = [subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    told = [run.communicate(timeout=240)[1] for run in runs]
    codes = [run.returncode for run in runs]
    assert set(codes) <= {0, 2}
    assert 0 in codes
    assert all("another run" in text for code, text in zip(codes, told) if code == 2)
    belong_together(folder)


@fault(59, "eight writers of one ledger: eight entries, one secret")
def test_a_ledger_forgets_no_writer(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from sudare.keys import Key
from sudare.keys.ledger import Ledger
key = Key.demo(1); ledger = Ledger(Path("sudare-ledger.json"))
print(ledger.secret().fingerprint)
ledger.check(key, f"column {sys.argv[1]}", "domain", [1] * 128)
"""
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(n)], cwd=tmp_path, stdout=subprocess.PIPE, text=True
        )
        for n in range(8)
    ]
    secrets = {run.communicate(timeout=120)[0] for run in runs}
    assert [run.returncode for run in runs] == [0] * 8
    assert len(secrets) == 1
    found = json.loads((tmp_path / "sudare-ledger.json").read_text())
    assert len(found["releases"]) == 8
    assert stat.S_IMODE((tmp_path / "sudare-ledger.json").stat().st_mode) == 0o600


@fault(59, "eight writers of one ledger: eight entries, one secret")
def test_a_check_enters_the_release_in_the_same_step(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "sudare-ledger.json")
    ledger.check(Key.demo(1), "ill", "domain", [1] * 128)
    with pytest.raises(UsageError, match="already randomised"):
        ledger.check(Key.demo(2), "ill", "domain", [1] * 128)


@fault(60, "what has people in it is for its owner only, whatever the umask")
@pytest.mark.parametrize("umask", ["022", "277"])
def test_files_about_people_are_private(folder: Path, umask: str) -> None:
    def run(*arguments: object) -> None:
        command = [sys.executable, "-m", "sudare.cli.main", *map(str, arguments)]
        subprocess.run(
            ["sh", "-c", f'umask {umask}; exec "$@"', "sh", *command],
            cwd=folder,
            check=True,
            capture_output=True,
        )

    run(*anonymize())
    run("disclosure", *TABLE, "--records", "records.csv")
    run("report", *TABLE, "-o", "internal.md")
    run("report", *TABLE, "-o", "external.md", "--audience", "external")
    for name in ("truth.parquet", "records.csv", "internal.md"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600, name
    if umask == "022":
        assert stat.S_IMODE((folder / "external.md").stat().st_mode) == 0o644


FULL = """
import os, sys
from sudare.cli.main import run
fsync = os.fsync
def full(handle):
    if "own.key" in os.readlink(f"/proc/self/fd/{handle}"): raise OSError(28, "No space left on device")
    fsync(handle)
os.fsync = full
sys.exit(run(sys.argv[1:]))
"""


@fault(61, "a key that cannot be written leaves nothing")
def test_a_failed_first_key_leaves_no_empty_one(folder: Path, sudare: Run) -> None:
    keys, call = folder / "keys", anonymize()[:-1]
    env = {"SUDARE_KEY": str(keys / "own.key")}
    command = [sys.executable, "-c", FULL, *map(str, call)]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **env}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert "your key cannot be written (No space left on device)" in done.stderr
    assert list(keys.iterdir()) == []
    sudare(*call, env=env).works()
    assert Key.load(keys / "own.key")


@fault(61, "a key that cannot be written leaves nothing")
def test_a_key_is_never_replaced(tmp_path: Path) -> None:
    made = Key.new().save(tmp_path / "k")
    with pytest.raises(FileExistsError):
        Key.new().save(tmp_path / "k")
    assert Key.load(tmp_path / "k").secret == made.secret
    assert os.listdir(tmp_path) == ["k"]


@fault(62, "whatever ends a run, the next start of any command removes its temporaries")
@pytest.mark.parametrize("end", [signal.SIGHUP, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("command", ["anonymize", "studio"])
def test_the_next_start_sweeps(folder: Path, sudare: Run, end: signal.Signals, command: str) -> None:
    temporary = folder / "tmp"
    temporary.mkdir()
    env = {"TMPDIR": str(temporary)}
    code = (
        "import sys, time; from sudare.data.files.private import private_folder\n"
        "(private_folder() / 'rows').write_text('Canary')\nfrom sudare.data.files.unit import writing\n"
        "with writing('out.csv') as unit, unit.file('out.csv') as file:\n"
        "    file.write(b'Canary'); file.flush(); print('ready', flush=True); time.sleep(600)"
    )
    studio = [sys.executable, "-m", "sudare.cli.main", "studio", "t.csv", "--no-browser"]
    process = subprocess.Popen(
        studio if command == "studio" else [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, **env},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    assert all(stat.S_IMODE(p.stat().st_mode) == 0o700 for p in temporary.rglob("*") if p.is_dir())
    assert [p.name for p in temporary.iterdir()] == [f"sudare-{os.getuid()}"]
    process.send_signal(end)
    process.communicate(timeout=60)
    sudare("methods", env=env).works()
    assert list(temporary.iterdir()) == []
    assert not leftovers(folder)


@fault(62, "whatever ends a run, the next start of any command removes its temporaries")
def test_a_start_with_another_place_for_temporaries_sweeps_the_first(folder: Path, sudare: Run) -> None:
    (folder / "first").mkdir()
    script = (
        "import os; from sudare.data.files.private import private_folder\n"
        "(private_folder() / 'rows').write_text('Canary'); os._exit(9)"
    )
    env = {**os.environ, "TMPDIR": str(folder / "first")}
    subprocess.run([sys.executable, "-c", script], env=env, check=False)
    assert list((folder / "first").rglob("rows"))
    sudare("methods").works()
    assert not list((folder / "first").iterdir())


@fault(62, "temporaries of a living process are not swept")
def test_what_a_living_process_has_is_left_alone(folder: Path, sudare: Run) -> None:
    script = (
        "import sys; from sudare.data.files.private import private_folder\n"
        "(private_folder() / 'rows').write_text('Canary'); print(private_folder(), flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    rows = Path(process.stdout.readline().strip()) / "rows"
    sudare("methods").works()
    assert rows.read_text() == "Canary"
    process.communicate("")
    assert not rows.parent.exists()


@fault(62, "nothing is swept through a link, or in a folder of somebody else")
def test_a_link_in_the_place_of_temporaries_is_not_followed(folder: Path, sudare: Run) -> None:
    home, temporary = folder / "home", folder / "tmp"
    for path in (home / "documents", home / ("0" * 32), temporary):
        path.mkdir(parents=True)
    (temporary / f"sudare-{os.getuid()}").symlink_to(home)
    sudare("methods", env={"TMPDIR": str(temporary)}).works()
    sudare("risk", "t.csv", env={"TMPDIR": str(temporary)}).fails(2, "belongs to somebody else")
    assert sorted(p.name for p in home.iterdir()) == ["0" * 32, "documents"]


@fault(62, "a hang-up or a request to end is Ctrl-C: 130, and nothing is left")
@pytest.mark.parametrize("end", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_asked_to_end_takes_everything_back(folder: Path, end: signal.Signals) -> None:
    temporary = folder / "tmp"
    temporary.mkdir()
    with (folder / "t.csv").open("a") as file:
        file.writelines(f"Canary{i},{i % 7},{i}\n" for i in range(3_000_000))
    process = subprocess.Popen(
        [sys.executable, "-m", "sudare.cli.main", *map(str, anonymize())],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(temporary)},
        stderr=subprocess.PIPE,
        text=True,
    )
    while not leftovers(folder) and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(end)
    told = process.communicate(timeout=120)[1]
    assert process.returncode == 130, told
    assert "Traceback" not in told
    assert not list(temporary.iterdir())
    assert sorted(p.name for p in folder.iterdir()) == ["other.toml", "r.toml", "t.csv", "tmp"]


@fault(63, "a key that is no small file is refused at once")
@pytest.mark.parametrize("kind", ["zero", "pipe", "large", "text"])
def test_a_key_is_a_small_file(folder: Path, sudare: Run, kind: str) -> None:
    path = Path("/dev/zero") if kind == "zero" else folder / "keys"
    if kind == "pipe":
        os.mkfifo(path, 0o600)
    elif kind in ("large", "text"):
        path.touch(0o600)
        with path.open("r+b") as file:
            file.truncate(1 << 30 if kind == "large" else 100)
    call = [*anonymize()][:-1]
    sudare(*call, "--key", path, timeout=60).fails(2, "not a key file")
    sudare("key", "show", path, timeout=60).fails(2, "not a key file")


@fault(64, "an output folder that does not exist: refused before any work")
def test_a_missing_folder_is_said_before_any_work(folder: Path, sudare: Run) -> None:
    own = {"SUDARE_KEY": str(folder / "keys" / "own.key")}
    for call in (
        anonymize(out="none/out.csv")[:-1],
        anonymize(truth="none/truth.csv")[:-1],
        ["report", *TABLE, "-o", "none/r.md"],
        ["disclosure", *TABLE, "--records", "none/r.csv"],
        ["risk", *TABLE, "--chart", "none/r.svg"],
    ):
        sudare(*call, env=own).fails(2, "none: no such folder; make it first")
    assert not (folder / "none").exists()
    assert not (folder / "keys").exists(), "no key was made"
    with contextlib.suppress(FileNotFoundError):
        assert not (folder / "out.csv").exists()
