"""Evidence: everything the report says, as numbers and names, without a cell of the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sudare.results import Result

if TYPE_CHECKING:
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
    digest = ds.digest if checksum else None
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
        **_fate(release, original_rows),
    )


def _read_back(release: Published, original_rows: int) -> ReleaseCard:
    from sudare.methods.recipe import Recipe, describe

    card = release.data.published
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
        **(_fate(release, original_rows) if release.has_truth else {}),
    )


def _fate(release: Published, originals: int) -> dict[str, int]:
    dummies, kept = release.fate
    return {"dummies": dummies, "deleted": originals - kept}
