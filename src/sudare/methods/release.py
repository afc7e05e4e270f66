"""Release: the published table, and apart from it the truth."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.data.dataset import Dataset
from sudare.data.keys import Key
from sudare.data.opening import SIDECAR
from sudare.data.writers import check_output, escaped_name, replacing, write_json, write_table
from sudare.errors import DataError, UsageError, warn
from sudare.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.methods.recipe import Recipe

TRUTH_COLUMN = "original_row"


@dataclass(frozen=True, repr=False, eq=False)
class Release:
    """The published Dataset, the truth that only scores may see, and how it was made."""

    data: Dataset
    rows: NDArray[np.int64]
    recipe: Recipe
    steps: tuple[dict[str, Any], ...]
    key: Key
    inputs: tuple[str, ...] = ()

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
        }

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        truth: str | os.PathLike[str] | None = None,
        escape_formulas: bool = False,
    ) -> None:
        """Write the published table and the file beside it; the truth goes to a file of its own (mode 0600).

        Every column must have a role: what nobody looked at is not published.
        """
        path = check_output(path, self.inputs)
        self._check_roles()
        self._check_secrets(path, truth)
        escaped = write_table(self.data.to_pyarrow(), path, escape_formulas=escape_formulas)
        write_json(_escaped(self.card) if escaped else self.card, f"{path}{SIDECAR}")
        if truth is not None:
            write_truth(self.rows, truth)
        if escaped:
            warn("S-FORMULA", f"{escaped:,} cells that a spreadsheet would run as formulas were escaped")

    def _check_roles(self) -> None:
        bare = [c for c in self.data.columns if self.data.roles.role_of(c) is None]
        if bare:
            raise UsageError(
                f"columns {', '.join(repr(c) for c in bare)} without a role; give each one "
                "(quasi, sensitive, other) before publishing, or suppress it"
            )

    def _check_secrets(self, path: Path, truth: str | os.PathLike[str] | None) -> None:
        folder = path.absolute().parent
        if self.key.path is not None and self.key.path.absolute().parent == folder:
            raise UsageError(f"the key lies in the output folder {folder}; keep keys and releases apart")
        if truth is not None and check_output(truth, self.inputs) == path:
            raise UsageError("release and truth need different files")

    def __repr__(self) -> str:
        dummies = int((self.rows < 0).sum())
        extra = f", {dummies:,} of them dummies" if dummies else ""
        steps = " > ".join(step["method"] for step in self.steps)
        return f"Release({self.data.rows:,} records{extra}; {steps}; key {self.key.fingerprint})"


def _escaped(card: dict[str, Any]) -> dict[str, Any]:
    """The card with the names of columns, and the values that stand in cells, as an escaped file has them."""

    def renamed(names: Any) -> Any:
        return escaped_name(names) if isinstance(names, str) else [escaped_name(name) for name in names]

    def told(kind: str, columns: Any) -> Any:
        if not isinstance(columns, dict):
            return columns
        return {
            escaped_name(c): _escaped_tp(entry) if kind == "tp" else entry for c, entry in columns.items()
        }

    roles = {role: None if names is None else renamed(names) for role, names in card["roles"].items()}
    return {**card, "roles": roles, "schema": {kind: told(kind, c) for kind, c in card["schema"].items()}}


def _escaped_tp(entry: dict[str, Any]) -> dict[str, Any]:
    """TP publishes its values one to a cell; sets have escapes of their own."""
    domain = [escaped_name(value) if isinstance(value, str) else value for value in entry["domain"]]
    distinct = {escaped_name(column): number for column, number in entry["distinct"].items()}
    return {**entry, "domain": domain, "distinct": distinct}


def write_truth(rows: NDArray[np.int64], path: str | os.PathLike[str]) -> None:
    """The truth as a file that only its owner may read: one row number per published row, empty for a dummy."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    table = pa.table({TRUTH_COLUMN: pa.array(rows, mask=rows < 0)})
    with replacing(path, mode=0o600) as part:
        if str(path).endswith(".csv"):
            pyarrow.csv.write_csv(table, part)
        else:
            pyarrow.parquet.write_table(table, part)


def read_truth(path: str | os.PathLike[str]) -> list[int | None]:
    """The truth from its file, or from the folder that Spark wrote."""
    import pyarrow.parquet

    if not (Path(path).is_file() or Path(path).is_dir()):
        raise DataError(f"{path}: no such file; check the path")
    try:
        read = _read_lines if str(path).endswith(".csv") else pyarrow.parquet.read_table
        column = read(path).column(TRUTH_COLUMN)
    except (OSError, KeyError, pyarrow.ArrowInvalid):
        raise DataError(f"{path}: not a truth file; it is written by `sudare anonymize --truth`") from None
    return list(column.to_pylist())


def _read_lines(path: str | os.PathLike[str]) -> pa.Table:
    """A table of one column as text: an empty line is a dummy's."""
    import pyarrow.csv

    return pyarrow.csv.read_csv(path, parse_options=pyarrow.csv.ParseOptions(ignore_empty_lines=False))
