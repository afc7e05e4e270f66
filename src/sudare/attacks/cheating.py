"""What a good score may hide: rows in original order, untouched rows with permuted identities, hits that
are ties.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.hits import Score
from sudare.attacks.view import View

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]


# swapping within small classes makes some rows equal to a neighbour's; cheating makes most of them so
CHEATING = 0.4


class Untouched(NamedTuple):
    """Shares of the release rows: equal to some original row, and equal to one while the truth names an
    unequal one.
    """

    identical: float
    contradicted: float


def findings(view: View, truth: Ints, scores: Mapping[str, Score]) -> list[str]:
    """Sentences on what makes the scores look better or worse than the release is."""
    found = []
    if view.order is not None:
        found.append(
            "S-ORDER: the release's rows are in the order of the original; anyone can read the truth off it."
        )
    seen = untouched(view, truth)
    if seen.contradicted >= CHEATING:
        found.append(
            f"S-CHEAT: {seen.contradicted:.0%} of the rows are copied from an original row but claim to be "
            "about another one (permuted identities): low rates here say nothing about the published values."
        )
    elif seen.identical >= 0.5:
        found.append(f"S-IDENTICAL: {seen.identical:.0%} of the rows are identical to a row of the original.")
    tied = [f"{name} {s.from_ties / s.rate:.0%}" for name, s in scores.items() if _mostly_ties(name, s)]
    if tied:
        found.append(
            f"S-TIES: part of the rate that comes from ties: {', '.join(tied)}; compare with ties='fail'."
        )
    return found


def _mostly_ties(name: str, scored: Score) -> bool:
    """Whether ties make up half of a rate; identify-rand guesses among equals by definition."""
    return not name.startswith("identify-rand") and scored.from_ties > 0.5 * scored.rate


def untouched(view: View, truth: Ints) -> Untouched:
    """How many release rows are exact copies of original rows, and how many contradict the truth.

    A row whose quasi-identifiers were changed is recognised by its sensitive values, where these tell
    rows apart.
    """
    whole = _copies(view, truth, (*view.roles.quasi, *view.roles.sensitive) or view.roles.other)
    if len(view.roles.sensitive) < 2 or not view.roles.quasi:
        return whole
    sensitive = [c for c in view.roles.sensitive if c in view.release.columns]
    if not _tell_rows_apart(view, sensitive):
        return whole
    return Untouched(whole.identical, max(whole.contradicted, _copies(view, truth, sensitive).contradicted))


def _copies(view: View, truth: Ints, columns: Sequence[str]) -> Untouched:
    there = [c for c in columns if c in view.release.columns]
    if not there or any(_is_list(view.release.schema.field(c).type) for c in there):
        return Untouched(0.0, 0.0)
    blocks = view.blocks(there)
    present = np.zeros(blocks.number, np.bool_)
    present[blocks.original] = True
    same = present[blocks.release]
    other = same & (truth >= 0) & (blocks.release != blocks.original[truth])
    return Untouched(float(same.mean()), float(other.mean()))


def _tell_rows_apart(view: View, columns: Sequence[str]) -> bool:
    """Whether most original rows are alone with their values."""
    if not columns or any(_is_list(view.release.schema.field(c).type) for c in columns):
        return False
    sizes = np.bincount(view.blocks(columns).original)
    return bool((sizes == 1).sum() > 0.5 * view.originals)


def _is_list(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_nested(kind))
