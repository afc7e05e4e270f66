"""The slow reference: every attack written down as the definition reads, on lists, in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import pyarrow as pa
import pytest

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles


def uniform(rows):
    return {row: Fraction(1, len(rows)) for row in rows}


def equal_quasi(original, release, quasi):
    return [[i for i, x in enumerate(original) if all(x[q] == b[q] for q in quasi)] for b in release]


def closest(original, b, rows, columns, scale):
    if not rows:
        return []
    distance = {i: sum(((b[c] - original[i][c]) * scale[c]) ** 2 for c in columns) for i in rows}
    least = min(distance.values())
    return [i for i in rows if distance[i] == least]


def nearest(original, release, quasi, columns, fallback, scale=None):
    scale = scale or dict.fromkeys(columns, 1)
    found = []
    for b, rows in zip(release, equal_quasi(original, release, quasi)):
        rows = rows or (list(range(len(original))) if fallback else [])
        found.append(uniform(closest(original, b, rows, columns, scale)))
    return found


def rand(original, release, quasi):
    return [uniform(rows) for rows in equal_quasi(original, release, quasi)]


def by_rank(original, release, columns):
    """Every order of rows with equal sums is as likely as any other, in both tables."""
    sums, others = ([sum(r[c] for c in columns) for r in table] for table in (original, release))
    found = []
    for mine in others:
        ranks = [sum(s < mine for s in others) + i for i in range(others.count(mine))]
        chance: dict[int, Fraction] = {}
        for rank in ranks:
            at_rank = [
                i
                for i, s in enumerate(sums)
                if sum(t < s for t in sums) <= rank < sum(t < s for t in sums) + sums.count(s)
            ]
            for i in at_rank:
                chance[i] = chance.get(i, Fraction(0)) + Fraction(1, len(ranks) * len(at_rank))
        found.append(chance)
    return found


def rate(found, truth, ties):
    hits = Fraction(0)
    for chance, true in zip(found, truth):
        if true is None or true not in chance:
            continue
        if ties == "expected":
            hits += chance[true]
        elif ties == "first":
            hits += min(chance) == true
        else:
            hits += chance[true] == 1
    return hits / len(truth)


@pytest.fixture(scope="session")
def slow():
    return SimpleNamespace(nearest=nearest, rand=rand, by_rank=by_rank, rate=rate)


@pytest.fixture(scope="session")
def table():
    """Make a dataset of rows (dictionaries): columns q* are quasi-identifiers, s* sensitive."""

    def make(rows, **roles):
        columns = list(rows[0])
        roles = roles or {
            "quasi": [c for c in columns if c.startswith("q")],
            "sensitive": [c for c in columns if c.startswith("s")],
        }
        return Dataset.from_arrow(pa.table({c: [row[c] for row in rows] for c in columns}), Roles.of(**roles))

    return make
