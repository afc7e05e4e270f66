"""What every test may use: the folder of public data, and a key that is nobody's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sudare.data.keys import Key


def absent(what: str) -> None:
    """An absent optional part: a skipped test with one clear line, a failure where everything is required."""
    if os.environ.get("SUDARE_REQUIRE_ALL"):
        pytest.fail(f"required here, but absent: {what}")
    pytest.skip(f"absent: {what}")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of public data sets."""
    folder = os.environ.get("SUDARE_DATA")
    if not folder or not Path(folder).is_dir():
        absent("public data (set SUDARE_DATA)")
    return Path(folder or "")


@pytest.fixture(scope="session")
def key() -> Key:
    return Key.demo(1)


@pytest.fixture(autouse=True, scope="session")
def own_key_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Nothing a test does may touch the key or the ledger of the person who runs it."""
    home = tmp_path_factory.mktemp("home")
    os.environ["SUDARE_KEY"] = str(home / "sudare.key")
    os.environ["XDG_DATA_HOME"] = str(home)
