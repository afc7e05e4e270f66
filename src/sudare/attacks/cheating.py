"""What a good score may hide: rows in original order, untouched rows with permuted identities, hits that
are ties.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.case import Finding
from sudare.engine.pair import Pair

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]


# swapping within small classes makes some rows equal to a neighbour's; cheating makes most of them so
CHEATING = 0.4
SAMPLE = 1000


class Untouched(NamedTuple):
    """Shares of the release rows: equal to some original row, and equal to one while the truth names an
    unequal one; and whether the copied rows are mostly alone with their values in the original.
    """

    identical: float
    contradicted: float
    alone: bool


def findings(pair: Pair, truth: Ints, scores: Mapping[str, Finding]) -> list[str]:
    """Sentences on what makes the scores look better or worse than the release is."""
    found = []
    if pair.release.shown is not None:
        found.append(
            "S-ORDER: the release's rows are in the order of the original; anyone can read the truth off it."
        )
    seen = untouched(pair, truth)
    if seen.contradicted >= CHEATING:
        found.append(
            f"S-CHEAT: {seen.contradicted:.0%} of the rows are copied from an original row but claim to be "
            "about another one (permuted identities): low rates here say nothing about the published values."
        )
    elif seen.identical >= 0.5:
        found.append(f"S-IDENTICAL: {seen.identical:.0%} of the rows are identical to a row of the original.")
    tied = [
        f"{name} {s.from_ties / s.rate:.0%}" for name, s in scores.items() if s.rate and _mostly_ties(name, s)
    ]
    if tied:
        found.append(
            f"S-TIES: part of the rate that comes from ties: {', '.join(tied)}; compare with ties='fail'."
        )
    return found


def _mostly_ties(name: str, scored: Finding) -> bool:
    """Whether ties make up half of a rate; identify-rand guesses among equals by definition."""
    return not name.startswith("identify-rand") and scored.from_ties > 0.5 * (scored.rate or 0.0)


def untouched(pair: Pair, truth: Ints) -> Untouched:
    """How many release rows are exact copies of original rows, and how many contradict the truth.

    A row whose quasi-identifiers were changed is recognised by its sensitive values, where these tell
    rows apart. Shares are those of a sample of 1,000 rows.
    """
    rows = np.sort(np.random.default_rng(0).permutation(pair.releases)[:SAMPLE])
    sensitive, quasi = pair.roles.sensitive, pair.roles.quasi
    whole = _copies(pair, truth, rows, (*sensitive, *quasi) or pair.roles.other)
    if len(sensitive) < 2 or not quasi:
        return whole
    part = _copies(pair, truth, rows, sensitive)
    return Untouched(
        whole.identical, max(whole.contradicted, part.contradicted if part.alone else 0.0), whole.alone
    )


def _copies(pair: Pair, truth: Ints, rows: Ints, columns: Sequence[str]) -> Untouched:
    """Compare a sample of release rows with the original rows that share all their single values."""
    from sudare.engine.codes import joint_codes
    from sudare.engine.kernels.groups import group_ids

    names = [c for c in columns if c in pair.release.columns]
    if not names or any(_is_list(pair.release.schema.field(c).type) for c in names):
        return Untouched(0.0, 0.0, False)
    original, release = pair.tables(names)
    shown = release.take(rows)
    kept = _sharing_values(original, shown)
    if not len(kept):
        return Untouched(0.0, 0.0, False)
    matrices, _ = joint_codes([original.take(kept), shown], names)
    (of_original, of_release), number = group_ids(matrices)
    size = np.bincount(of_original, minlength=number)
    group_of = np.full(len(original), -1, np.int64)
    group_of[kept] = of_original
    same = size[of_release] > 0
    other = same & (truth[rows] >= 0) & (of_release != group_of[truth[rows]])
    alone = bool(np.mean(size[of_release[same]] == 1) > 0.5) if same.any() else False
    return Untouched(float(same.mean()), float(other.mean()), alone)


def _sharing_values(original: pa.Table, shown: pa.Table) -> Ints:
    """The original rows each of whose values occurs in the sample: few, as soon as one column tells
    people apart.
    """
    import pyarrow.compute as pc

    kept = np.arange(original.num_rows)
    for name in original.column_names:
        if original[name].type != shown[name].type or not len(kept):
            continue
        column = original[name] if len(kept) == original.num_rows else original[name].take(kept)
        kept = kept[np.asarray(pc.is_in(column, value_set=shown[name].unique().sort()))]
    return kept


def _is_list(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_nested(kind))
