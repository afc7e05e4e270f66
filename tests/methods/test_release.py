"""Release: what is written reads back, and the truth stays apart from it."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sudare
from sudare.data.truth import read_truth, write_truth
from sudare.errors import DataError
from sudare.methods import DummyRecords

KEY = bytes(range(32))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@given(rows=st.lists(st.integers(-1, 9), min_size=1, max_size=8))
def test_the_truth_reads_back_dummies_included(
    tmp_path_factory: pytest.TempPathFactory, ending: str, rows: list[int]
) -> None:
    path = tmp_path_factory.mktemp("truth") / f"truth.{ending}"
    write_truth(np.array(rows), path)
    assert read_truth(path) == [None if row < 0 else row for row in rows]


def test_a_release_with_dummies_is_attacked_by_its_files(tmp_path: Path) -> None:
    ds = sudare.open("example:purchases", user="user", quasi=["date", "time", "goods", "price", "number"])
    release = sudare.anonymize(ds, DummyRecords(value="goods", k=2), key=KEY)
    release.save(tmp_path / "out.csv", truth=tmp_path / "truth.csv")
    assert stat.S_IMODE((tmp_path / "truth.csv").stat().st_mode) == 0o600
    truth = read_truth(tmp_path / "truth.csv")
    assert truth == release.truth
    assert None in truth


def test_a_file_that_is_no_truth_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_truth(tmp_path / "nothing.parquet")
    (tmp_path / "other.csv").write_text("a\n1\n")
    with pytest.raises(DataError, match="not a truth file"):
        read_truth(tmp_path / "other.csv")
