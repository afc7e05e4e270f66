"""The policy of a release: the limits in `sudare.toml`.

[policy]
preset = "ema-0070"      # limits that others have set; those below are added or replace them
max_risk = 0.09          # the largest chance to find a person: 1/k
k = 12                   # the smallest class of equal quasi-identifiers
l = 2                    # the fewest different sensitive values of a class
t = 0.3                  # the largest distance of a class from the table
attack_success = 0.05    # the best rate of an attack (a measured result must be given)
cell_size = 10           # the fewest people behind one published value of a quasi-identifier
missing = "any"          # k if a missing or suppressed cell may be any value; "value" by default
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from math import ceil, isfinite
from typing import Any

from sudare.data.roles import load_toml
from sudare.errors import UsageError, nearest

# EMA/90915/2016 (policy 0070): publish clinical data at a risk of at most 0.09.
PRESETS: dict[str, dict[str, float]] = {"ema-0070": {"max_risk": 0.09}, "k5": {"k": 5}}
MISSING = ("value", "any")
WHOLE = ("k", "l", "cell_size")


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The limits of a release; None means no limit."""

    max_risk: float | None = None
    k: int | None = None
    l: int | None = None
    t: float | None = None
    attack_success: float | None = None
    cell_size: int | None = None
    missing: str = "value"

    @classmethod
    def of(
        cls, given: Policy | Mapping[str, Any] | str | os.PathLike[str], *, where: str = "[policy]"
    ) -> Policy:
        """A policy from itself, a preset's name, a `sudare.toml` or its `[policy]` table.

        >>> Policy.of("ema-0070").smallest_class
        12
        """
        if isinstance(given, Policy):
            return given
        if isinstance(given, str) and given in PRESETS:
            return cls(**PRESETS[given])  # type: ignore[arg-type]
        if isinstance(given, (str, os.PathLike)):
            return cls._of_file(given)
        limits = dict(given)
        preset = limits.pop("preset", None)
        faults = [*_preset_faults(preset), *_faults(limits)]
        if faults:
            raise UsageError("\n".join(f"{where} {fault}" for fault in faults))
        whole = {name: int(limit) for name, limit in limits.items() if name in WHOLE}
        return cls(**{**PRESETS.get(preset or "", {}), **limits, **whole})

    @classmethod
    def _of_file(cls, path: str | os.PathLike[str]) -> Policy:
        if isinstance(path, str) and not path.endswith(".toml"):
            raise UsageError(f"unknown preset '{path}'; {nearest(path, PRESETS)}")
        table = load_toml(path).get("policy")
        if not isinstance(table, dict) or not table:
            raise UsageError(f"{path}: no [policy]; write one, e.g. k = 5, or name a preset")
        return cls.of(table, where=f"{path}: [policy]")

    @property
    def smallest_class(self) -> int:
        """The k that follows from `k` and `max_risk` together: 1/k may not pass the risk."""
        from_risk = 0 if self.max_risk is None else ceil(1 / Fraction(self.max_risk) - Fraction(1e-9))
        return max(self.k or 0, from_risk)

    @property
    def limits(self) -> dict[str, float]:
        """The limits that are set."""
        chosen = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "missing"}
        return {name: limit for name, limit in chosen.items() if limit is not None}


def _preset_faults(preset: Any) -> list[str]:
    if preset is None or (isinstance(preset, str) and preset in PRESETS):
        return []
    return [f"preset: unknown preset '{preset}'; {nearest(str(preset), PRESETS)}"]


def _faults(limits: Mapping[str, Any]) -> Iterator[str]:
    known = [field.name for field in fields(Policy)]
    for name, limit in limits.items():
        if name not in known:
            yield f"{name}: unknown limit; {nearest(name, [*known, 'preset'])}"
        elif name == "missing":
            if limit not in MISSING:
                yield f"missing: give one of {', '.join(MISSING)}"
        elif isinstance(limit, bool) or not isinstance(limit, (int, float)) or not isfinite(limit):
            yield f"{name}: give a number"
        elif name in WHOLE and (limit != int(limit) or limit < 1):
            yield f"{name}: give a whole number from 1 on"
        elif name == "max_risk" and not 0 < limit <= 1:
            yield f"{name}: give a number above 0 and at most 1"
        elif name in ("t", "attack_success") and not 0 <= limit <= 1:
            yield f"{name}: give a number from 0 to 1"
