"""Where public tables lie: the folder SUDARE_DATA. Works that need one are left out without it."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.work import Work


def public(name: str) -> Path:
    return Path(os.environ.get("SUDARE_DATA", "")) / name


def if_present(name: str, *works: Work) -> tuple[Work, ...]:
    """The works, if the file they read is there."""
    return works if "SUDARE_DATA" in os.environ and public(name).exists() else ()
