"""What every page shares: the frame around it, and how it waits for work."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from sudare.studio.equivalent_commands import lines_for
from sudare.studio.session import STEPS, Session

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


# pages within a step of the loop
WITHIN = {"values": "risk"}


class Frame:
    """Renders pages, starts the work they need, and shows that it runs."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def measured(
        self, task: str, step: str, template: str, *, candidates: list[str] | None = None, **arguments: Any
    ) -> Response:
        """A page that shows one result, measured when it is first asked for."""
        session = self.session
        if not session.confirmed:
            return self.first(step, "Decide on the roles first.", "/roles")
        if task not in session.results:
            waiting = self.wait(task, step, **arguments)
            if waiting is not None:
                return waiting
            job = session.job_for(task)
            assert job is not None
            session.results[task] = job.result
            session.value = (job.result.extra or {}).get("value", session.value)
        return self.page(template, step, shown=session.results[task], candidates=candidates or [])

    def wait(self, task: str, step: str, **arguments: Any) -> Response | None:
        """Start the work, show that it runs, or say what went wrong; None when its result is there."""
        session = self.session
        running = session.job_for("release")
        if running is not None and running.state == "running":
            return self.working(running, "run")
        job = session.job_for(task)
        if job is None or job.state == "cancelled" or job.arguments != arguments:
            job = session.worker.start(task, TITLES[task], arguments)
        if job.state == "done":
            return None
        if job.state == "failed":
            session.worker.job = None
            return self.page(
                "message.html.j2", step, status=400, text=job.error, link="/" if task == "look" else "/roles"
            )
        return self.working(job, step)

    def working(self, job: Any, step: str) -> Response:
        """Progress, and a way to stop."""
        return self.page("working.html.j2", step, job=job.to_dict())

    def first(self, step: str, text: str, link: str) -> Response:
        """A page that comes too early: what to do first."""
        return self.page("message.html.j2", step, text=text, link=link, empty=True)

    def page(self, template: str, step: str, *, status: int = 200, **values: Any) -> Response:
        """A template in the frame."""
        here = WITHIN.get(step, step)
        shared: dict[str, Any] = {"error": "", "empty": False, "session": self.session, "here": here}
        shared |= {"steps_of_loop": STEPS, "lines": lines_for(self.session, step)}
        return HTMLResponse(environment().get_template(template).render({**shared, **values}), status)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form as text."""
    form = await request.form()
    return {name: str(value) for name, value in form.items()}


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
