"""What to plan for first: the column that tells histories apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sudare.errors import UsageError

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset

GOODS = {"goods", "product", "item", "article", "sku", "stock", "code", "place", "diag", "diagnosis"}


def value_column(ds: Dataset) -> str:
    """The column that makes up a person's history: named like goods, else the text with the most values."""
    from sudare.data.guessing import profile, words_of

    candidates = [c for c in profile(ds) if c.name in (*ds.roles.quasi, *ds.roles.sensitive)]
    if not candidates:
        raise UsageError(f"{ds.name}: no quasi-identifier that could be planned for; name one with quasi=")
    named = [c for c in candidates if words_of(c.name) & GOODS]
    texts = [c for c in candidates if c.kind == "text"]
    return max(named or texts or candidates, key=lambda c: c.values).name
