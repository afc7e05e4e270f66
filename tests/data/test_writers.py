"""Files are written whole or not at all."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

import sudare
from sudare.data.files.unit import replacing
from sudare.data.files.writers import FORMATS, write_json, write_table
from sudare.errors import SudareError, UsageError

TABLE = pa.table({"a": ["x", "=1+1", None], "b": [1, 2, 3]})


@pytest.mark.parametrize("suffix", FORMATS)
def test_what_is_written_is_read_back(tmp_path: Path, suffix: str) -> None:
    write_table(TABLE, tmp_path / f"t{suffix}")
    assert sudare.open(tmp_path / f"t{suffix}").to_pyarrow().to_pydict() == TABLE.to_pydict()


def test_a_failed_write_leaves_the_old_file_and_no_temporary(tmp_path: Path) -> None:
    target = tmp_path / "t.json"
    write_json({"old": 1}, target)
    with pytest.raises(RuntimeError), replacing(target) as part:
        part.write(b"half")
        raise RuntimeError
    assert '"old"' in target.read_text()
    assert [p.name for p in tmp_path.iterdir()] == ["t.json"]


def test_a_stop_before_the_temporary_is_guarded_leaves_none(tmp_path: Path) -> None:
    """Ctrl-C may come between any two steps; here it comes when the temporary was made and not yet open for writing."""
    code = (
        "import os\nfrom sudare.data.files.writers import write_text\n"
        "def stop(handle, *rest):\n"
        "    if '.sudare-part' not in os.readlink(f'/proc/self/fd/{handle}'): return fdopen(handle, *rest)\n"
        "    assert [name.endswith('.sudare-part') for name in os.listdir()] == [True]; raise KeyboardInterrupt\n"
        "os.fdopen, fdopen = stop, os.fdopen\n"
        "try: write_text('x', 'out.csv')\nexcept KeyboardInterrupt: print('stopped')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "stopped\n", done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("umask", "mode"), [("022", 0o644), ("077", 0o600), ("002", 0o644)])
def test_a_file_is_as_open_as_the_user_wants_his_files(tmp_path: Path, umask: str, mode: int) -> None:
    code = "from sudare.data.files.writers import write_json; write_json({}, 't.json')"
    done = subprocess.run(
        ["sh", "-c", f'umask {umask}; exec "$0" -c "$1"', sys.executable, code], cwd=tmp_path
    )
    assert done.returncode == 0
    assert (tmp_path / "t.json").stat().st_mode & 0o777 == mode


def test_two_writers_of_the_same_file_do_not_meet(tmp_path: Path) -> None:
    with replacing(tmp_path / "t.json") as part:
        part.write(b"first")
        with pytest.raises(UsageError, match="another run"), replacing(tmp_path / "t.json"):
            pass
    assert (tmp_path / "t.json").read_text() == "first"


def test_links_folders_and_unknown_endings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path / "other.csv")
    (tmp_path / "d.csv").mkdir()
    for name in ("link.csv", "d.csv", "t.doc", "none/t.csv"):
        with pytest.raises(UsageError):
            write_table(TABLE, tmp_path / name)


def test_a_sheet_keeps_what_it_would_change(tmp_path: Path) -> None:
    moment = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    columns = {
        "id": [2**53 + 1],
        "at": [moment],
        "sum": [Decimal("1234567890123456.78")],
        "x": [float("inf")],
    }
    write_table(pa.table(columns), tmp_path / "t.xlsx")
    assert sudare.open(tmp_path / "t.xlsx").to_pyarrow().to_pylist() == [
        {"id": str(2**53 + 1), "at": "2020-01-01T00:00:00+00:00", "sum": "1234567890123456.78", "x": "inf"}
    ]


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"a": ["Canary\x01"]}),
        pa.table({"a\x01": ["Canary"]}),
        pa.table({"a": ["Canary" * 6000]}),
        pa.table({"a": pa.nulls(1_048_576, pa.string())}),
    ],
)
def test_what_a_sheet_cannot_hold_is_refused(tmp_path: Path, table: pa.Table) -> None:
    with pytest.raises(SudareError, match=r"write \.csv or \.parquet") as caught:
        write_table(table, tmp_path / "t.xlsx")
    assert "Canary" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_formulas_are_escaped_on_request_and_counted(tmp_path: Path, suffix: str) -> None:
    assert write_table(TABLE, tmp_path / f"t{suffix}", escape_formulas=True) == 1
    assert sudare.open(tmp_path / f"t{suffix}").to_pyarrow()["a"].to_pylist() == ["x", "'=1+1", None]
