"""Pages about the table: choose it, name its roles, see its risk and what hiding would cost."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sudare.data.roles import NAMES
from sudare.errors import SudareError
from sudare.studio import files
from sudare.studio.frame import Frame, form_of
from sudare.studio.session import KS


class TablePages:
    """The steps before anything is changed."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    async def file(self, request: Request) -> Response:
        """The tables below the folder, and examples."""
        return await self._tables()

    async def choose(self, request: Request) -> Response:
        """Take a table; one that lies elsewhere is refused."""
        form = await form_of(request)
        given = form.get("path", "")
        try:
            path = files.chosen(self.frame.session.folder, given)
        except SudareError as error:
            return await self._tables(status=400, error=str(error))
        self.frame.session.choose(path, given)
        return RedirectResponse("/roles", 303)

    async def _tables(self, *, status: int = 200, error: str = "") -> Response:
        folder = self.frame.session.folder
        found = await asyncio.to_thread(files.tables_below, folder)
        return self.frame.page(
            "file.html.j2",
            "file",
            status=status,
            error=error,
            tables=found,
            examples=files.EXAMPLES,
            size_of=files.size_of,
            folder=folder,
        )

    async def roles(self, request: Request) -> Response:
        """Guessed roles, to be changed with a click."""
        session = self.frame.session
        if not session.path:
            return self.frame.first("roles", "Choose a table first.", "/")
        error = ""
        if request.method == "POST":
            form = await form_of(request)
            error = self._assign(form)
            if not error:
                return RedirectResponse("/risk", 303)
        if session.look is None:
            waiting = self.frame.wait("look", "roles", source=session.source)
            if waiting is not None:
                return waiting
            job = session.job_for("look")
            assert job is not None
            session.look = job.result
            session.roles = {g.column: g.role for g in job.result.guesses}
        return self.frame.page(
            "roles.html.j2", "roles", look=session.look, roles=session.roles, names=NAMES, error=error
        )

    def _assign(self, form: Mapping[str, str]) -> str:
        look = self.frame.session.look
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
        self.frame.session.assign(chosen)
        return ""

    async def risk(self, request: Request) -> Response:
        """What attributes and pairs give away."""
        return self.frame.measured("risk", "risk", "risk.html.j2", source=self.frame.session.source)

    async def values(self, request: Request) -> Response:
        """The values of one attribute that give most away."""
        session, attribute = self.frame.session, request.query_params.get("attribute", "")
        if attribute not in session.roles:
            return self.frame.first("risk", "Choose an attribute of the table.", "/risk")
        session.attribute, key = attribute, f"values:{attribute}"
        if key not in session.results:
            waiting = self.frame.wait("values", "values", source=session.source, attribute=attribute)
            if waiting is not None:
                return waiting
            job = session.job_for("values")
            assert job is not None
            session.results[key] = job.result
        return self.frame.page("values.html.j2", "values", shown=session.results[key], attribute=attribute)

    async def cost(self, request: Request) -> Response:
        """The cost curve and the slider."""
        session = self.frame.session
        if not session.confirmed:
            return self.frame.first("cost", "Decide on the roles first.", "/roles")
        if session.user is None:
            return self.frame.page("cost.html.j2", "cost", shown=None, candidates=[])
        if request.method == "POST":
            form = await form_of(request)
            self._take_cost(form)
            if form.get("next") == "recipe":
                self._start_recipe()
                return RedirectResponse("/recipe", 303)
            return RedirectResponse("/cost", 303)
        return self.frame.measured(
            "plan",
            "cost",
            "cost.html.j2",
            source=session.source,
            value=session.value,
            ks=KS,
            candidates=session.columns_of("quasi", "sensitive"),
        )

    def _take_cost(self, form: Mapping[str, str]) -> None:
        session = self.frame.session
        if form.get("k", "").isdigit():
            session.k = min(max(int(form["k"]), KS[0]), KS[-1])
        value = form.get("value", session.value)
        if value in session.columns_of("quasi", "sensitive") and value != session.value:
            session.value = value
            session.results.pop("plan", None)

    def _start_recipe(self) -> None:
        """A first recipe from the planned k, if there is none yet."""
        session = self.frame.session
        if session.user is not None and session.value:
            rest = [s for s in session.steps if s["method"] != "dummy-records"]
            session.steps = [*rest, {"method": "dummy-records", "value": session.value, "k": session.k}]
