"""The studio's pages: one per step of the loop, rendered on the server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from sudare.data.roles import NAMES
from sudare.errors import SudareError
from sudare.studio import cards, files
from sudare.studio.lines import lines_for
from sudare.studio.security import Door
from sudare.studio.session import KS, STEPS, Session

if TYPE_CHECKING:
    from jinja2 import Environment

TITLES = {
    "look": "Looking at the table",
    "risk": "Measuring what the table gives away",
    "plan": "Estimating the cost",
    "values": "Looking at values",
    "release": "Making and attacking the release",
    "frontier": "Comparing recipes",
}
STATIC = {
    "sudare.css": "text/css",
    "report.js": "text/javascript",
    "studio.css": "text/css",
    "studio.js": "text/javascript",
    "studio-icon.svg": "image/svg+xml",
}
DOWNLOADS = {
    "release.parquet": ("The release (Parquet)", "what you publish"),
    "release.csv": ("The release (CSV)", "the same as text"),
    "release.parquet.sudare.json": (
        "The card beside it",
        "what a recipient needs to read it: recipe, roles, schema",
    ),
    "recipe.toml": ("The recipe", "for `sudare anonymize --recipe`"),
    "report.html": ("The report (internal)", "with the weakest people by row number; do not pass it on"),
    "report-external.html": ("The report (external)", "no count below 10 people"),
    "truth.parquet": ("The truth", "whoever has it can undo the release"),
}


def create_app(session: Session, *, port: int, token: str) -> Door:
    """The application behind its door."""
    pages = Pages(session)
    routes = [
        Route("/", pages.file),
        Route("/choose", pages.choose, methods=["POST"]),
        Route("/roles", pages.roles, methods=["GET", "POST"]),
        Route("/risk", pages.risk),
        Route("/risk/values", pages.values),
        Route("/cost", pages.cost, methods=["GET", "POST"]),
        Route("/recipe", pages.recipe, methods=["GET", "POST"]),
        Route("/run", pages.run, methods=["GET", "POST"]),
        Route("/result", pages.result),
        Route("/download", pages.download),
        Route("/download/{name}", pages.file_of),
        Route("/cancel", pages.cancel, methods=["POST"]),
        Route("/events", pages.events),
        Route("/static/{name}", static),
    ]
    handlers: Any = {SudareError: pages.refused, 404: pages.unknown, 405: pages.unknown}
    return Door(Starlette(routes=routes, exception_handlers=handlers), port=port, token=token)


class Pages:
    """The handlers; all state is in the session."""

    def __init__(self, session: Session) -> None:
        self.session = session

    async def file(self, request: Request) -> Response:
        found = await asyncio.to_thread(files.tables_below, self.session.folder)
        return self._page(
            "file.html.j2",
            "file",
            tables=found,
            examples=files.EXAMPLES,
            size_of=files.size_of,
            folder=self.session.folder,
        )

    async def choose(self, request: Request) -> Response:
        form = await _form(request)
        given = form.get("path", "")
        try:
            path = files.chosen(self.session.folder, given)
        except SudareError as error:
            found = await asyncio.to_thread(files.tables_below, self.session.folder)
            return self._page(
                "file.html.j2",
                "file",
                status=400,
                error=str(error),
                tables=found,
                examples=files.EXAMPLES,
                size_of=files.size_of,
                folder=self.session.folder,
            )
        self.session.choose(path, given)
        return RedirectResponse("/roles", 303)

    async def roles(self, request: Request) -> Response:
        session = self.session
        if not session.path:
            return self._first("roles", "Choose a table first.", "/")
        error = ""
        if request.method == "POST":
            form = await _form(request)
            error = self._assign(form)
            if not error:
                return RedirectResponse("/risk", 303)
        if session.look is None:
            waiting = self._wait("look", "roles", source=session.source)
            if waiting is not None:
                return waiting
            job = session.job_for("look")
            assert job is not None
            session.look = job.result
            session.roles = {g.column: g.role for g in job.result.guesses}
        return self._page(
            "roles.html.j2", "roles", look=session.look, roles=session.roles, names=NAMES, error=error
        )

    def _assign(self, form: Mapping[str, str]) -> str:
        look = self.session.look
        if look is None:
            return ""
        chosen = {g.column: form.get(f"role-{n}", g.role) for n, g in enumerate(look.guesses)}
        if any(role not in NAMES for role in chosen.values()):
            return "Choose one of the listed roles."
        users = [column for column, role in chosen.items() if role == "user"]
        if len(users) > 1:
            return f"Only one column can name the person; you chose {len(users)}."
        if not any(role in ("quasi", "sensitive") for role in chosen.values()):
            return "Call at least one column quasi or sensitive: otherwise there is nothing to measure."
        self.session.assign(chosen)
        return ""

    async def risk(self, request: Request) -> Response:
        return self._measured("risk", "risk", "risk.html.j2", source=self.session.source)

    async def values(self, request: Request) -> Response:
        session, attribute = self.session, request.query_params.get("attribute", "")
        if attribute not in session.roles:
            return self._first("risk", "Choose an attribute of the table.", "/risk")
        key = f"values:{attribute}"
        if key not in session.results:
            waiting = self._wait("values", "risk", source=session.source, attribute=attribute)
            if waiting is not None:
                return waiting
            job = session.job_for("values")
            assert job is not None
            session.results[key] = job.result
        return self._page("values.html.j2", "risk", shown=session.results[key], attribute=attribute)

    async def cost(self, request: Request) -> Response:
        session = self.session
        if not session.confirmed:
            return self._first("cost", "Decide on the roles first.", "/roles")
        if session.user is None:
            return self._page("cost.html.j2", "cost", shown=None, candidates=[])
        if request.method == "POST":
            form = await _form(request)
            self._take_cost(form)
            if form.get("next") == "recipe":
                self._start_recipe()
                return RedirectResponse("/recipe", 303)
            return RedirectResponse("/cost", 303)
        return self._measured(
            "plan",
            "cost",
            "cost.html.j2",
            source=session.source,
            value=session.value,
            ks=KS,
            candidates=session.columns_of("quasi", "sensitive"),
        )

    def _take_cost(self, form: Mapping[str, str]) -> None:
        session = self.session
        if form.get("k", "").isdigit():
            session.k = min(max(int(form["k"]), KS[0]), KS[-1])
        value = form.get("value", session.value)
        if value in session.columns_of("quasi", "sensitive") and value != session.value:
            session.value = value
            session.results.pop("plan", None)

    def _start_recipe(self) -> None:
        """A first recipe from the planned k, if there is none yet."""
        session = self.session
        if session.user is not None and session.value:
            rest = [s for s in session.steps if s["method"] != "dummy-records"]
            session.steps = [*rest, {"method": "dummy-records", "value": session.value, "k": session.k}]

    async def recipe(self, request: Request) -> Response:
        session = self.session
        if not session.confirmed:
            return self._first("recipe", "Decide on the roles first.", "/roles")
        error, form = "", {}
        if request.method == "POST":
            form = await _form(request)
            try:
                session.steps = self._changed(form)
                return RedirectResponse("/recipe", 303)
            except SudareError as wrong:
                error = str(wrong)
        return self._page(
            "recipe.html.j2",
            "recipe",
            status=400 if error else 200,
            families=cards.families(),
            steps=cards.described(session.steps),
            toml=form.get("toml") or self._toml(),
            columns=list(session.roles),
            error=error,
            tried=form.get("method", ""),
        )

    def _changed(self, form: Mapping[str, str]) -> list[dict[str, Any]]:
        from sudare.methods.recipe import Recipe

        session, action = self.session, form.get("action", "")
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
        return Recipe.from_steps(steps, where="recipe").to_steps() if steps else []

    def _toml(self) -> str:
        from sudare.methods.recipe import Recipe

        return Recipe.from_steps(self.session.steps).to_toml() if self.session.steps else ""

    async def run(self, request: Request) -> Response:
        session = self.session
        if not session.steps:
            return self._first("run", "Put at least one step into the recipe first.", "/recipe")
        if request.method == "POST":
            session.results.pop("release", None)
            session.results.pop("frontier", None)
            session.worker.start("release", TITLES["release"], self._release_arguments())
            return RedirectResponse("/run", 303)
        job = session.job_for("release")
        if job is not None and job.state == "running":
            return self._working(job, "run")
        if job is not None and job.state == "done":
            return RedirectResponse("/result", 303)
        failed = job.error if job is not None and job.state == "failed" else ""
        cancelled = job is not None and job.state == "cancelled"
        return self._page(
            "run.html.j2",
            "run",
            steps=cards.described(session.steps),
            toml=self._toml(),
            error=failed,
            cancelled=cancelled,
        )

    def _release_arguments(self) -> dict[str, Any]:
        session = self.session
        return {
            "source": session.source,
            "steps": session.steps,
            "folder": str(session.output),
            "context": session.context,
            "policy": dict(session.policy) if session.policy else None,
        }

    async def result(self, request: Request) -> Response:
        session = self.session
        if "release" not in session.results:
            job = session.job_for("release")
            if job is None or job.state != "done":
                return self._first("result", "Run the recipe first.", "/run")
            session.results["release"] = job.result
            session.runs.append(job.result.extra or {})
        if len(session.runs) > 1 and "frontier" not in session.results:
            waiting = self._wait("frontier", "result", runs=session.runs)
            if waiting is not None:
                return waiting
            job = session.job_for("frontier")
            assert job is not None
            session.results["frontier"] = job.result
        return self._page(
            "result.html.j2",
            "result",
            shown=session.results["release"],
            runs=session.runs,
            frontier=session.results.get("frontier"),
        )

    async def download(self, request: Request) -> Response:
        there = [name for name in DOWNLOADS if name in self.session.files()]
        if not there:
            return self._first("download", "Run the recipe first.", "/run")
        return self._page("download.html.j2", "download", there=there, told=DOWNLOADS)

    async def file_of(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in DOWNLOADS or name not in self.session.files():
            return self._page(
                "message.html.j2", "download", status=404, text="There is no such file yet.", link="/download"
            )
        return FileResponse(self.session.output / name, filename=name, media_type="application/octet-stream")

    async def cancel(self, request: Request) -> Response:
        await asyncio.to_thread(self.session.worker.cancel)
        return RedirectResponse(
            {"release": "/run"}.get(getattr(self.session.worker.job, "task", ""), "/"), 303
        )

    async def events(self, request: Request) -> Response:
        return StreamingResponse(self._stream(request), media_type="text/event-stream")

    async def _stream(self, request: Request) -> AsyncIterator[str]:
        last = ""
        while not await request.is_disconnected():
            job = self.session.worker.job
            told = json.dumps(job.to_dict() if job is not None else {"state": "none"})
            if told != last:
                yield f"data: {told}\n\n"
                last = told
            if job is None or job.state != "running":
                return
            await asyncio.sleep(0.15)

    async def refused(self, request: Request, error: Exception) -> Response:
        return self._page("message.html.j2", "", status=400, text=str(error), link="/")

    async def unknown(self, request: Request, error: Exception) -> Response:
        return self._page("message.html.j2", "", status=404, text="There is no such page.", link="/")

    def _measured(
        self, task: str, step: str, template: str, *, candidates: list[str] | None = None, **arguments: Any
    ) -> Response:
        session = self.session
        if not session.confirmed:
            return self._first(step, "Decide on the roles first.", "/roles")
        if task not in session.results:
            waiting = self._wait(task, step, **arguments)
            if waiting is not None:
                return waiting
            job = session.job_for(task)
            assert job is not None
            session.results[task] = job.result
            session.value = (job.result.extra or {}).get("value", session.value)
        return self._page(template, step, shown=session.results[task], candidates=candidates or [])

    def _wait(self, task: str, step: str, **arguments: Any) -> Response | None:
        """Start the work, show that it runs, or say what went wrong; None when its result is there."""
        session = self.session
        running = session.job_for("release")
        if running is not None and running.state == "running":
            return self._working(running, "run")
        job = session.job_for(task)
        if job is None or job.state == "cancelled" or job.arguments != arguments:
            job = session.worker.start(task, TITLES[task], arguments)
        if job.state == "done":
            return None
        if job.state == "failed":
            session.worker.job = None
            return self._page(
                "message.html.j2", step, status=400, text=job.error, link="/" if task == "look" else "/roles"
            )
        return self._working(job, step)

    def _working(self, job: Any, step: str) -> Response:
        return self._page("working.html.j2", step, job=job.to_dict())

    def _first(self, step: str, text: str, link: str) -> Response:
        return self._page("message.html.j2", step, text=text, link=link, empty=True)

    def _page(self, template: str, step: str, *, status: int = 200, **values: Any) -> Response:
        shared: dict[str, Any] = {"error": "", "empty": False, "session": self.session, "here": step}
        shared |= {"steps_of_loop": STEPS, "lines": lines_for(self.session, step)}
        return HTMLResponse(environment().get_template(template).render({**shared, **values}), status)


async def static(request: Request) -> Response:
    """Own style and script; nothing else is served from disk."""
    name = request.path_params["name"]
    if name not in STATIC:
        return Response("There is no such file.", 404)
    return Response(_asset(name), media_type=STATIC[name])


@cache
def _asset(name: str) -> str:
    from importlib import resources

    room = "sudare.studio" if name.startswith("studio") else "sudare.report"
    return resources.files(room).joinpath("static", name).read_text("utf-8")


@cache
def environment() -> Environment:
    """The report's templates and the studio's own, everything escaped."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    from sudare.report.html import safe_svg, sort_value
    from sudare.report.numbers import written

    made = Environment(
        loader=ChoiceLoader([PackageLoader("sudare.studio"), PackageLoader("sudare.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(written=written, sort_value=sort_value, safe_svg=safe_svg)
    return made


async def _form(request: Request) -> dict[str, str]:
    form = await request.form()
    return {name: str(value) for name, value in form.items()}


def folder_and_file(given: str | None) -> tuple[Path, str]:
    """The start folder and, if a file was named, the file below it."""
    if given is None or given.startswith("example:"):
        return Path.cwd(), given or ""
    path = Path(given)
    if path.is_dir():
        return path.resolve(), ""
    return path.resolve().parent, path.name
