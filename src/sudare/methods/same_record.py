"""Whether the same record will be recognised in a second release, which its draws depend on."""

from __future__ import annotations

from collections.abc import Sequence

from sudare import registry
from sudare.data.dataset import Dataset
from sudare.keys.records import identity
from sudare.methods.base import Method

REDRAWN = (
    "are known by all their values: a second release that drops or coarsens another column draws anew, and two draws "
    "together disclose more than one"
)


def warnings_of(ds: Dataset, steps: Sequence[Method]) -> dict[str, str]:
    """S-RECORD for a recipe that randomises cells of records that a second release may take for others."""
    drawing = [registry.name_of(step) for step in steps if getattr(step, "randomises", False)]
    reason = _reason(ds) if drawing else None
    return {} if reason is None else {"S-RECORD": f"{', '.join(dict.fromkeys(drawing))}: {reason}"}


def _reason(ds: Dataset) -> str | None:
    named, _ = identity(ds.columns, ds.roles)
    if not named:
        return f"no column names the people, and records {REDRAWN}; name them with user or identifier"
    if ds.different(named) == ds.rows:
        return None
    if not ds.roles.record:
        return f"people have several records, which {REDRAWN}; name columns that tell them apart with record"
    return (
        "some records are equal in person and record columns and are told apart by their order in the table, which "
        "must then stay the same; name more columns with record"
    )
