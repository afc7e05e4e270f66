"""A real Spark cluster on one machine: a master and workers, each a process of its own, on loopback only."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sudare.data.files.private import private_folder
from sudare.data.readers.spark import session
from sudare.errors import DataError

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # short lives: start fast, compile little
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"


@dataclass
class Cluster:
    """The processes of a standalone cluster; `url` is its master, `workers` can be killed one by one."""

    url: str
    folder: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    cores: int = 1
    memory: str = "1g"

    @property
    def workers(self) -> list[subprocess.Popen[bytes]]:
        return self.processes[1:]

    def add_workers(self, number: int = 1) -> None:
        """More workers, started together; they are there when the master has registered them."""
        started = [self._start_worker() for _ in range(number)]
        for process, log in started:
            _wait_for(log, "Successfully registered with master", process)

    def _start_worker(self) -> tuple[subprocess.Popen[bytes], Path]:
        name = f"worker-{len(self.processes)}"
        log = self.folder / f"{name}.log"
        arguments = ["--cores", str(self.cores), "--memory", self.memory, "--host", "127.0.0.1"]
        arguments += ["--webui-port", "0", "--work-dir", str(self.folder / name), self.url]
        process = _start(WORKER, arguments, log)
        self.processes.append(process)
        return process, log

    def session(self, **settings: Any) -> Any:
        """A session on this cluster with one executor per worker, sized to fit."""
        small = {
            "spark.executor.memory": settings.pop("executor_memory", "512m"),
            "spark.driver.memory": settings.pop("driver_memory", "512m"),
            "spark.executor.cores": str(self.cores),
            "spark.executor.extraJavaOptions": QUICK,
            "spark.driver.extraJavaOptions": QUICK,
            "spark.sql.shuffle.partitions": "2",
            "spark.local.dir": str(self.folder / "spill"),
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"),
        }
        return session(self.url, **(small | settings))

    def stop(self) -> None:
        """End every process that was started here, workers first."""
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def cluster(workers: int = 2, *, cores: int = 1, memory: str = "1g") -> Iterator[Cluster]:
    """A cluster for the time of a `with` block."""
    folder = Path(tempfile.mkdtemp(dir=private_folder(), prefix="spark-"))
    port = _free_port()
    running = Cluster(f"spark://127.0.0.1:{port}", folder, cores=cores, memory=memory)
    try:
        arguments = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
        master = _start(MASTER, arguments, folder / "master.log")
        running.processes.append(master)
        _wait_for(folder / "master.log", "New state: ALIVE", master)
        running.add_workers(workers)
        yield running
    finally:
        running.stop()


def _start(role: str, arguments: list[str], log: Path) -> subprocess.Popen[bytes]:
    import pyspark

    script = Path(pyspark.__file__).parent / "bin" / "spark-class"
    variables = {
        **os.environ,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": QUICK,
        "SPARK_NO_DAEMONIZE": "1",
        "SPARK_LOG_DIR": str(log.parent),
    }
    with log.open("wb") as out:
        return subprocess.Popen([str(script), role, *arguments], env=variables, stdout=out, stderr=out)


def _wait_for(log: Path, sign: str, process: subprocess.Popen[bytes], seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if sign in log.read_text("utf-8", errors="replace"):
            return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise DataError(f"a Spark process did not start; see the log {log}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
