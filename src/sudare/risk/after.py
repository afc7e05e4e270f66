"""The risk that is left after de-identification: the attacker knows true records and matches published ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sudare.data.dataset import Dataset
from sudare.data.published import Published, Truth
from sudare.engine.after import AfterCounts, after_counts
from sudare.engine.counts import counts_of
from sudare.engine.profile import Profile
from sudare.errors import UsageError
from sudare.risk import formulas
from sudare.risk.knowledge import Subset


def after_rows(
    ds: Dataset,
    sets: Sequence[Subset],
    release: Any,
    truth: Iterable[Any] | None,
    attacker: str,
    missing: str,
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """R' per set of attributes with the risk before beside it, and notes on columns whose values were changed.

    R' = (1/m) sum over the true records of [u in C(x)] / |C(x)|, where C(x) are the published people with a record
    consistent with x. An attribute that is not published helps nobody: every published person stays a candidate.
    """
    if attacker != "uniform" or missing != "value":
        raise UsageError(
            "release: the risk after is measured for the uniform attacker, missing values counted"
        )
    columns = list(dict.fromkeys(name for subset in sets for name in subset))
    with after_counts(ds, published_with_truth(release, truth, ds), columns) as counts:
        rows = [_row(counts, profile) for profile in counts_of(ds).profiles(sets)]
        changed = {name: counts.changed(name) for name in counts.seen}
    return rows, tuple(note_of(name, share) for name, share in changed.items() if share)


def note_of(name: str, changed: float) -> str:
    """What is said of a column whose values were changed otherwise than by recoding."""
    return (
        f"{name}: {changed:.0%} of the published records carry another value than the true one; this attacker "
        "matches equal values only, `sudare attack` looks for the nearest."
    )


def _row(counts: AfterCounts, profile: Profile) -> dict[str, Any]:
    from sudare.risk.measure import row_of

    subset = profile.attributes
    shown = [name for name in subset if name in counts.seen]
    return row_of(
        subset,
        records=profile.records,
        users=profile.users,
        values=profile.values,
        alpha=None,
        bounded=False,
        risk=counts.right_guesses(shown) / counts.records,
        attacker="uniform",
        model="after",
        risk_before=formulas.uniform_risk(profile),
    )


def published_with_truth(release: Any, truth: Truth | None, ds: Dataset) -> Published:
    """The release with its truth; its people are named by the original's user column if it does not say."""
    published = Published.of(release, truth)
    if not published.has_truth:
        raise UsageError(
            "release: to measure what is left, the truth is needed; give a Release, or truth= with a table"
        )
    user, data = ds.roles.user, published.data
    if not set(ds.columns) & set(data.columns):
        raise UsageError("release: it has no column of this table; give a release of the same table")
    if data.roles.user is None and user in data.columns and user not in data.roles.assigned:
        return replace(published, data=data.with_roles(user=user))
    return published
