"""Files are written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import sudare
from sudare.data.writers import FORMATS, replacing, write_json, write_table
from sudare.errors import UsageError

TABLE = pa.table({"a": ["x", "=1+1", None], "b": [1, 2, 3]})


@pytest.mark.parametrize("suffix", FORMATS)
def test_what_is_written_is_read_back(tmp_path: Path, suffix: str) -> None:
    write_table(TABLE, tmp_path / f"t{suffix}")
    assert sudare.open(tmp_path / f"t{suffix}").to_pyarrow().to_pydict() == TABLE.to_pydict()


def test_a_failed_write_leaves_the_old_file_and_no_temporary(tmp_path: Path) -> None:
    target = tmp_path / "t.json"
    write_json({"old": 1}, target)
    with pytest.raises(RuntimeError), replacing(target) as part:
        part.write_text("half")
        raise RuntimeError
    assert '"old"' in target.read_text()
    assert [p.name for p in tmp_path.iterdir()] == ["t.json"]


def test_two_writers_of_the_same_file_do_not_meet(tmp_path: Path) -> None:
    with replacing(tmp_path / "t.json") as part:
        part.write_text("first")
        with pytest.raises(UsageError, match="another run"), replacing(tmp_path / "t.json"):
            pass
    assert (tmp_path / "t.json").read_text() == "first"


def test_links_folders_and_unknown_endings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path / "other.csv")
    (tmp_path / "d.csv").mkdir()
    for name in ("link.csv", "d.csv", "t.doc", "none/t.csv"):
        with pytest.raises(UsageError):
            write_table(TABLE, tmp_path / name)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_formulas_are_escaped_on_request_and_counted(tmp_path: Path, suffix: str) -> None:
    assert write_table(TABLE, tmp_path / f"t{suffix}", escape_formulas=True) == 1
    assert sudare.open(tmp_path / f"t{suffix}").to_pyarrow()["a"].to_pylist() == ["x", "'=1+1", None]
