"""What an attacker believes after seeing a set: l-diversity promises 1/l, prior knowledge gives more.

P2's Def. 2 counts values; it does not bound what somebody believes who knows how the values are distributed.
For a prior p the posterior of a value s in the set R is p_s / p(R).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudare.data.published import Published
from sudare.data.values.sets import SetSchema
from sudare.errors import UsageError
from sudare.estimate.groups import Slice, group
from sudare.estimate.measure import find_column, parts, table_of
from sudare.estimate.models import randomized, read_sets, scalar_codes
from sudare.parameters import checked
from sudare.results import Result

if TYPE_CHECKING:
    import altair
    import pyarrow as pa

    from sudare.data import Dataset
    from sudare.data.release import Release

Floats = NDArray[np.float64]
LEVELS = (0.5, 0.8, 0.9, 0.95)


@dataclass(frozen=True, repr=False)
class PosteriorResult(Result):
    """One row per attacker; `confidence` holds the attacker's best posterior for every record."""

    command: ClassVar[str] = "posterior"

    confidence: tuple[tuple[str, Floats], ...] = ()

    def chart(self) -> altair.Chart:
        """How sure each attacker is, as a histogram over the records."""
        from sudare.estimate.charts import posterior_chart

        return posterior_chart(self)


@checked
def posterior(
    release: Release | Dataset | Published,
    original: Dataset | None = None,
    *,
    given: str | Sequence[str] = (),
    column: str | None = None,
    truth: Sequence[int | None] | None = None,
) -> PosteriorResult:
    """Audit a release of RandomizedAddition: how well does the best guess do, beside the claimed 1/l?

    Attackers who know (a) nothing, (b) the overall distribution, (c) the distribution given the columns of
    `given` (bins as in `estimate`), the latter two estimated from the release itself; and one who intersects
    the sets of records with equal quasi-identifiers. `expected` is the mean of the attacker's best posterior;
    `success` the share of right guesses, known only with the original.

    >>> import sudare
    >>> patients = sudare.open("example:patients", identifier="name", quasi=["sex", "age"], sensitive="disease")
    >>> release = sudare.anonymize(patients, sudare.methods.RandomizedAddition(l=2), key=bytes(range(32)))
    >>> sudare.posterior(release, patients).rows[0]["attacker"]
    'nothing'
    """
    data, schema = parts(release)
    form, name, entry = find_column(schema, column)
    if form != "randomized":
        raise UsageError(f"'{name}' is published by {form}; the posterior audit reads randomized columns")
    slices = [Slice.parse(text, data.columns) for text in ([given] if isinstance(given, str) else given)]
    quasi = list(data.roles.quasi)
    table = table_of(data, [*quasi, *(s.column for s in slices), name])
    sets = read_sets(table[name], SetSchema.of(entry, name), name)
    true = _truth(release, original, truth, name, entry)
    return _audit(table, sets, true, slices, quasi, name, entry)


def best_guess(
    sets: NDArray[np.integer], shares: Floats, groups: NDArray[np.int64], true: NDArray[np.int64] | None
) -> tuple[Floats, Floats | None]:
    """Per record the largest posterior p_s / p(R), and the chance that this guess is right (ties split it).

    >>> sets, shares = np.array([[0, 1], [1, 2]]), np.array([[0.5, 0.3, 0.2]])
    >>> sure, right = best_guess(sets, shares, np.array([0, 0]), np.array([0, 2]))
    >>> sure.round(3).tolist(), right.tolist()
    ([0.625, 0.6], [1.0, 0.0])
    """
    weights = shares[groups[:, None], sets]
    weights = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, 1.0)
    sure = weights.max(axis=1) / weights.sum(axis=1)
    if true is None:
        return sure, None
    top = weights == weights.max(axis=1, keepdims=True)
    hit = (top & (sets == true[:, None])).any(axis=1)
    return sure, hit / top.sum(axis=1)


def disclosed_after(size: int, l: int, releases: int) -> float:
    """The share of records whose sets from several fresh draws have only the true value in common.

    The l-1 false values of r draws have nothing in common with probability
    sum over k of (-1)^k C(m, k) [C(m-k, l-1-k) / C(m, l-1)]^r, m = size-1 (inclusion and exclusion).

    >>> round(disclosed_after(50, 10, 3), 2), round(disclosed_after(50, 10, 5), 2)
    (0.73, 0.99)
    """
    false, total = size - 1, math.comb(size - 1, l - 1)
    terms = (
        Fraction(
            (-1) ** k * math.comb(false, k) * math.comb(false - k, l - 1 - k) ** releases, total**releases
        )
        for k in range(l)
    )
    return float(sum(terms))


