"""A document as one self-contained HTML file: no network, no inline handler, readable without a script."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from sudare.report.document import Document
from sudare.report.numbers import written
from sudare.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment

BADGES = {"pass": "passed", "fail": "not passed", "warn": "look here", "plain": "facts, no verdict"}


def to_html(document: Document, *, script: bool = True) -> str:
    """The page. Style and script are inlined and named by their hash, so that nothing else can run."""
    from markupsafe import Markup

    css, code = asset("sudare.css"), asset("report.js") if script else ""
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            document=document,
            badge=BADGES[document.verdict.tone],
            css=Markup(css),
            script=Markup(code),
            policy=content_policy(css, code),
            version=__version__,
        )
    )


def content_policy(css: str, script: str) -> str:
    """Nothing may be loaded from anywhere; only this style and this script may act."""
    run = f"; script-src '{_hash(script)}'" if script else ""
    return f"default-src 'none'; style-src '{_hash(css)}'{run}; base-uri 'none'; form-action 'none'"


@cache
def asset(name: str) -> str:
    """A file of this package's static folder."""
    return resources.files("sudare.report").joinpath("static", name).read_text("utf-8")


@cache
def environment() -> Environment:
    """Templates with everything escaped, whatever a column is called."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("sudare.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["written"] = written
    made.filters["sort_value"] = sort_value
    made.filters["safe_svg"] = safe_svg
    return made


def sort_value(value: Any) -> str:
    """What a number sorts by."""
    return repr(float(value)) if isinstance(value, (int, float)) and not isinstance(value, bool) else ""


def safe_svg(source: str) -> Any:
    """The only markup that is not escaped: pictures that `sudare.report.pictures` has cleaned."""
    from markupsafe import Markup

    return Markup(source)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
