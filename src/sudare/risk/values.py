"""The table of an attribute's values (P1, Table 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sudare.data.dataset import Dataset
from sudare.engine.counts import counts_of

COLUMNS = ["value", "records", "users", "alpha", "pr_x", "pr_idf", "joint"]


def value_table(
    ds: Dataset, attributes: Sequence[str], *, missing: str = "value", attacker: str = "uniform"
) -> list[dict[str, Any]]:
    """Per value its records and users, Pr(x), Pr(idf|x) and their product; riskiest first."""
    found = counts_of(ds).value_rows(attributes, missing=missing)
    total = sum(row[-4] for row in found)
    rows = [_row(row, total, attacker) for row in found]
    return sorted(rows, key=lambda row: (-row["joint"], row["value"] is None, str(row["value"])))


def guess(records: int, users: int, squares: int, largest: int, attacker: str) -> float:
    """Pr(idf|x): how often the attacker's guess among the owners of x is right.

    >>> guess(4, 2, 10, 3, "uniform"), guess(4, 2, 10, 3, "proportional"), guess(4, 2, 10, 3, "bayes")
    (0.5, 0.625, 0.75)
    """
    if attacker == "uniform":
        return 1 / users
    return squares / records**2 if attacker == "proportional" else largest / records


def _row(found: tuple[Any, ...], total: int, attacker: str) -> dict[str, Any]:
    *value, records, users, squares, largest = found
    identified = guess(records, users, squares, largest, attacker)
    return {
        "value": value[0] if len(value) == 1 else tuple(value),
        "records": records,
        "users": users,
        "alpha": records / users,
        "pr_x": records / total,
        "pr_idf": identified,
        "joint": records / total * identified,
    }