def closeness_l(shares: NDArray[np.floating], t: float) -> int | None:
    """The smallest l whose posteriors are all within t (total variation) of the prior, None if no l is.

    The posterior of a set R is 1 - p(R) away from the prior, so the l rarest values must hold 1 - t.

    >>> closeness_l(np.array([0.4, 0.3, 0.2, 0.1]), 0.5), closeness_l(np.array([0.25] * 4), 0.5)
    (3, 2)
    """
    held = np.cumsum(np.sort(shares))
    enough = np.flatnonzero(held >= 1 - t - 1e-12)
    return int(enough[0]) + 1 if len(enough) else None


def common_values(sets: NDArray[np.integer], classes: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
    """For every class, which values all its sets have in common: classes x size.

    >>> common_values(np.array([[0, 1], [1, 2], [0, 2]]), np.array([0, 0, 1]), 3).astype(int).tolist()
    [[0, 1, 0], [1, 0, 1]]
    """
    from sudare.engine.kernels.estimate import count_members

    n = int(classes.max(initial=-1)) + 1
    members = count_members(sets, classes, n, size)
    return np.asarray(members == np.bincount(classes, minlength=n)[:, None])


def _audit(
    table: pa.Table,
    sets: NDArray[np.integer],
    true: NDArray[np.int64] | None,
    slices: Sequence[Slice],
    quasi: list[str],
    name: str,
    entry: Mapping[str, Any],
) -> PosteriorResult:
    size, one = len(entry["domain"]), np.zeros(len(sets), np.int64)
    overall = randomized(table, [], name, entry, 1.0).counts
    known = {"nothing": (np.ones((1, size)), one), "overall distribution": (overall, one)}
    if slices:
        found = randomized(table, slices, name, entry, 1.0)
        known["given " + ", ".join(s.column for s in slices)] = (found.counts, found.groups.of_row)
    rows, confidence = [], []
    for attacker, (shares, groups) in known.items():
        sure, right = best_guess(sets, shares, groups, true)
        rows.append(_row(attacker, int(entry["l"]), sure, right))
        confidence.append((attacker, sure))
    rows.append(_intersection(table, sets, true, quasi, int(entry["l"]), size))
    return PosteriorResult(tuple(rows), _notes(overall[0], size, int(entry["l"])), tuple(confidence))


def _row(attacker: str, l: int, sure: Floats, right: Floats | None) -> dict[str, Any]:
    return {
        "attacker": attacker,
        "claimed": 1 / l,
        "expected": float(sure.mean()),
        "success": None if right is None else float(right.mean()),
        **{f"above_{level:g}": float((sure > level).mean()) for level in LEVELS},
    }


def _intersection(
    table: pa.Table,
    sets: NDArray[np.integer],
    true: NDArray[np.int64] | None,
    quasi: list[str],
    l: int,
    size: int,
) -> dict[str, Any]:
    """The attacker who believes that records with equal quasi-identifiers share their value."""
    of_row = group(table, [Slice(c) for c in quasi]).of_row
    common = common_values(sets, of_row, size)
    found = common[of_row]
    guesses = found.sum(axis=1)
    sure = np.where(guesses > 0, 1 / np.maximum(guesses, 1), 0.0)
    right = None if true is None else np.where(found[np.arange(len(sets)), true], sure, 0.0)
    return _row("equal quasi-identifiers, equal value", l, sure, right)


def _truth(
    release: Any,
    original: Dataset | None,
    truth: Sequence[int | None] | None,
    name: str,
    entry: Mapping[str, Any],
) -> NDArray[np.int64] | None:
    if original is None:
        return None
    published = Published.of(release, truth, verb="posterior")
    rows = published.rows_among(original.rows)
    if rows is None or (rows < 0).any():
        raise UsageError(
            "posterior: the truth must name an original row for every published row; give truth="
        )
    codes = scalar_codes(original.to_pyarrow([name])[name], entry["domain"], name)
    return codes[rows]


def _notes(counts: Floats, size: int, l: int) -> tuple[str, ...]:
    shares = counts / counts.sum()
    close = [f"t = {t:g}: {closeness_l(shares, t) or '-'}" for t in (0.2, 0.5, 0.8)]
    again = [f"{r} releases {disclosed_after(size, l, r):.0%}" for r in (2, 3, 5)]
    return (
        "published again with fresh draws, only the true value would be left for: " + ", ".join(again),
        "smallest l that keeps every posterior within t of the prior: " + ", ".join(close),
    )
