"""Evidence: everything the report says, as numbers and names, without a cell of the table."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sudare.results import Result

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sudare.data.dataset import Dataset
    from sudare.data.published import Published


@dataclass(frozen=True)
class DataCard:
    """A table as outsiders of it may know it: shape, roles, types, a checksum."""

    name: str
    rows: float
    users: float
    columns: tuple[Mapping[str, Any], ...]
    roles: Mapping[str, Any]
    engine: str
    sha256: str | None = None

    @property
    def by_user(self) -> bool:
        """Whether people have several rows."""
        return "user" in self.roles


@dataclass(frozen=True)
class ReleaseCard:
    """A release: its table, how it was made, and how many of its rows are dummies."""

    data: DataCard
    steps: tuple[Mapping[str, Any], ...] = ()
    recipe: str = ""
    digest: str = ""
    fingerprint: str = ""
    insecure: bool = False
    dummies: float | None = None
    deleted: float | None = None


@dataclass(frozen=True)
class Evidence:
    """What the loop measured; what it did not measure stands in `skipped` with the reason."""

    original: DataCard
    release: ReleaseCard | None = None
    context: Mapping[str, Any] = field(default_factory=dict)
    risk: Result | None = None
    disclosure: Result | None = None
    plan: Result | None = None
    risk_after: Result | None = None
    disclosure_after: Result | None = None
    attacks: Result | None = None
    utility: Result | None = None
    uses: tuple[Mapping[str, Any], ...] = ()
    posteriors: tuple[tuple[str, Result], ...] = ()
    policy: Result | None = None
    weakest: tuple[Mapping[str, Any], ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)


def data_card(ds: Dataset, *, checksum: bool = True) -> DataCard:
    """The card of a table; the checksum is taken where the table is a file or in memory."""
    from sudare.data.guessing import profile

    columns = tuple(
        {
            "column": c.name,
            "role": ds.roles.role_of(c.name),
            "type": c.type,
            "values": c.values,
            "missing": c.missing,
        }
        for c in profile(ds)
    )
    digest = table_digest(ds) if checksum and ds.engine == "duckdb" else None
    return DataCard(ds.name, ds.rows, ds.users, columns, ds.roles.to_dict(), ds.engine, digest)


def release_card(release: Published, original_rows: int) -> ReleaseCard:
    """The card of a release, fresh or read back from its file."""
    made = release.release
    if made is None:
        return _read_back(release, original_rows)
    return ReleaseCard(
        data=data_card(release.data),
        steps=made.steps,
        recipe=made.recipe.to_toml(),
        digest=made.recipe.digest,
        fingerprint=made.key.fingerprint,
        insecure=made.key.insecure,
        **_fate(made.rows, original_rows),
    )


def table_digest(ds: Dataset) -> str:
    """SHA-256 over names, types and cells in the order of the rows, however the rows come in batches."""
    import pyarrow as pa

    columns = [(hashlib.sha256(), hashlib.sha256()) for _ in ds.columns]
    for batch in ds.batches():
        for (lengths, cells), column in zip(columns, batch.columns):
            nested = pa.types.is_nested(column.type)
            text = pa.array(map(str, column.to_pylist()), pa.large_string()) if nested else column
            _update(lengths, cells, text)
    whole = hashlib.sha256(repr([(f.name, str(f.type)) for f in ds.schema]).encode())
    for lengths, cells in columns:
        whole.update(lengths.digest() + cells.digest())
    return whole.hexdigest()


def _update(lengths: Any, cells: Any, column: Any) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.fill_null(column.cast(pa.large_string()), "")
    _, places, data = text.buffers()
    offsets = np.frombuffer(places, np.int64)[text.offset : text.offset + len(text) + 1]
    sizes = np.where(np.asarray(pc.is_valid(column)), np.diff(offsets), -1)
    lengths.update(sizes.astype("<i8").tobytes())
    if data is not None:
        cells.update(memoryview(data)[offsets[0] : offsets[-1]])


def _fate(rows: NDArray[np.int64], original_rows: int) -> dict[str, int]:
    """How many published rows are dummies, how many original ones are gone."""
    import numpy as np

    kept = np.unique(rows[rows >= 0])
    return {"dummies": int((rows < 0).sum()), "deleted": original_rows - len(kept)}


def _read_back(release: Published, original_rows: int) -> ReleaseCard:
    from sudare.methods.recipe import Recipe, describe

    card, truth = release.data.published, release.rows
    listed = card.get("recipe") or []
    recipe = Recipe.from_steps(listed) if listed else None
    fingerprint = str(card.get("key", ""))
    return ReleaseCard(
        data=data_card(release.data),
        steps=tuple(describe(step, {}) for step in recipe.steps) if recipe else (),
        recipe=recipe.to_toml() if recipe else "",
        digest=recipe.digest if recipe else "",
        fingerprint=fingerprint.partition(" ")[0],
        insecure="demonstration" in fingerprint,
        **({} if truth is None else _fate(truth, original_rows)),
    )
