"""Release: the published table, and apart from it the truth."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sudare.data.dataset import Dataset
from sudare.data.files.outputs import resolved
from sudare.data.files.targets import target_of
from sudare.data.files.writers import escaped_name
from sudare.data.truth import Ints, rows_of
from sudare.errors import UsageError, warn
from sudare.version import __version__

if TYPE_CHECKING:
    from sudare.keys import Key
    from sudare.methods.recipe import Recipe


@dataclass(frozen=True, repr=False, eq=False)
class Release:
    """The published Dataset, the truth that only scores may see, and how it was made.

    `linked` is the published table with the original row beside every row (the column `truth.ROW`), wherever the rows
    are; the truth comes to this process only when somebody asks for it.

    >>> import sudare
    >>> shop = sudare.open("example:purchases", user="user")
    >>> release = sudare.anonymize(shop, sudare.methods.Suppress(columns=["time"]), key=bytes(range(32)))
    >>> release.data.columns, sorted(release.truth) == list(range(10))
    (('user', 'date', 'goods', 'price', 'number'), True)
    """

    data: Dataset
    linked: Dataset
    recipe: Recipe
    steps: tuple[dict[str, Any], ...]
    key: Key
    inputs: tuple[str, ...] = ()
    warnings: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def rows(self) -> Ints:
        """The original row of every published one, -1 for a dummy."""
        return rows_of(self.linked)

    @cached_property
    def truth(self) -> list[int | None]:
        """Per published row the row number in the original, None for a dummy."""
        return [None if row < 0 else row for row in self.rows.tolist()]

    @property
    def schema(self) -> dict[str, Any]:
        """What a recipient must know to read the table."""
        return dict(self.data.published.get("schema", {}))

    @property
    def card(self) -> dict[str, Any]:
        """What stands in the file beside the published table."""
        return {
            "sudare": __version__,
            "recipe": self.recipe.to_steps(),
            "roles": self.data.roles.to_dict(),
            "schema": self.schema,
            "key": self.key.fingerprint + (" (demonstration, not secret)" if self.key.insecure else ""),
            **({"warnings": dict(self.warnings)} if self.warnings else {}),
        }

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        truth: str | os.PathLike[str] | None = None,
        escape_formulas: bool = False,
    ) -> None:
        """Write the published table and the file beside it; the truth goes to a file of its own (mode 0600).

        All of them are replaced together or not at all, and card and truth name the release by its digest.
        Every column must have a role: what nobody looked at is not published. On Spark the workers write folders of
        Parquet files; paths are then those of the workers: a shared file system, or this machine's own.
        """
        target = target_of(self.linked)
        target.check(path, truth, inputs=self.inputs, escape_formulas=escape_formulas)
        self._check_roles()
        self._check_secrets(path)
        escaped = target.write(
            self.linked, self.data.columns, self._card, path, truth, escape_formulas=escape_formulas
        )
        if escaped:
            warn("S-FORMULA", f"{escaped:,} cells that a spreadsheet would run as formulas were escaped")

    def _card(self, digest: str | None, escaped: int) -> dict[str, Any]:
        card = _escaped(self.card) if escaped else self.card
        return card if digest is None else {**card, "sha256": digest}

    def _check_roles(self) -> None:
        bare = [c for c in self.data.columns if self.data.roles.role_of(c) is None]
        if bare:
            raise UsageError(
                f"columns {', '.join(repr(c) for c in bare)} without a role; give each one "
                "(quasi, sensitive, other) before publishing, or suppress it"
            )

    def _check_secrets(self, path: str | os.PathLike[str]) -> None:
        folder = resolved(path).parent
        if self.key.path is not None and resolved(self.key.path).parent == folder:
            raise UsageError(f"the key lies in the output folder {folder}; keep keys and releases apart")

    def __repr__(self) -> str:
        dummies = sum(int(step["details"].get("dummies", 0)) for step in self.steps)
        extra = f", {dummies:,} of them dummies" if dummies else ""
        steps = " > ".join(step["method"] for step in self.steps)
        return f"Release({self.data.rows:,} records{extra}; {steps}; key {self.key.fingerprint})"


def _escaped(card: dict[str, Any]) -> dict[str, Any]:
    """The card with the names of columns, and the values that stand in cells, as an escaped file has them."""

    def renamed(names: Any) -> Any:
        return escaped_name(names) if isinstance(names, str) else [escaped_name(name) for name in names]

    def described(kind: str, columns: Any) -> Any:
        if not isinstance(columns, dict):
            return columns
        return {
            escaped_name(c): _escaped_tp(entry) if kind == "tp" else entry for c, entry in columns.items()
        }

    roles = {role: None if names is None else renamed(names) for role, names in card["roles"].items()}
    return {
        **card,
        "roles": roles,
        "schema": {kind: described(kind, c) for kind, c in card["schema"].items()},
    }


def _escaped_tp(entry: dict[str, Any]) -> dict[str, Any]:
    """TP publishes its values one to a cell; sets have escapes of their own."""
    domain = [escaped_name(value) if isinstance(value, str) else value for value in entry["domain"]]
    distinct = {escaped_name(column): number for column, number in entry["distinct"].items()}
    return {**entry, "domain": domain, "distinct": distinct}
