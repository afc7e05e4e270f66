"""What `sudare anonymize` prints about a release: steps and what they measured, no cell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sudare.cli.common import Format, emit
from sudare.results import Result

if TYPE_CHECKING:
    from sudare.data.release import Release


class ReleaseSummary(Result):
    command: ClassVar[str] = "anonymize"


def emit_release(release: Release, out: Path, truth: Path | None, format: Format) -> None:
    rows = tuple(_row(number, step) for number, step in enumerate(release.steps, 1))
    notes = [f"{release.data.rows:,} records written to {out} (key {release.key.fingerprint})"]
    if truth is not None:
        notes.append(f"truth written to {truth}: whoever has it can undo the release; keep it apart")
    if release.key.insecure:
        notes.append("made with a demonstration key that anyone can guess: never publish it")
    emit(ReleaseSummary(rows, tuple(notes)), format)


def _row(number: int, step: dict[str, Any]) -> dict[str, Any]:
    told = {
        **step["parameters"],
        **{k: v for k, v in step["details"].items() if isinstance(v, (int, float, str))},
    }
    return {
        "step": number,
        "method": step["method"],
        "technique": step["technique"],
        "what": ", ".join(f"{name}={_short(value)}" for name, value in told.items()),
    }


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.5g}"
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)
