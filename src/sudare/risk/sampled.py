"""The sampling model on a table: draw values, read their records, estimate (P1, Def. 8)."""

from __future__ import annotations

import os
from typing import Any

from sudare.data.dataset import Dataset
from sudare.engine.counts import LARGE, Owners, counts_of
from sudare.engine.profile import Profile
from sudare.errors import warn
from sudare.keys import Key, generator
from sudare.risk import formulas
from sudare.risk.knowledge import Subset
from sudare.risk.sampling import FEW_VALUES, Estimate, estimate

Source = Key | bytes | str | os.PathLike[str] | None


def sampled_row(
    ds: Dataset, subset: Subset, sample_size: int | None, attacker: str, missing: str, key: Source
) -> dict[str, Any]:
    """A row of the result by the sampling model; without a key the draw is fresh every time.

    The users of a large table are not counted: that would read every record.
    """
    from sudare.risk.measure import row_of

    counts = counts_of(ds)
    values = counts.domain(subset, missing=missing)
    total = counts.count_records(subset, missing=missing)
    size = min(sample_size or FEW_VALUES, values.num_rows)
    if size < min(FEW_VALUES, values.num_rows):
        warn(
            "S-FEW-VALUES",
            f"{size} sampled values: the interval of a skewed attribute is too narrow below {FEW_VALUES}",
        )
    drawn = counts.owners(values.take(_draw(values.num_rows, size, subset, key)))
    found = _estimated(drawn, values.num_rows, total, attacker)
    return row_of(
        subset,
        records=total,
        users=ds.users if ds.rows < LARGE else None,
        values=values.num_rows,
        alpha=estimate([(r, u) for r, u, _, _ in drawn], values=values.num_rows, records=total).alpha,
        risk=found.risk,
        attacker=attacker,
        model="sample",
        risk_low=found.low,
        risk_high=found.high,
        sample_size=found.sample_size,
    )


def _estimated(drawn: list[Owners], values: int, total: int, attacker: str) -> Estimate:
    """The estimate; with every value drawn it is the exact risk to the last digit."""
    found = estimate([_mass(owners, attacker) for owners in drawn], values=values, records=total)
    if found.sample_size < values:
        return found
    profile = Profile.counted((), [(*owners, 1) for owners in drawn], 0, every_attacker=True)
    exact = formulas.ATTACKERS[attacker](profile)
    return Estimate(exact, exact, exact, formulas.alpha(profile), values, total)


def _mass(owners: Owners, attacker: str) -> tuple[int, int]:
    """What a value adds to the risk, times m: alpha_x, or its stronger sibling, as a fraction."""
    records, users, squares, largest = owners
    return {"uniform": (records, users), "proportional": (squares, records), "bayes": (largest, 1)}[attacker]


def _draw(values: int, size: int, subset: Subset, key: Source) -> Any:
    secret = Key.new() if key is None else Key.of(key)
    rng = generator(secret, "risk sample", "+".join(subset))
    return sorted(rng.choice(values, size, replace=False).tolist())
