"""Pages about the release: build the recipe, run it, compare, download."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response

from sudare.errors import SudareError
from sudare.studio import files
from sudare.studio import method_forms as cards
from sudare.studio.frame import TITLES, Frame, form_of

DOWNLOADS = {
    "release.parquet": ("The release (Parquet)", "what you publish"),
    "release.csv": ("The release (CSV)", "the same as text"),
    "release.parquet.sudare.json": (
        "The card beside the Parquet file",
        "what a recipient needs to read it: recipe, roles, schema",
    ),
    "release.csv.sudare.json": ("The card beside the CSV file", "the same for the text"),
    "recipe.toml": ("The recipe", "for `sudare anonymize --recipe`"),
    "report.html": ("The report (internal)", "with the weakest people by row number; do not pass it on"),
    "report-external.html": ("The report (external)", "no count below 10 people"),
    "truth.parquet": ("The truth", "whoever has it can undo the release"),
}


class ReleasePages:
    """The steps from the recipe to the files."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    async def recipe(self, request: Request) -> Response:
        """The steps, the cards, the recipe as text."""
        session = self.frame.session
        if not session.confirmed:
            return self.frame.first("recipe", "Decide on the roles first.", "/roles")
        error, form = "", {}
        if request.method == "POST":
            form = await form_of(request)
            try:
                session.steps = self._changed(form)
                return RedirectResponse("/recipe", 303)
            except SudareError as wrong:
                error = str(wrong)
        return self.frame.page(
            "recipe.html.j2",
            "recipe",
            status=400 if error else 200,
            families=cards.families(),
            steps=cards.described(session.steps),
            toml=form.get("toml") or session.toml,
            columns=list(session.roles),
            error=error,
            tried=form.get("method", ""),
            given=form,
        )

    def _changed(self, form: Mapping[str, str]) -> list[dict[str, Any]]:
        from sudare.methods.recipe import Recipe

        session, action = self.frame.session, form.get("action", "")
        place = int(form["place"]) if form.get("place", "").isdigit() else -1
        steps = list(session.steps)
        if action == "add":
            steps.append(cards.step_from(form))
        elif action == "remove" and 0 <= place < len(steps):
            steps.pop(place)
        elif action in ("up", "down"):
            steps = cards.moved(steps, place, -1 if action == "up" else 1)
        elif action == "toml":
            steps = cards.steps_from_toml(form.get("toml", ""))
        checked = Recipe.from_steps(steps, where="recipe").to_steps() if steps else []
        cards.check_columns(checked, list(session.roles))
        files.check_files(checked, session.folder)
        return checked

    async def run(self, request: Request) -> Response:
        """Start the work, show that it runs, say how it ended."""
        session = self.frame.session
        if not session.steps:
            return self.frame.first("run", "Put at least one step into the recipe first.", "/recipe")
        if request.method == "POST":
            session.results.pop("release", None)
            session.results.pop("frontier", None)
            session.worker.start("release", TITLES["release"], self._release_arguments())
            return RedirectResponse("/run", 303)
        job = session.job_for("release")
        if job is not None and job.state == "running":
            return self.frame.working(job, "run")
        if job is not None and job.state == "done" and "release" not in session.results:
            return RedirectResponse("/result", 303)
        failed = job.error if job is not None and job.state == "failed" else ""
        cancelled = job is not None and job.state == "cancelled"
        return self.frame.page(
            "run.html.j2",
            "run",
            steps=cards.described(session.steps),
            error=failed,
            cancelled=cancelled,
            seen="release" in session.results,
        )

    def _release_arguments(self) -> dict[str, Any]:
        session = self.frame.session
        return {
            "source": session.source,
            "steps": session.steps,
            "folder": str(session.output),
            "context": session.context,
            "policy": dict(session.policy) if session.policy else None,
        }

    async def result(self, request: Request) -> Response:
        """Before and after, and all recipes tried on one scale."""
        session = self.frame.session
        if "release" not in session.results:
            job = session.job_for("release")
            if job is None or job.state != "done":
                return self.frame.first("result", "Run the recipe first.", "/run")
            session.results["release"] = job.result
            session.runs.append(job.result.extra or {})
        if len(session.runs) > 1 and "frontier" not in session.results:
            waiting = self.frame.wait("frontier", "result", runs=session.runs)
            if waiting is not None:
                return waiting
            job = session.job_for("frontier")
            assert job is not None
            session.results["frontier"] = job.result
        return self.frame.page(
            "result.html.j2",
            "result",
            shown=session.results["release"],
            runs=session.runs,
            frontier=session.results.get("frontier"),
        )

    async def download(self, request: Request) -> Response:
        """The list of files, the truth apart."""
        there = [name for name in DOWNLOADS if name in self.frame.session.files()]
        if not there:
            return self.frame.first("download", "Run the recipe first.", "/run")
        return self.frame.page("download.html.j2", "download", there=there, told=DOWNLOADS)

    async def file_of(self, request: Request) -> Response:
        """One file of the private folder, by its known name."""
        name = request.path_params["name"]
        if name not in DOWNLOADS or name not in self.frame.session.files():
            return self.frame.page(
                "message.html.j2", "download", status=404, text="There is no such file yet.", link="/download"
            )
        return FileResponse(
            self.frame.session.output / name, filename=name, media_type="application/octet-stream"
        )
