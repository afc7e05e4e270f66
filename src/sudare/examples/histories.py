"""Purchase histories of any size that look like a shop's: nobody in them exists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa


def generate(users: int, records_per_user: float, goods: int, seed: int) -> pa.Table:
    """A few heavy customers, popular and rare goods, baskets, opening hours, a season."""
    import pyarrow as pa

    draw = np.random.default_rng(seed)
    baskets = 1 + draw.poisson(draw.gamma(0.8, records_per_user / 7.0, users))
    owner = np.repeat(np.arange(users), baskets)
    size = 1 + draw.poisson(draw.gamma(1.2, 5.0, len(owner)))
    basket = np.repeat(np.arange(len(owner)), size)
    user = owner[basket]
    item = _items(draw, user, users, goods)
    day, minute = _when(draw, owner)
    price = np.round(np.exp(draw.normal(0.9, 0.8, goods)) / 0.05) * 0.05 + 0.05
    number = np.minimum(draw.geometric(0.18, len(user)), 144)
    order = np.lexsort((basket, day[basket]))
    dates = np.datetime_as_string(np.datetime64("2025-01-01") + np.arange(366))
    names = np.array([f"{20000 + i}" for i in range(goods)])
    ids = np.array([f"{12000 + i}" for i in range(users)])
    clock = np.array([f"{m // 60}:{m % 60:02d}" for m in range(24 * 60)])
    return pa.table(
        {
            "user": ids[user[order]],
            "invoice": np.char.add("5", np.char.zfill(basket[order].astype(str), 6)),
            "date": dates[day[basket[order]]],
            "time": clock[minute[basket[order]]],
            "goods": names[item[order]],
            "price": np.round(price[item[order]], 2),
            "number": number[order],
        }
    )


def _items(draw: np.random.Generator, user: Any, users: int, goods: int) -> Any:
    """Zipf popularity; half of what a user buys comes from a shelf of his own."""
    weight = 1.0 / (np.arange(goods) + 8.0)
    popular = draw.choice(goods, size=len(user), p=weight / weight.sum())
    shelf = draw.integers(0, goods, users)[user]
    own = (shelf + draw.geometric(0.08, len(user))) % goods
    return np.where(draw.random(len(user)) < 0.5, popular, own)


def _when(draw: np.random.Generator, owner: Any) -> tuple[Any, Any]:
    """A day of the year (more before Christmas) and a minute in opening hours per basket."""
    season = 1.0 + 0.6 * (np.arange(365) > 300) + 0.2 * np.sin(np.arange(365) / 58.0)
    day = draw.choice(365, size=len(owner), p=season / season.sum())
    minute = np.clip(draw.normal(13.0 * 60, 150, len(owner)).astype(int), 7 * 60, 20 * 60)
    return day, minute
