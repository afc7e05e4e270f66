"""Work in a process of its own: pages never wait for it, progress is watched, cancelling ends the process."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sudare import progress as stages
from sudare.errors import SudareError

Tasks = Mapping[str, Callable[..., Any]]


@dataclass
class Job:
    """One piece of work as the pages see it."""

    task: str
    title: str
    arguments: Mapping[str, Any]
    state: str = "running"
    step: str = "starting"
    done: float = 0
    total: int = 1
    result: Any = None
    error: str = ""

    def to_dict(self) -> dict[str, Any]:
        """What the page is told while it waits."""
        share = 1.0 if self.state == "done" else self.done / max(self.total, 1)
        return {
            "state": self.state,
            "step": self.step,
            "share": share,
            "error": self.error,
            "title": self.title,
        }


class Worker:
    """A process that runs one task at a time and remembers tables between tasks."""

    def __init__(self, module: str) -> None:
        self.module = module
        self._lock = threading.Lock()
        self._process: Any = None
        self._pipe: Any = None
        self.job: Job | None = None

    def start(self, task: str, title: str, arguments: Mapping[str, Any]) -> Job:
        """Begin a task; one that is running is ended first."""
        with self._lock:
            if self.job is not None and self.job.state == "running":
                self._end("cancelled")
            self._ready()
            job = self.job = Job(task, title, dict(arguments))
            self._pipe.send((task, dict(arguments)))
            threading.Thread(target=self._watch, args=(job, self._pipe), daemon=True).start()
            return job

    def cancel(self) -> None:
        """End the running task at once."""
        with self._lock:
            if self.job is not None and self.job.state == "running":
                self._end("cancelled")

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._end("cancelled")

    def _ready(self) -> None:
        if self._process is None or not self._process.is_alive():
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs, self.module), daemon=True)
            self._process.start()
            theirs.close()

    def _end(self, state: str) -> None:
        if self.job is not None and self.job.state == "running":
            self.job.state = state
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = self._pipe = None

    def _watch(self, job: Job, pipe: Any) -> None:
        """Take down what the process says until its task is over."""
        try:
            while job.state == "running":
                kind, *rest = pipe.recv()
                if kind == "progress":
                    job.step, job.done, job.total = rest
                elif kind == "done":
                    job.result, job.state = rest[0], "done"
                else:
                    job.error, job.state = rest[0], "failed"
        except (EOFError, OSError):
            if job.state == "running":
                job.error = "the work stopped unexpectedly, perhaps for want of memory; try a smaller table"
                job.state = "failed"


def _serve(pipe: Any, module: str) -> None:
    """The process: wait for a task, run it, say how it went; ends when the pages do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.setpgid(0, 0)
    from importlib import import_module

    tasks: Tasks = import_module(module).TASKS
    while True:
        try:
            task, arguments = pipe.recv()
        except (EOFError, OSError):
            return
        with contextlib.suppress(BrokenPipeError, OSError):
            pipe.send(_run(tasks[task], pipe, arguments))


class Teller:
    """Tells the pages how far the work is: its steps, and the stages that rooms report inside a step."""

    def __init__(self, pipe: Any) -> None:
        stages.stage("")
        self.pipe = pipe
        self.step = ("starting", 0, 1)
        self.lock = threading.Lock()
        self.over = threading.Event()
        threading.Thread(target=self._follow, daemon=True).start()

    def __call__(self, step: str, done: int, total: int) -> None:
        stages.stage("")
        self.step = (step, done, total)
        self._tell(step, done)

    def _follow(self) -> None:
        last = ""
        while not self.over.wait(0.2):
            now = stages.current()
            if now and now != last:
                step, done, _ = self.step
                self._tell(f"{step}: {now}", done + stages.part())
            last = now

    def _tell(self, text: str, done: float) -> None:
        with self.lock, contextlib.suppress(OSError):
            if not self.over.is_set():
                self.pipe.send(("progress", text, done, self.step[2]))

    def stop(self) -> None:
        """Nothing is told after this."""
        with self.lock:
            self.over.set()


def _run(task: Callable[..., Any], pipe: Any, arguments: dict[str, Any]) -> tuple[str, Any]:
    import warnings

    progress = Teller(pipe)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return "done", task(progress=progress, **arguments)
    except SudareError as error:
        return "failed", str(error)
    except MemoryError:
        return "failed", "not enough memory for this table"
    except Exception as error:
        name = type(error).__name__
        return "failed", f"sudare failed unexpectedly ({name}); run the command in a terminal with --debug"
    finally:
        progress.stop()
