"""The studio's application: routes, the stream of events, own style and script, behind the door."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from functools import cache
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from sudare.errors import SudareError
from sudare.studio.frame import Frame
from sudare.studio.release_pages import ReleasePages
from sudare.studio.security import Door
from sudare.studio.session import Session
from sudare.studio.table_pages import TablePages

STATIC = {
    "sudare.css": "text/css",
    "report.js": "text/javascript",
    "studio.css": "text/css",
    "studio.js": "text/javascript",
    "studio-icon.svg": "image/svg+xml",
}


def create_app(session: Session, *, port: int, token: str) -> Door:
    """The application behind its door."""
    frame = Frame(session)
    work, table, release = WorkPages(frame), TablePages(frame), ReleasePages(frame)
    routes = [
        Route("/", table.file),
        Route("/choose", table.choose, methods=["POST"]),
        Route("/roles", table.roles, methods=["GET", "POST"]),
        Route("/risk", table.risk),
        Route("/risk/values", table.values),
        Route("/cost", table.cost, methods=["GET", "POST"]),
        Route("/recipe", release.recipe, methods=["GET", "POST"]),
        Route("/run", release.run, methods=["GET", "POST"]),
        Route("/result", release.result),
        Route("/download", release.download),
        Route("/download/{name}", release.file_of),
        Route("/cancel", work.cancel, methods=["POST"]),
        Route("/events", work.events),
        Route("/static/{name}", static),
    ]
    handlers: Any = {SudareError: work.refused, 404: work.unknown, 405: work.unknown}
    return Door(Starlette(routes=routes, exception_handlers=handlers), port=port, token=token)


class WorkPages:
    """Following and stopping work, and what is said when something is wrong."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    async def cancel(self, request: Request) -> Response:
        await asyncio.to_thread(self.frame.session.worker.cancel)
        return RedirectResponse(
            {"release": "/run"}.get(getattr(self.frame.session.worker.job, "task", ""), "/"), 303
        )

    async def events(self, request: Request) -> Response:
        return StreamingResponse(self._stream(request), media_type="text/event-stream")

    async def _stream(self, request: Request) -> AsyncIterator[str]:
        last = ""
        while not await request.is_disconnected():
            job = self.frame.session.worker.job
            told = json.dumps(job.to_dict() if job is not None else {"state": "none"})
            if told != last:
                yield f"data: {told}\n\n"
                last = told
            if job is None or job.state != "running":
                return
            await asyncio.sleep(0.15)

    async def refused(self, request: Request, error: Exception) -> Response:
        return self.frame.page("message.html.j2", "", status=400, text=str(error), link="/")

    async def unknown(self, request: Request, error: Exception) -> Response:
        return self.frame.page("message.html.j2", "", status=404, text="There is no such page.", link="/")


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


def folder_and_file(given: str | None) -> tuple[Path, str]:
    """The start folder and, if a file was named, the file below it."""
    if given is None or given.startswith("example:"):
        return Path.cwd(), given or ""
    path = Path(given)
    if path.is_dir():
        return path.resolve(), ""
    return path.resolve().parent, path.name
