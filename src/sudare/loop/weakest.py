"""The people least hidden: who stands alone by what, told by row numbers, for internal reports only."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.errors import UsageError

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset

Ints = NDArray[np.int64]
MOST_ROWS = 2_000_000
MOST_COLUMNS = 6


def weakest(ds: Dataset, truth: Ints | None = None, *, people: int = 10) -> tuple[dict[str, Any], ...]:
    """The people with the largest share of records that nobody else shares, by one attribute or a pair.

    `truth` gives the row of the original for every row; dummies are nobody. What points to a person is
    counted in full for one attribute and half for a pair, which fewer attackers know.
    """
    from sudare.engine.codes import codes

    columns = _plain_columns(ds)
    if ds.rows > MOST_ROWS:
        raise UsageError(
            f"{ds.rows:,} records are more than the {MOST_ROWS:,} that are looked through one by one"
        )
    if not columns:
        return ()
    wanted = [*columns, *([ds.roles.user] if ds.roles.user else [])]
    matrix, _ = codes(ds.to_pyarrow(wanted), wanted)
    owner = matrix[:, -1].astype(np.int64) if ds.roles.user else np.arange(ds.rows)
    rows = np.arange(ds.rows) if truth is None else truth
    sets = [*((i,) for i in range(len(columns))), *combinations(range(len(columns)), 2)]
    alone = np.stack([_alone(matrix[:, list(chosen)], owner) for chosen in sets])
    alone[:, rows < 0] = False
    return tuple(_people(owner, rows, alone, [tuple(columns[i] for i in s) for s in sets], people))


def _plain_columns(ds: Dataset) -> list[str]:
    """Quasi-identifiers that have plain values, at most a handful."""
    import pyarrow as pa

    return [c for c in ds.roles.quasi if not pa.types.is_nested(ds.schema.field(c).type)][:MOST_COLUMNS]


def _alone(codes: NDArray[np.int32], owner: Ints) -> NDArray[np.bool_]:
    """Which rows have a value that only one person has."""
    from sudare.engine.codes import classes

    of_row, sizes = classes(np.ascontiguousarray(codes))
    order = np.lexsort((owner, of_row))
    first = np.ones(len(order), np.bool_)
    first[1:] = (of_row[order][1:] != of_row[order][:-1]) | (owner[order][1:] != owner[order][:-1])
    owners = np.bincount(of_row[order][first], minlength=len(sizes))
    return np.asarray(owners[of_row] == 1)


def _people(
    owner: Ints, rows: Ints, alone: NDArray[np.bool_], sets: Sequence[tuple[str, ...]], people: int
) -> list[dict[str, Any]]:
    real = rows >= 0
    users = int(owner.max(initial=0)) + 1
    records = np.bincount(owner[real], minlength=users)
    by_set = np.stack([np.bincount(owner[row], minlength=users) for row in alone])
    weight = np.array([1.0 / len(s) for s in sets])
    score = (by_set * weight[:, None]).sum(axis=0) / np.maximum(records, 1)
    exposed = np.bincount(owner[alone.any(axis=0)], minlength=users)
    first = np.full(users, np.iinfo(np.int64).max)
    np.minimum.at(first, owner[real], rows[real])
    chosen = [u for u in np.lexsort((first, -score))[:people] if score[u] > 0]
    return [_person(u, records, exposed, by_set, sets, first) for u in chosen]


def _person(
    user: int,
    records: Ints,
    exposed: NDArray[np.intp],
    by_set: NDArray[np.intp],
    sets: Sequence[tuple[str, ...]],
    first: Ints,
) -> dict[str, Any]:
    order = sorted(range(len(sets)), key=lambda s: (-by_set[s, user] / len(sets[s]), len(sets[s])))
    worst = [sets[s] for s in order[:3] if by_set[s, user] > 0]
    return {
        "row": int(first[user]) + 1,
        "records": int(records[user]),
        "alone": int(exposed[user]),
        "by": "; ".join(" + ".join(s) for s in worst),
        "fix": _fix(worst[0], int(by_set[order[0], user]), int(records[user])),
    }


def _fix(attributes: tuple[str, ...], alone: int, records: int) -> str:
    what = " or ".join(f"'{name}'" for name in attributes)
    if alone * 2 > records:
        return f"coarsen {what}, or leave this person out"
    return f"suppress {what} in {alone:,} record{'s' if alone > 1 else ''}, or coarsen it"
