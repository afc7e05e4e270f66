"""What a `sudare.toml` says about a release: its context and its policy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sudare.data.roles import load_toml
from sudare.errors import UsageError, nearest
from sudare.report.sections.setting import CONTEXT

KNOWN = (*(key for key, _ in CONTEXT), "review")


def context_and_policy(path: Path | None) -> tuple[dict[str, Any], Mapping[str, Any] | None]:
    """The tables `[release]` and `[policy]`; of this folder's `sudare.toml` when no file is named."""
    chosen = path or Path("sudare.toml")
    if path is None and not chosen.is_file():
        return {}, None
    content = load_toml(chosen)
    return _context(content.get("release", {}), chosen), content.get("policy") or None


def _context(table: Any, path: Path) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise UsageError(f'{path}: [release] is a table of texts, e.g. purpose = "..."')
    for name in table:
        if name not in KNOWN:
            raise UsageError(f"{path}: [release] has no '{name}'; {nearest(name, KNOWN)}")
    uses = table.get("uses")
    if isinstance(uses, dict) and not all(_is_names(needed) for needed in uses.values()):
        raise UsageError(
            f'{path}: [release.uses] names the columns of each use: "sales" = ["goods", "price"]'
        )
    kept = {"uses": uses} if isinstance(uses, dict) else {}
    return {name: str(value) for name, value in table.items()} | kept


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)
