"""What the studio knows of the one person who uses it: table, roles, recipe, results so far."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sudare.data.files.private import private_folder
from sudare.studio.tasks import Look, Shown, Source
from sudare.studio.worker import Job, Worker

STEPS = (
    ("file", "/", "Table"),
    ("roles", "/roles", "Roles"),
    ("risk", "/risk", "Risk"),
    ("cost", "/cost", "Cost"),
    ("recipe", "/recipe", "Recipe"),
    ("run", "/run", "Run"),
    ("result", "/result", "Before and after"),
    ("download", "/download", "Download"),
)
KS = tuple(range(2, 21))


@dataclass
class Session:
    """State in memory and a private temporary folder; both end with the studio."""

    folder: Path
    worker: Worker = field(default_factory=lambda: Worker("sudare.studio.tasks"))
    path: str = ""
    shown_path: str = ""
    roles: dict[str, str] = field(default_factory=dict)
    confirmed: bool = False
    look: Look | None = None
    steps: list[dict[str, Any]] = field(default_factory=list)
    k: int = 4
    value: str = ""
    attribute: str = ""
    results: dict[str, Shown] = field(default_factory=dict)
    runs: list[dict[str, Any]] = field(default_factory=list)
    context: dict[str, str] = field(default_factory=dict)
    policy: Mapping[str, Any] | None = None
    output: Path = field(
        default_factory=lambda: Path(tempfile.mkdtemp(dir=private_folder(), prefix="studio-"))
    )

    def choose(self, path: str, shown: str) -> None:
        """Another table: everything measured before is forgotten."""
        self.path, self.shown_path = path, shown
        self.roles, self.look, self.confirmed, self.value = {}, None, False, ""
        self.steps, self.runs = [], []
        self.forget()

    def forget(self) -> None:
        """Results of other roles or another table are gone, on disk too."""
        self.results = {}
        for file in self.output.iterdir():
            file.unlink()

    def assign(self, roles: Mapping[str, str]) -> None:
        """Roles as a person decided them."""
        if dict(roles) != self.roles or not self.confirmed:
            self.roles, self.confirmed = dict(roles), True
            self.forget()
            self.runs = []

    @property
    def source(self) -> Source:
        """The table with its roles, as the worker wants it."""
        named: dict[str, list[str]] = {}
        for column, role in self.roles.items():
            named.setdefault(role, []).append(column)
        return Source(self.path, tuple((role, tuple(names)) for role, names in sorted(named.items())))

    @property
    def toml(self) -> str:
        """The recipe as the file that `sudare anonymize` reads."""
        from sudare.methods.recipe import Recipe

        return Recipe.from_steps(self.steps).to_toml() if self.steps else ""

    def columns_of(self, *roles: str) -> list[str]:
        """The columns with one of these roles, in the order of the table."""
        return [column for column, role in self.roles.items() if role in roles]

    @property
    def user(self) -> str | None:
        return next(iter(self.columns_of("user")), None)

    def job_for(self, task: str) -> Job | None:
        """The job that works, or failed, on this task."""
        job = self.worker.job
        return job if job is not None and job.task == task else None

    def files(self) -> list[str]:
        """What can be downloaded."""
        return sorted(file.name for file in self.output.iterdir() if not file.name.startswith("."))

    def close(self) -> None:
        self.worker.close()
        shutil.rmtree(self.output, ignore_errors=True)
