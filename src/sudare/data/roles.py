"""What each column is about: the person, an identifier, a quasi-identifier, something sensitive."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sudare.errors import DataError, UsageError, nearest

NAMES = ("user", "record", "identifier", "quasi", "sensitive", "other")
MISSING = "missing"


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The roles of a table's columns; a column has at most one, and may tell records apart (`record`) besides.

    >>> Roles.of(user="customer", quasi=["age", "zip"]).role_of("age")
    'quasi'
    """

    user: str | None = None
    record: tuple[str, ...] = ()
    identifier: tuple[str, ...] = ()
    quasi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    other: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        user: str | None = None,
        identifier: str | Iterable[str] = (),
        quasi: str | Iterable[str] = (),
        sensitive: str | Iterable[str] = (),
        other: str | Iterable[str] = (),
        record: str | Iterable[str] = (),
    ) -> Roles:
        """Roles from names or lists of names; a column in two roles is an error (`record` is beside the others)."""
        if user is not None and not isinstance(user, str):
            raise UsageError(f"the user is one column, named as text, not a {type(user).__name__}")
        roles = cls(
            user=user or None,
            record=_names(record),
            identifier=_names(identifier),
            quasi=_names(quasi),
            sensitive=_names(sensitive),
            other=_names(other),
        )
        roles._check_once()
        return roles

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Roles:
        """The `[roles]` table of a `sudare.toml`."""
        table = load_toml(path).get("roles", {})
        if not isinstance(table, dict):
            raise UsageError(f"{path}: [roles] is a table of roles, e.g. user = 'customer'; correct it")
        table = {name: value for name, value in table.items() if name != MISSING}
        faults = [
            f"unknown role '{name}', {nearest(name, (*NAMES, MISSING))}"
            for name in table
            if name not in NAMES
        ]
        wrong = [n for n, v in table.items() if n in NAMES and not _is_names(v, single=n == "user")]
        if wrong:
            faults.append(f"{', '.join(wrong)}: give column names as text or a list of text (user: one)")
        if faults:
            raise UsageError(f"{path}: [roles] {'; '.join(faults)}")
        try:
            return cls.of(**table)
        except UsageError as error:
            raise UsageError(f"{path}: [roles] {error}") from None

    @property
    def assigned(self) -> tuple[str, ...]:
        """Every column that has a role."""
        return (*self._single, *self.records_only)

    @property
    def records_only(self) -> tuple[str, ...]:
        """Columns that only tell records apart: they are not published."""
        return tuple(c for c in self.record if c not in self._single)

    @property
    def _single(self) -> tuple[str, ...]:
        user = (self.user,) if self.user else ()
        return (*user, *self.identifier, *self.quasi, *self.sensitive, *self.other)

    def role_of(self, column: str) -> str | None:
        """The role of a column, None if it has none; "record" where that is all."""
        if column == self.user:
            return "user"
        return next((name for name in (*NAMES[2:], "record") if column in getattr(self, name)), None)

    def check(self, columns: Sequence[str]) -> None:
        """Every column named in a role must exist; all that do not are named at once."""
        faults = [
            f"'{name}' ({self.role_of(name)}): {nearest(name, columns)}"
            for name in self.assigned
            if name not in columns
        ]
        if faults:
            raise UsageError("unknown column " + "; ".join(faults))

    def without(self, columns: Iterable[str]) -> Roles:
        """The same roles with some columns gone."""
        gone = set(columns)
        kept = {n: tuple(c for c in getattr(self, n) if c not in gone) for n in NAMES[1:]}
        return Roles(user=None if self.user in gone else self.user, **kept)

    def to_dict(self) -> dict[str, Any]:
        """The roles in use, as they stand in a `sudare.toml`."""
        named = {n: list(getattr(self, n)) for n in NAMES[1:] if getattr(self, n)}
        return {**({"user": self.user} if self.user else {}), **named}

    def _check_once(self) -> None:
        seen: set[str] = set()
        for name in self._single:
            if name in seen:
                raise UsageError(f"column '{name}' has two roles; give it one")
            seen.add(name)


def missing_codes(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The codes of missing values in the `[roles]` table of a `sudare.toml`: `missing = ["?", "-9"]`."""
    given = load_toml(path).get("roles", {}).get(MISSING, [])
    listed = given if isinstance(given, list) else [given]
    if any(isinstance(code, bool) or not isinstance(code, (str, int, float)) for code in listed):
        raise UsageError(
            f'{path}: [roles] missing: give codes as text or numbers, e.g. missing = ["?", "-9"]'
        )
    return tuple(map(str, listed))


def check_names(where: object, names: Sequence[str]) -> None:
    """Every column has a name of its own; names that differ in case only are the same to a database."""
    folded: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if not name.strip():
            raise DataError(f"{where}: column {place} has no name; name it")
        if name.lower() in folded:
            raise DataError(
                f"{where}: columns {folded[name.lower()]} and {place} have the same name; rename one"
            )
        folded[name.lower()] = place


def load_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """A TOML file as a dictionary; what cannot be read is a UsageError with the line."""
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except tomllib.TOMLDecodeError as error:
        where = str(error).rpartition("(")[2].rstrip(")") or "unknown place"
        raise UsageError(f"{path}: not valid TOML ({where}); correct the file") from None
    except RecursionError:
        raise UsageError(f"{path}: nested too deeply; correct the file") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8 text; save it as UTF-8") from None


def _names(value: str | Iterable[str]) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else tuple(value)
    for name in names:
        if not isinstance(name, str):
            raise UsageError(f"a role takes column names as text, not a {type(name).__name__}")
    return names


def _is_names(value: Any, *, single: bool) -> bool:
    if isinstance(value, str):
        return True
    return not single and isinstance(value, list) and all(isinstance(v, str) for v in value)
