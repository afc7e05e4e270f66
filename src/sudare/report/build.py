"""sudare.report: the evidence about a table and its release, as a file that people read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sudare.data.files.outputs import check_output
from sudare.data.files.unit import PRIVATE, PUBLIC
from sudare.data.files.writers import write_text
from sudare.data.published import Published
from sudare.errors import UsageError
from sudare.loop.evidence import Evidence
from sudare.loop.measure import Progress, measure, quiet
from sudare.parameters import checked
from sudare.report.document import Audience, Document

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset
    from sudare.data.release import Release

Format = Literal["html", "md", "json", "pdf-ready"]
ENDINGS: dict[str, Format] = {".html": "html", ".htm": "html", ".md": "md", ".json": "json"}


@dataclass(frozen=True, repr=False)
class Report:
    """A finished report; `text` is the file's content."""

    document: Document
    evidence: Evidence
    text: str
    path: Path | None

    @property
    def passed(self) -> bool | None:
        """Whether the policy holds; None without one."""
        return {"pass": True, "fail": False}.get(self.document.verdict.tone)

    def to_dict(self) -> dict[str, Any]:
        from sudare.report.markdown import to_dict

        return to_dict(self.document)

    def _repr_html_(self) -> str:
        import html

        return (
            f"<p><b>{html.escape(self.document.verdict.headline)}</b> {html.escape(str(self.path or ''))}</p>"
        )

    def __repr__(self) -> str:
        return f"Report({self.document.verdict.headline} {self.path or ''})"


@checked
def report(
    original: Dataset,
    release: Release | Dataset | Published | None = None,
    *,
    path: str | os.PathLike[str] | None = "report.html",
    audience: Audience = "internal",
    format: Format | None = None,
    truth: Iterable[int | None] | None = None,
    value: str | None = None,
    policy: Mapping[str, Any] | None = None,
    context: Mapping[str, Any] | None = None,
    known: Mapping[str, Any] | None = None,
    progress: Progress = quiet,
) -> Report:
    """Measure what is not known yet and write the report.

    `release` is a Release, or a published table with its `truth`. `audience="external"` leaves out what must
    not leave: small counts and single people. `format`: html, md, json, or pdf-ready (HTML to print from);
    by default the ending of `path` decides. `context` says who gets the release and what for; its
    `uses` may name the columns that each use needs, and are then measured one by one.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "job"], sensitive="disease")
    >>> report = sudare.report(patients, path=None, format="md", policy={"k": 2})
    >>> report.passed, report.text.splitlines()[0]
    (True, '# De-identification report: example:patients')
    """
    kind = _format(path, format)
    published = None if release is None else Published.of(release, truth)
    if path is not None:
        check_output(path, (*original.files, *(published.files if published is not None else ())))
    found = measure(
        original,
        published,
        value=value,
        policy=policy,
        context=context,
        known=known,
        progress=progress,
    )
    return write(found, path=path, audience=audience, format=kind)


@checked
def write(
    evidence: Evidence,
    *,
    path: str | os.PathLike[str] | None = "report.html",
    audience: Audience = "internal",
    format: Format | None = None,
) -> Report:
    """The report of evidence that is at hand."""
    kind = _format(path, format)
    document = document_of(evidence, audience)
    text = rendered(document, kind)
    if path is not None:
        write_text(text, path, mode=PRIVATE if audience == "internal" else PUBLIC)
    return Report(document, evidence, text, None if path is None else Path(path))


def document_of(evidence: Evidence, audience: Audience = "internal") -> Document:
    """The evidence in sections; for outsiders after small counts are gone."""
    from sudare.report.outsiders import for_outsiders
    from sudare.report.sections import sections_of
    from sudare.report.verdict import verdict_of

    shown = for_outsiders(evidence) if audience == "external" else evidence
    whom = "for outsiders: no count below 10 people" if audience == "external" else "internal: do not pass on"
    released = shown.release is not None
    return Document(
        title=f"De-identification report: {shown.original.name}",
        subtitle=f"{'Original and release' if released else 'The original, before any release'}; {whom}.",
        audience=audience,
        verdict=verdict_of(shown),
        sections=sections_of(shown, audience),
    )


def rendered(document: Document, format: str) -> str:
    """The document as the text of a file."""
    if format == "md":
        from sudare.report.markdown import to_markdown

        return to_markdown(document)
    if format == "json":
        from sudare.report.markdown import to_dict

        return json.dumps(to_dict(document), ensure_ascii=False, indent=2) + "\n"
    from sudare.report.html import to_html

    return to_html(document, script=format == "html")


def _format(path: str | os.PathLike[str] | None, format: Format | None) -> Format:
    if format is not None:
        return format
    suffix = Path(path).suffix.lower() if path is not None else ".html"
    if suffix not in ENDINGS:
        raise UsageError(f"{path}: a report is .html, .md or .json; name it so, or give format=")
    return ENDINGS[suffix]
