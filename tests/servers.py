"""A Postgres server for the time of a test run: its own folder and port, on loopback, by an unprivileged user."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PASSWORD = "a password of the tests"
SETTINGS = {
    "fsync": "off",
    "shared_buffers": "32MB",
    "max_connections": "20",
    "listen_addresses": "127.0.0.1",
}


@dataclass
class PostgresServer:
    """A running server; `url` has no password, which comes from the environment as it should."""

    port: int
    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"postgres://sudare@127.0.0.1:{self.port}/postgres"

    def connect(self) -> Any:
        import psycopg

        return psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            user="sudare",
            password=PASSWORD,
            dbname="postgres",
            autocommit=True,
        )

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)  # fast shutdown
        self.process.wait(20)


def find_postgres() -> Path | None:
    """The folder of the server's binaries."""
    folders = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    found = shutil.which("initdb")
    folders += [Path(found).parent] if found else []
    return next((f for f in folders if (f / "initdb").exists() and (f / "postgres").exists()), None)


@contextmanager
def running_postgres(binaries: Path) -> Iterator[PostgresServer]:
    folder = Path(tempfile.mkdtemp(prefix="sudare-postgres-"))
    secret = folder / "password"
    secret.write_text(PASSWORD)
    as_user = _unprivileged(folder)
    data = folder / "data"
    initialise = [
        "-D",
        str(data),
        "-U",
        "sudare",
        f"--pwfile={secret}",
        "--auth=scram-sha-256",
        "-E",
        "UTF8",
        "--no-sync",
    ]
    subprocess.run([str(binaries / "initdb"), *initialise], check=True, capture_output=True, **as_user)
    port = _free_port()
    options = [f"-c{name}={value}" for name, value in SETTINGS.items()]
    command = [str(binaries / "postgres"), "-D", str(data), "-p", str(port), "-k", str(folder), *options]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, **as_user)
    server = PostgresServer(port, folder, process)
    try:
        _wait(server)
        yield server
    finally:
        if process.poll() is None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged(folder: Path) -> dict[str, Any]:
    """Postgres refuses to run as root: root lends the folder to nobody."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    for path in (folder, *folder.iterdir()):
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _wait(server: PostgresServer, seconds: float = 60) -> None:
    import psycopg

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            server.connect().close()
            return
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise RuntimeError((server.folder / "log").read_text())


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
