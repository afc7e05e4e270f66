"""What to try first: the column that tells histories apart, and a recipe for a table that has none yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sudare.errors import UsageError

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset
    from sudare.methods.recipe import Recipe

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


def first_recipe(ds: Dataset, k: int = 4) -> Recipe:
    """Steps that suit the roles: dummies for histories, local recoding for one row per person."""
    from sudare.methods.recipe import Recipe

    if ds.roles.user is not None:
        return Recipe.from_steps(_for_histories(ds, k))
    return Recipe.from_steps([{"method": "local-recoding", "k": k}])


def _for_histories(ds: Dataset, k: int) -> list[dict[str, object]]:
    value = value_column(ds)
    steps: list[dict[str, object]] = [{"method": "dummy-records", "value": value, "k": k}]
    rest = [c for c in ds.roles.quasi if c != value]
    if rest:
        steps.append({"method": "suppress", "columns": rest})
    return steps
