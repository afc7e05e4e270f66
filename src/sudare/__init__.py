"""sudare: what an attacker could learn from a table about people, what preventing it costs, and the evidence.

open -> risk -> plan -> anonymize -> attack -> utility -> report        (and for the recipient: estimate)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sudare.errors import DataError, MissingPart, PolicyError, SudareError, SudareWarning, UsageError
from sudare.version import __version__

if TYPE_CHECKING:
    from sudare import attacks, cost, methods
    from sudare.attacks.measure import attack
    from sudare.cost.plan import plan
    from sudare.data.dataset import Dataset
    from sudare.data.opening import open
    from sudare.data.release import Release
    from sudare.data.roles import Roles
    from sudare.data.values.hierarchies import Hierarchy
    from sudare.disclosure.measure import disclosure
    from sudare.estimate.measure import estimate
    from sudare.estimate.posterior import posterior
    from sudare.estimate.workload import workload
    from sudare.keys import Key
    from sudare.loop.compare import compare
    from sudare.methods.recipe import Recipe, anonymize
    from sudare.policy.check import check
    from sudare.report.build import report
    from sudare.risk.measure import risk
    from sudare.utility import UtilityVerb

    utility: UtilityVerb

# Loaded on first use: `import sudare` costs nothing.
_HOMES = {
    "Dataset": "data.dataset",
    "Hierarchy": "data.values.hierarchies",
    "Key": "keys",
    "Recipe": "methods.recipe",
    "Release": "data.release",
    "Roles": "data.roles",
    "anonymize": "methods.recipe",
    "attack": "attacks.measure",
    "check": "policy.check",
    "compare": "loop.compare",
    "open": "data.opening",
    "plan": "cost.plan",
    "posterior": "estimate.posterior",
    "workload": "estimate.workload",
}
_ROOMS = ("attacks", "cost", "disclosure", "estimate", "methods", "report", "risk", "utility")

__all__ = [
    "DataError",
    "Dataset",
    "Hierarchy",
    "Key",
    "MissingPart",
    "PolicyError",
    "Recipe",
    "Release",
    "Roles",
    "SudareError",
    "SudareWarning",
    "UsageError",
    "__version__",
    "anonymize",
    "attack",
    "attacks",
    "check",
    "compare",
    "cost",
    "disclosure",
    "estimate",
    "methods",
    "open",
    "plan",
    "posterior",
    "report",
    "risk",
    "utility",
    "workload",
]


if not TYPE_CHECKING:  # or every name would be known to type checkers

    def __getattr__(name: str) -> Any:
        if name in _ROOMS:
            return importlib.import_module(f"sudare.{name}")
        if name in _HOMES:
            return getattr(importlib.import_module(f"sudare.{_HOMES[name]}"), name)
        raise AttributeError(f"module 'sudare' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
