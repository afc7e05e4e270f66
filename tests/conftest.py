"""What every test may use: the folder of public data, and a key that is nobody's."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from servers import PostgresServer, find_postgres, running_postgres
from sudare.keys import Key

if TYPE_CHECKING:
    from sudare.engine.spark.cluster import Cluster


# no test asserts a wall-clock time, hypothesis neither; CI draws the same examples every time, everybody else new ones
settings.register_profile("sudare", deadline=None, derandomize=bool(os.environ.get("SUDARE_REQUIRE_ALL")))
settings.load_profile("sudare")


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
    os.environ["XDG_STATE_HOME"] = str(home / "state")


@pytest.fixture(scope="session")
def spark_cluster() -> Iterator[Cluster]:
    """A real standalone cluster on loopback: a master and two workers, each a process of its own."""
    if not shutil.which("java"):
        absent("Java 17 (for Spark)")
    try:
        import pyspark  # noqa: F401
    except ImportError:
        absent("pyspark (pip install 'sudare[spark]')")
    from sudare.engine.spark.cluster import cluster

    with cluster(workers=2) as running:
        yield running


@pytest.fixture(scope="session")
def spark(spark_cluster: Cluster) -> Iterator[Any]:
    """The session of the tests on that cluster."""
    session = spark_cluster.session(
        **{"spark.shuffle.io.maxRetries": "1", "spark.shuffle.io.retryWait": "1s"}
    )
    yield session
    session.stop()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A real Postgres server on loopback with its own data folder, run by an unprivileged user."""
    binaries = find_postgres()
    if binaries is None:
        absent("Postgres server binaries (apt-get install postgresql)")
    with running_postgres(binaries) as server:
        yield server
